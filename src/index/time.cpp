#include "index/time.hpp"

#include <array>
#include <charconv>
#include <chrono>
#include <cstdio>

namespace pmemcpy::index {

namespace {

using std::chrono::days;
using std::chrono::sys_days;

constexpr std::uint64_t attoseconds_each = 1'000'000'000'000'000'000;
constexpr std::int64_t seconds_a_day = 86'400;

/// So many digits from the front, as a number.
std::optional<int> take(std::string_view& text, std::size_t digits) {
    int number = 0;
    if (text.size() < digits) return {};
    const auto [end, error] = std::from_chars(text.data(), text.data() + digits, number);
    if (error != std::errc{} || end != text.data() + digits || text.front() == '-') return {};
    text.remove_prefix(digits);
    return number;
}

bool skip(std::string_view& text, char c) {
    if (!text.starts_with(c)) return false;
    text.remove_prefix(1);
    return true;
}

std::int64_t seconds_of(std::chrono::year_month_day day) {
    return sys_days{day}.time_since_epoch().count() * seconds_a_day;
}

Interval seconds(std::int64_t first, std::int64_t end) { return {{first, 0}, {end, 0}}; }

/// The hours, minutes and seconds of a day; what is left of `text` afterwards was not understood.
std::optional<Interval> clock(std::string_view& text, std::int64_t day) {
    const auto hour = take(text, 2);
    if (!hour || *hour > 23) return {};
    const std::int64_t at_hour = day + std::int64_t{*hour} * 3600;
    if (!skip(text, ':')) return seconds(at_hour, at_hour + 3600);
    const auto minute = take(text, 2);
    if (!minute || *minute > 59) return {};
    const std::int64_t at_minute = at_hour + std::int64_t{*minute} * 60;
    if (!skip(text, ':')) return seconds(at_minute, at_minute + 60);
    const auto second = take(text, 2);
    if (!second || *second > 60) return {};  // a leap second is the next minute's first
    const std::int64_t at_second = at_minute + *second;
    if (!skip(text, '.')) return seconds(at_second, at_second + 1);
    std::uint64_t fraction = 0;
    std::uint64_t tick = attoseconds_each;
    if (text.empty() || text.front() < '0' || text.front() > '9') return {};
    while (!text.empty() && text.front() >= '0' && text.front() <= '9') {
        if (tick == 1) return {};
        tick /= 10;
        fraction += tick * static_cast<std::uint64_t>(text.front() - '0');
        text.remove_prefix(1);
    }
    const Time first{at_second, fraction};
    const bool ends_second = fraction + tick == attoseconds_each;
    return Interval{first, ends_second ? Time{at_second + 1, 0} : Time{at_second, fraction + tick}};
}

}  // namespace

std::optional<Interval> parse_time(std::string_view text) {
    using std::chrono::day;
    using std::chrono::month;
    using std::chrono::year;
    const auto y = take(text, 4);
    if (!y) return {};
    if (text.empty()) return seconds(seconds_of(year{*y} / 1 / 1), seconds_of(year{*y + 1} / 1 / 1));
    if (!skip(text, '-')) return {};
    const auto m = take(text, 2);
    if (!m || *m < 1 || *m > 12) return {};
    const std::chrono::year_month of{year{*y}, month{static_cast<unsigned>(*m)}};
    if (text.empty()) return seconds(seconds_of(of / 1), seconds_of((of + std::chrono::months{1}) / 1));
    if (!skip(text, '-')) return {};
    const auto d = take(text, 2);
    if (!d || !(of / day{static_cast<unsigned>(*d)}).ok()) return {};
    const std::int64_t at = seconds_of(of / day{static_cast<unsigned>(*d)});
    std::optional<Interval> found = seconds(at, at + seconds_a_day);
    if (skip(text, 'T') || skip(text, ' ')) found = clock(text, at);
    skip(text, 'Z');
    return text.empty() ? found : std::nullopt;
}

std::string text_of(const Time& time) {
    std::int64_t day = time.seconds / seconds_a_day;
    std::int64_t second = time.seconds % seconds_a_day;
    if (second < 0) {
        --day;
        second += seconds_a_day;
    }
    constexpr std::int64_t farthest =
        2'900'000;  // days to the year 9910; as from the year 0, it has four digits
    if (day < -719'528 || day > farthest) return std::to_string(time.seconds) + " s since 1970";
    const std::chrono::year_month_day date{sys_days{days{day}}};
    std::array<char, 64> text{};
    std::snprintf(text.data(), text.size(), "%04d-%02u-%02uT%02d:%02d:%02d", static_cast<int>(date.year()),
                  static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                  static_cast<int>(second / 3600), static_cast<int>(second / 60 % 60),
                  static_cast<int>(second % 60));
    std::string out = text.data();
    if (time.attoseconds == 0) return out;
    std::string fraction = std::to_string(attoseconds_each + time.attoseconds).substr(1);
    while (fraction.ends_with("000")) fraction.resize(fraction.size() - 3);
    return out + "." + fraction;
}

std::optional<Time> time_of(std::int64_t ticks, TimeUnit unit) {
    if (ticks == INT64_MIN) return {};
    constexpr std::int64_t most_months = 360'000;  // 30,000 years
    const auto scaled = [&](std::int64_t each) -> std::optional<Time> {
        std::int64_t all = 0;
        if (__builtin_mul_overflow(ticks, each, &all)) return {};
        return Time{all, 0};
    };
    switch (unit) {
        case TimeUnit::year:
        case TimeUnit::month: {
            if (ticks < -most_months || ticks > most_months) return {};
            const auto months = static_cast<int>(unit == TimeUnit::year ? ticks * 12 : ticks);
            const std::chrono::year_month first{std::chrono::year{1970}, std::chrono::month{1}};
            if (const int year = 1970 + months / 12; year < -30'000 || year > 30'000) return {};
            return Time{seconds_of((first + std::chrono::months{months}) / 1), 0};
        }
        case TimeUnit::week:
            return scaled(7 * seconds_a_day);
        case TimeUnit::day:
            return scaled(seconds_a_day);
        case TimeUnit::hour:
            return scaled(3600);
        case TimeUnit::minute:
            return scaled(60);
        default:
            break;
    }
    std::int64_t a_second = 1;
    for (auto u = TimeUnit::second; u != unit; u = static_cast<TimeUnit>(static_cast<int>(u) + 1))
        a_second *= 1000;
    std::int64_t whole = ticks / a_second;
    std::int64_t rest = ticks % a_second;
    if (rest < 0) {
        --whole;
        rest += a_second;
    }
    return Time{whole,
                static_cast<std::uint64_t>(rest) * (attoseconds_each / static_cast<std::uint64_t>(a_second))};
}

std::optional<std::int64_t> seconds_in(std::string_view unit) {
    if (unit == "s") return 1;
    if (unit == "min") return 60;
    if (unit == "h") return 3600;
    if (unit == "d") return seconds_a_day;
    if (unit == "w") return 7 * seconds_a_day;
    return {};
}

Time now() {
    const auto since = std::chrono::system_clock::now().time_since_epoch();
    return *time_of(std::chrono::duration_cast<std::chrono::nanoseconds>(since).count(),
                    TimeUnit::nanosecond);
}

}  // namespace pmemcpy::index
