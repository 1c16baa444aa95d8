#pragma once

#include <hdf5.h>

#include <pmemcpy/error.hpp>
#include <string>
#include <utility>

namespace pmemcpy::exchange {

/// An id of HDF5's with what closes it.
class Handle {
public:
    using Close = herr_t (*)(hid_t);

    Handle() = default;
    Handle(hid_t id, Close close) : id_(id), close_(close) {}
    Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
    Handle& operator=(Handle&& other) noexcept {
        std::swap(id_, other.id_);
        std::swap(close_, other.close_);
        return *this;
    }
    ~Handle() {
        if (id_ >= 0) close_(id_);
    }
    operator hid_t() const { return id_; }

private:
    hid_t id_ = -1;
    Close close_ = nullptr;
};

/// While one lives, HDF5 prints nothing by itself: what goes wrong becomes an Error.
class QuietHdf5 {
public:
    QuietHdf5() {
        H5Eget_auto2(H5E_DEFAULT, &print_, &data_);
        H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
    }
    ~QuietHdf5() { H5Eset_auto2(H5E_DEFAULT, print_, data_); }
    QuietHdf5(const QuietHdf5&) = delete;
    QuietHdf5& operator=(const QuietHdf5&) = delete;

private:
    H5E_auto2_t print_ = nullptr;
    void* data_ = nullptr;
};

/// Throws an Error of HDF5's own words for what it met first.
[[noreturn]] void fail_hdf5(Code code, const std::string& what);

/// Who reads or writes which object: what its errors begin with, and of which kind they are.
class Hdf5Check {
public:
    Hdf5Check(Code code, std::string what) : code_(code), what_(std::move(what)) {}
    /// Errors: when HDF5 has returned a negative number.
    template <class Result>
    Result operator()(Result result) const {
        if (result < 0) fail_hdf5(code_, what_);
        return result;
    }
    Handle operator()(hid_t id, Handle::Close close) const { return {operator()(id), close}; }
    const std::string& what() const { return what_; }

private:
    Code code_;
    std::string what_;
};

}  // namespace pmemcpy::exchange
