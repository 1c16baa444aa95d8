#include "tier/units.hpp"

#include <pmemcpy/error.hpp>

#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <optional>
#include <span>

namespace pmemcpy::tier {
namespace {

struct Unit {
    std::string_view name;
    double value;
    double parts =
        1;  // of the value: 80 us is 80 / 1e6 s, which is the nearest number there is, and 80 * 1e-6 is not
};

// The largest first, and of each size the one that is written.
constexpr std::array bytes_units = {
    Unit{"TiB", 0x1p40}, Unit{"GiB", 0x1p30}, Unit{"MiB", 0x1p20}, Unit{"KiB", 0x1p10},
    Unit{"PiB", 0x1p50}, Unit{"TB", 1e12},    Unit{"GB", 1e9},     Unit{"MB", 1e6},
    Unit{"kB", 1e3},     Unit{"KB", 1e3},     Unit{"PB", 1e15},    Unit{"B", 1},
};
constexpr std::array bandwidth_units = {
    Unit{"TB/s", 1e12},    Unit{"GB/s", 1e9},     Unit{"MB/s", 1e6},     Unit{"kB/s", 1e3},
    Unit{"KB/s", 1e3},     Unit{"TiB/s", 0x1p40}, Unit{"GiB/s", 0x1p30}, Unit{"MiB/s", 0x1p20},
    Unit{"KiB/s", 0x1p10}, Unit{"B/s", 1},
};
constexpr std::array second_units = {
    Unit{"s", 1}, Unit{"ms", 1, 1e3}, Unit{"us", 1, 1e6}, Unit{"\u00b5s", 1, 1e6}, Unit{"ns", 1, 1e9},
};

std::optional<double> read_number(std::string_view& text) {
    double number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || !std::isfinite(number)) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
    return number;
}

// A number without a unit is in the smallest: bytes, bytes a second, seconds.
double parse(std::string_view text, std::span<const Unit> units, const char* what) {
    std::string_view rest = text;
    const auto number = read_number(rest);
    if (!number) throw Error(Code::invalid_argument, "'" + std::string(text) + "' is no " + what);
    if (*number < 0)
        throw Error(Code::invalid_argument,
                    "'" + std::string(text) + "' is negative, which a " + what + " cannot be");
    if (rest.empty()) return *number;
    std::string known;
    for (const Unit& unit : units) {
        if (unit.name == rest) return *number * unit.value / unit.parts;
        known += (known.empty() ? "" : " ") + std::string(unit.name);
    }
    throw Error(Code::invalid_argument, "'" + std::string(text) + "' has the unit '" + std::string(rest) +
                                            "'; a " + what + " has one of " + known);
}

// With the unit that makes it shortest, if it is read back as the same number.
template <class Parse>
std::string write(double value, std::span<const Unit> units, const Parse& parse_again) {
    std::string best = number_text(value);
    if (value == 0) return best;
    for (const Unit& unit : units) {
        std::string text = number_text(value * unit.parts / unit.value) + " " + std::string(unit.name);
        if (text.find('e') != std::string::npos || parse_again(text) != value) continue;
        const bool is_better = text.size() < best.size() || best.find('e') != std::string::npos ||
                               (text.size() == best.size() && text.front() != '0');
        if (is_better) best = std::move(text);
    }
    return best;
}

}  // namespace

std::uint64_t parse_bytes(std::string_view text) {
    // Whole numbers have more digits than a double.
    std::uint64_t whole = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), whole);
    if (error == std::errc{} && end == text.data() + text.size()) return whole;
    const double bytes = parse(text, bytes_units, "size");
    if (bytes >= 0x1p63)
        throw Error(Code::invalid_argument, "'" + std::string(text) + "' is more than any device has");
    return static_cast<std::uint64_t>(bytes);
}

double parse_bandwidth(std::string_view text) { return parse(text, bandwidth_units, "bandwidth"); }
double parse_seconds(std::string_view text) { return parse(text, second_units, "latency"); }

std::uint64_t parse_time(std::string_view text) {
    using namespace std::chrono;
    int year = 0;
    unsigned month = 0, day = 0, hour = 0, minute = 0, second = 0;
    int length = 0;
    const std::string whole(text);
    const int read = std::sscanf(whole.c_str(), "%4d-%2u-%2uT%2u:%2u:%2uZ%n", &year, &month, &day, &hour,
                                 &minute, &second, &length);
    const year_month_day date{std::chrono::year(year), std::chrono::month(month), std::chrono::day(day)};
    const bool is_time = read == 6 && static_cast<std::size_t>(length) == text.size() && date.ok() &&
                         year >= 1970 && hour < 24 && minute < 60 && second < 60;
    if (!is_time)
        throw Error(Code::invalid_argument, "'" + whole + "' is no time; write 2026-11-24T21:40:12Z");
    const auto time = sys_days(date) + hours(hour) + minutes(minute) + seconds(second);
    return static_cast<std::uint64_t>(time.time_since_epoch() / seconds(1));
}

std::string time_text(std::uint64_t seconds_since_1970) {
    using namespace std::chrono;
    const sys_seconds time{seconds(seconds_since_1970)};
    const auto midnight = floor<days>(time);
    const year_month_day date(midnight);
    const hh_mm_ss clock(time - midnight);
    std::array<char, 40> text{};
    std::snprintf(text.data(), text.size(), "%04d-%02u-%02uT%02d:%02d:%02dZ", static_cast<int>(date.year()),
                  static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                  static_cast<int>(clock.hours().count()), static_cast<int>(clock.minutes().count()),
                  static_cast<int>(clock.seconds().count()));
    return text.data();
}

std::string bytes_text(std::uint64_t bytes) {
    std::string best = std::to_string(bytes);
    if (bytes == 0) return best;
    for (const Unit& unit : bytes_units) {
        const auto size = static_cast<std::uint64_t>(unit.value);
        if (size == 1 || bytes % size != 0) continue;
        std::string text = std::to_string(bytes / size) + " " + std::string(unit.name);
        if (text.size() < best.size()) best = std::move(text);
    }
    return best;
}

std::string bandwidth_text(double bytes_per_second) {
    return write(bytes_per_second, bandwidth_units, parse_bandwidth);
}
std::string seconds_text(double seconds) { return write(seconds, second_units, parse_seconds); }

std::string number_text(double number) {
    std::array<char, 40> text{};
    const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), number);
    return {text.data(), error == std::errc{} ? end : text.data()};
}

}  // namespace pmemcpy::tier
