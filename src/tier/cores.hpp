#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace pmemcpy::tier {

/// Processors as the kernel and taskset(1) list them: "0-3,8". In rising order, each once.
/// Errors: invalid_argument.
std::vector<unsigned> parse_cores(std::string_view text);
std::string cores_text(const std::vector<unsigned>& cores);

}  // namespace pmemcpy::tier
