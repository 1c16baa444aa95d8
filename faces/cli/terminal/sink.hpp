#pragma once

#include <cstdio>
#include <pmemcpy/error.hpp>
#include <span>
#include <string>
#include <string_view>

namespace pmemcpy::cli {

/// What the command prints on stdout is complete when this returns. Errors: see output_error().
void finish_output();

/// The error of an output that could not be written: no_space where there is none for it, else what `error` (errno) says.
Error output_error(int error, const std::string& path = {});

/// Where output goes: a file of one's own, or stdout. Every failure to write is an error.
class Sink {
public:
    /// `path` "" or "-": stdout. A regular file for private content is closed to all but its owner, and a line on stderr says so.
    /// Errors: what opening a file for writing can meet.
    explicit Sink(const std::string& path, bool is_private = false);
    ~Sink();
    Sink(const Sink&) = delete;
    Sink& operator=(const Sink&) = delete;

    bool is_file() const noexcept { return !path_.empty(); }
    void write(std::string_view text);
    void write(std::span<const std::byte> bytes);
    /// Everything is with the kernel when this returns.
    void finish();

private:
    [[noreturn]] void fail() const;
    bool close_to_others() const;
    std::string path_;
    std::FILE* file_;
};

}  // namespace pmemcpy::cli
