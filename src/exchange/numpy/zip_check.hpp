#pragma once

#include <zip.h>

#include <memory>
#include <pmemcpy/error.hpp>
#include <string>

namespace pmemcpy::exchange {

/// An archive that is open; what was to be written of it is forgotten unless zip_close comes first.
struct ZipDiscard {
    void operator()(zip_t* archive) const noexcept { zip_discard(archive); }
};
using ZipArchive = std::unique_ptr<zip_t, ZipDiscard>;

/// libzip's error for a code of it.
class ZipError {
public:
    explicit ZipError(int code) { zip_error_init_with_code(&error_, code); }
    ~ZipError() { zip_error_fini(&error_); }
    ZipError(const ZipError&) = delete;
    ZipError& operator=(const ZipError&) = delete;
    zip_error_t* get() { return &error_; }

private:
    zip_error_t error_{};
};

/// Throws the Error for one of libzip's: what the kernel says, unsupported for a compression that it lacks, else `otherwise`.
[[noreturn]] void fail_zip(const std::string& what, zip_error_t error, Code otherwise);

}  // namespace pmemcpy::exchange
