#include "cli/terminal/duration.hpp"

#include <fmt/core.h>

#include <charconv>
#include <cmath>
#include <pmemcpy/error.hpp>

namespace pmemcpy::cli {

namespace {

constexpr double longest_s = 1e9;
constexpr std::chrono::milliseconds shortest_interval(10);

/// How many seconds a unit stands for, 0 for what is no unit.
double factor_of(std::string_view unit) {
    if (unit.empty() || unit == "s") return 1;
    if (unit == "ms") return 1e-3;
    if (unit == "min") return 60;
    if (unit == "h") return 3600;
    return 0;
}

}  // namespace

std::chrono::nanoseconds parse_duration(std::string_view text) {
    double number = 0;
    const auto [end, problem] =
        std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
    const std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
    const double seconds = number * factor_of(unit);
    if (problem != std::errc{} || factor_of(unit) == 0 || !(seconds >= 0 && seconds <= longest_s)) {
        throw Error(
            Code::invalid_argument,
            fmt::format("'{}' is no length of time; write for example 2, 0.5s, 500ms, 5min or 1h", text));
    }
    return std::chrono::nanoseconds(std::llround(seconds * 1e9));
}

std::chrono::nanoseconds parse_interval(std::string_view text) {
    const auto interval = parse_duration(text);
    if (interval < shortest_interval) {
        throw Error(Code::invalid_argument,
                    fmt::format("an interval of {} is too short; the shortest is 10ms", text));
    }
    return interval;
}

}  // namespace pmemcpy::cli
