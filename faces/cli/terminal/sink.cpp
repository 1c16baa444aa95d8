#include "cli/terminal/sink.hpp"

#include <fmt/core.h>

#include <cerrno>
#include <pmemcpy/error.hpp>
#include <system_error>

namespace pmemcpy::cli {

namespace {

Code code_of(int error) {
    switch (error) {
        case ENOSPC:
        case EDQUOT:
            return Code::no_space;
        case EACCES:
        case EPERM:
        case EROFS:
            return Code::permission_denied;
        case ENOENT:
        case ENOTDIR:
            return Code::not_found;
        default:
            return Code::io_error;
    }
}

}  // namespace

Sink::Sink(const std::string& path) : path_(path == "-" ? "" : path), file_(stdout) {
    if (path_.empty()) return;
    file_ = std::fopen(path_.c_str(), "wb");
    if (file_ == nullptr) fail();
}

Sink::~Sink() {
    if (file_ != nullptr && file_ != stdout) std::fclose(file_);
}

void Sink::write(std::string_view text) { write(std::as_bytes(std::span(text.data(), text.size()))); }

void Sink::write(std::span<const std::byte> bytes) {
    if (std::fwrite(bytes.data(), 1, bytes.size(), file_) != bytes.size()) fail();
}

void Sink::finish() {
    if (std::fflush(file_) != 0) fail();
}

void Sink::fail() const {
    const int error = errno;
    throw Error(code_of(error), fmt::format("cannot write {}: {}", path_.empty() ? "the output" : path_,
                                            std::generic_category().message(error)));
}

}  // namespace pmemcpy::cli
