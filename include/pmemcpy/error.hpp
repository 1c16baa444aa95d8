#pragma once

#include <memory>
#include <string>
#include <system_error>

namespace pmemcpy {

/// The kinds of error, a closed set: Python maps them one to one, and so can other languages.
enum class Code {
    not_found = 1,      ///< no such id, step, attribute or element
    already_exists,     ///< the id belongs to something of another type or shape
    invalid_argument,   ///< the call itself makes no sense
    out_of_range,       ///< the box or index lies outside the array
    type_mismatch,      ///< stored as one type, requested as another
    no_space,           ///< the pool, its file system or its memory cgroup is full
    corrupt,            ///< bytes on the medium do not say what they must
    io_error,           ///< the kernel or the device failed
    busy,               ///< another use of the pool forbids this now
    unsupported,        ///< this build, medium or file system cannot do it
    permission_denied,  ///< the operating system or the pool's mode forbids it
};

/// The category of `Code`, so that codes travel in a `std::error_code`.
const std::error_category& error_category() noexcept;

inline std::error_code make_error_code(Code code) noexcept {
    return {static_cast<int>(code), error_category()};
}

/// The one exception of the library. `what()` says what was asked, what was found and what to do.
class Error : public std::system_error {
public:
    Error(Code code, const std::string& message);

    /// The message, without the name of the code that std::system_error appends.
    const char* what() const noexcept override { return message_->c_str(); }
    Code kind() const noexcept { return static_cast<Code>(code().value()); }

private:
    std::shared_ptr<const std::string> message_;  // shared, so that copying an exception cannot throw
};

/// The name of a code as it is written in the documentation, for example `"no_space"`.
const char* name_of(Code code) noexcept;

}  // namespace pmemcpy

template <>
struct std::is_error_code_enum<pmemcpy::Code> : std::true_type {};
