#pragma once

#include <string>

#include <pmemcpy/error.hpp>

namespace pmemcpy::os {

/// The code that a failed call's errno stands for, for example ENOSPC and EDQUOT for `no_space`.
Code code_of_errno(int error) noexcept;

/// Throws the Error of a failed call: what was tried, on which path, what the kernel said.
[[noreturn]] void throw_failure(const char* what, const std::string& path, int error);

}  // namespace pmemcpy::os
