#pragma once

#include <string>

namespace pmemcpy::exchange {

/// Throws the Error for an errno: no_space, permission_denied, not_found, else io_error.
[[noreturn]] void fail_kernel(const std::string& what, int error);

}  // namespace pmemcpy::exchange
