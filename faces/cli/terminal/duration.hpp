#pragma once

#include <chrono>
#include <string_view>

namespace pmemcpy::cli {

/// "2", "0.5s", "500ms", "5min", "1h"; without a unit, seconds. Errors: invalid_argument
std::chrono::nanoseconds parse_duration(std::string_view text);

/// The same for how often to look at something: at least a hundredth of a second.
std::chrono::nanoseconds parse_interval(std::string_view text);

}  // namespace pmemcpy::cli
