#pragma once

#include "os/file.hpp"

#include <functional>
#include <pmemcpy/operations.hpp>
#include <string>
#include <string_view>

namespace pmemcpy::operate {

/// What was under way is not wanted any more.
struct Stopped {};

using IsWanted = std::function<bool()>;

/// Calls a function in a process of its own, which has the array only as a copy.
/// Errors: unsupported (elements that the C interface does not know; a machine on which nothing may be run from memory);
///     invalid_argument (what the function says); io_error (it crashed, or took too long); corrupt (it does not keep to the
///     interface); Stopped.
OperationArray call_library(const std::string& name, const os::File& library, const OperationArray& input,
                            const OperationLimits& limits, const IsWanted& is_wanted);

/// Errors: invalid_argument for what is no library with such a function.
void check_library(const std::string& name, const os::File& library);

/// <pmemcpy/operation.h>, for who compiles one.
std::string_view operation_header();

}  // namespace pmemcpy::operate
