#include "cli/terminal/size.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <ctime>
#include <pmemcpy/error.hpp>

namespace pmemcpy::cli {

namespace {

[[noreturn]] void refuse(std::string_view text) {
    throw Error(Code::invalid_argument,
                fmt::format("'{}' is no size; write for example 4096, 64KiB, 1.5GiB or 2TB", text));
}

/// How many bytes a unit stands for, 0 for what is no unit.
double factor_of(std::string unit) {
    std::transform(unit.begin(), unit.end(), unit.begin(), [](unsigned char c) { return std::tolower(c); });
    if (unit.empty() || unit == "b") return 1;
    constexpr std::string_view letters = "kmgtp";
    const std::size_t power = letters.find(unit[0]);
    if (power == std::string_view::npos) return 0;
    const std::string rest = unit.substr(1);
    if (rest.empty() || rest == "i" || rest == "ib") return std::pow(1024.0, static_cast<double>(power + 1));
    if (rest == "b") return std::pow(1000.0, static_cast<double>(power + 1));
    return 0;
}

}  // namespace

std::uint64_t parse_size(std::string_view text) {
    double number = 0;
    const auto [end, problem] =
        std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
    if (problem != std::errc{} || !std::isfinite(number) || number < 0) refuse(text);
    std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
    while (!unit.empty() && unit.front() == ' ') unit.remove_prefix(1);
    const double factor = factor_of(std::string(unit));
    if (factor == 0 || number * factor >= 0x1p63) refuse(text);
    if (factor == 1) {  // a plain number of bytes is exact, however large
        std::uint64_t bytes = 0;
        const auto whole = std::from_chars(text.data(), end, bytes);
        if (whole.ec != std::errc{} || whole.ptr != end) refuse(text);
        return bytes;
    }
    return static_cast<std::uint64_t>(std::llround(number * factor));
}

std::string human_size(std::uint64_t bytes) {
    if (bytes < 1024) return fmt::format("{} B", bytes);
    constexpr std::array units = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double value = static_cast<double>(bytes) / 1024;
    std::size_t unit = 0;
    while (value >= 999.5 && unit + 1 < units.size()) {
        value /= 1024;
        ++unit;
    }
    const int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
    return fmt::format("{:.{}f} {}", value, decimals, units[unit]);
}

std::string counted(std::uint64_t count, std::string_view what) {
    return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string human_time(std::uint64_t ns_since_1970) {
    if (ns_since_1970 == 0) return "-";
    const auto seconds = static_cast<std::time_t>(ns_since_1970 / 1'000'000'000);
    std::tm local{};
    std::array<char, 32> text{};
    if (localtime_r(&seconds, &local) == nullptr) return "-";
    std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S", &local);
    return text.data();
}

}  // namespace pmemcpy::cli
