#include "cli/element/datetime.hpp"

#include <fmt/core.h>

#include <array>
#include <chrono>

#include "cli/element/floor_divide.hpp"

namespace pmemcpy::cli {

namespace {

constexpr std::array unit_names = {
    "years",        "months",       "weeks",       "days",        "hours",        "minutes",    "seconds",
    "milliseconds", "microseconds", "nanoseconds", "picoseconds", "femtoseconds", "attoseconds"};

std::string date(std::int64_t days, bool& is_printable) {
    constexpr std::int64_t most = 2'900'000;  // days to the year 9910; ISO 8601 has four digits for a year
    is_printable = days > -700'000 && days < most;
    if (!is_printable) return {};
    const std::chrono::year_month_day day{std::chrono::sys_days{std::chrono::days{days}}};
    return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(day.year()), static_cast<unsigned>(day.month()),
                       static_cast<unsigned>(day.day()));
}

/// Ticks of which `per_day` make a day, printed to the unit that `digits` after the second tell; -2: hours,
/// -1: minutes.
std::string clock_text(std::int64_t seconds, std::int64_t fraction, int digits, bool& is_printable) {
    const auto [days, second] = floor_divide(seconds, 86'400);
    std::string text = date(days, is_printable);
    if (!is_printable) return text;
    text += fmt::format("T{:02}", second / 3600);
    if (digits >= -1) text += fmt::format(":{:02}", second / 60 % 60);
    if (digits >= 0) text += fmt::format(":{:02}", second % 60);
    if (digits > 0) text += fmt::format(".{:0{}}", fraction, digits);
    return text;
}

std::string calendar_text(std::int64_t ticks, TimeUnit unit, bool& is_printable) {
    is_printable = ticks > -8000 && ticks < 8000;
    switch (unit) {
        case TimeUnit::year:
            is_printable = is_printable && ticks > -1970;
            return fmt::format("{:04}", 1970 + (is_printable ? ticks : 0));
        case TimeUnit::month: {
            const auto [years, month] = floor_divide(ticks, 12);
            is_printable = years > -1970 && years < 8000;
            return fmt::format("{:04}-{:02}", 1970 + (is_printable ? years : 0), month + 1);
        }
        case TimeUnit::week: {
            is_printable = ticks > -100'000 && ticks < 410'000;
            return is_printable ? date(ticks * 7, is_printable) : std::string();
        }
        case TimeUnit::day:
            return date(ticks, is_printable);
        case TimeUnit::hour:
        case TimeUnit::minute: {
            const std::int64_t seconds_each = unit == TimeUnit::hour ? 3600 : 60;
            is_printable = ticks > INT64_MIN / 3600 && ticks < INT64_MAX / 3600;
            if (!is_printable) return {};
            return clock_text(ticks * seconds_each, 0, unit == TimeUnit::hour ? -2 : -1, is_printable);
        }
        default: {
            const int digits = 3 * (static_cast<int>(unit) - static_cast<int>(TimeUnit::second));
            std::int64_t per_second = 1;
            for (int i = 0; i < digits; ++i) per_second *= 10;
            const auto [seconds, fraction] = floor_divide(ticks, per_second);
            return clock_text(seconds, fraction, digits, is_printable);
        }
    }
}

}  // namespace

std::string datetime_text(std::int64_t ticks, TimeUnit unit) {
    if (ticks == INT64_MIN) return "NaT";
    bool is_printable = true;
    std::string text = calendar_text(ticks, unit, is_printable);
    if (is_printable) return text;
    return fmt::format("{} {} since 1970", ticks, name_of(unit));
}

const char* name_of(TimeUnit unit) noexcept { return unit_names[static_cast<std::size_t>(unit)]; }

}  // namespace pmemcpy::cli
