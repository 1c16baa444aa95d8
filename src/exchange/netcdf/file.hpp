#pragma once

#include <netcdf.h>

#include <pmemcpy/error.hpp>
#include <string>
#include <utility>

namespace pmemcpy::exchange {

/// A NetCDF file that is open; closed without a word when an error is on its way.
class NetcdfFile {
public:
    explicit NetcdfFile(int id) : id_(id) {}
    ~NetcdfFile() {
        if (id_ >= 0) nc_close(id_);
    }
    NetcdfFile(const NetcdfFile&) = delete;
    NetcdfFile& operator=(const NetcdfFile&) = delete;
    operator int() const { return id_; }
    /// Returns NetCDF's status.
    int close() { return nc_close(std::exchange(id_, -1)); }

private:
    int id_;
};

/// What is read or written: what errors begin with, and of which kind they are.
class NetcdfCheck {
public:
    NetcdfCheck(Code code, std::string what) : code_(code), what_(std::move(what)) {}
    /// Errors: when NetCDF has returned anything but NC_NOERR; a missing filter is unsupported.
    void operator()(int status) const {
        if (status == NC_NOERR) return;
        const Code code = status == NC_EFILTER || status == NC_ENOFILTER ? Code::unsupported
                          : status == NC_ENOMEM                          ? Code::no_space
                          : status > 0                                   ? Code::io_error
                                                                         : code_;
        throw Error(code, what_ + ": NetCDF says: " + nc_strerror(status));
    }

private:
    Code code_;
    std::string what_;
};

}  // namespace pmemcpy::exchange
