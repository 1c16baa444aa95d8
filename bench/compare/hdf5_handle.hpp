#pragma once

// HDF5's handles and errors, for the programs that measure it.

#include <hdf5.h>

#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace hdf5 {

inline herr_t append_description(unsigned /*depth*/, const H5E_error2_t* error, void* text) {
    auto& message = *static_cast<std::string*>(text);
    if (error->desc != nullptr) message += std::string(message.empty() ? "" : ": ") + error->desc;
    return 0;
}

/// Errors: std::runtime_error with what HDF5 says
template <class Result>
Result checked(Result result, std::string_view what) {
    if (result >= 0) return result;
    std::string message;
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_DOWNWARD, append_description, &message);
    throw std::runtime_error(std::string(what) + ": " + message);
}

/// Something of HDF5's that wants to be closed.
class Handle {
public:
    Handle() = default;
    Handle(hid_t id, herr_t (*closing)(hid_t)) : id_(id), closing_(closing) {}
    Handle(hid_t id, herr_t (*closing)(hid_t), std::string_view what) : Handle(checked(id, what), closing) {}
    Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), closing_(other.closing_) {}
    Handle& operator=(Handle&& other) noexcept {
        std::swap(id_, other.id_);
        std::swap(closing_, other.closing_);
        return *this;
    }
    ~Handle() {
        if (id_ >= 0) closing_(id_);
    }
    hid_t id() const { return id_; }
    void close(std::string_view what) {
        if (id_ >= 0) checked(closing_(std::exchange(id_, -1)), what);
    }

private:
    hid_t id_ = -1;
    herr_t (*closing_)(hid_t) = nullptr;
};

}  // namespace hdf5
