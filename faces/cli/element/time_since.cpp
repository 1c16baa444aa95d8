#include "cli/element/time_since.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <tuple>

#include "cli/element/floor_divide.hpp"
#include "cli/element/letters.hpp"

namespace pmemcpy::cli {

namespace {

constexpr std::int64_t a_second = 1'000'000;  // in microseconds, as all here
constexpr std::int64_t a_minute = 60 * a_second;
constexpr std::int64_t an_hour = 60 * a_minute;
constexpr std::int64_t a_day = 24 * an_hour;
constexpr double farthest = 8e18;  // what 64 bits count

// Days are counted from the first of January of a year 0, which the calendars of astronomers have.

bool is_leap(std::int64_t year, Calendar calendar) {
    switch (calendar) {
        case Calendar::julian:
            return year % 4 == 0;
        case Calendar::noleap:
        case Calendar::thirty_days:
            return false;
        case Calendar::all_leap:
            return true;
        default:
            return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    }
}

std::int64_t days_before(std::int64_t year, Calendar calendar) {
    const std::int64_t fourths = floor_divide(year + 3, 4).quotient;
    switch (calendar) {
        case Calendar::julian:
            return 365 * year + fourths;
        case Calendar::noleap:
            return 365 * year;
        case Calendar::all_leap:
            return 366 * year;
        case Calendar::thirty_days:
            return 360 * year;
        default:
            return 365 * year + fourths - floor_divide(year + 99, 100).quotient +
                   floor_divide(year + 399, 400).quotient;
    }
}

std::int64_t length_of(std::int64_t month, bool leap, Calendar calendar) {
    static constexpr std::array<std::int64_t, 12> lengths = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    if (calendar == Calendar::thirty_days) return 30;
    return lengths[static_cast<std::size_t>(month - 1)] + (month == 2 && leap ? 1 : 0);
}

struct Date {
    std::int64_t year, month, day;
};

std::int64_t days_in(const Date& date, Calendar calendar) {
    std::int64_t days = days_before(date.year, calendar) + date.day - 1;
    for (std::int64_t month = 1; month < date.month; ++month)
        days += length_of(month, is_leap(date.year, calendar), calendar);
    return days;
}

Date date_in(std::int64_t days, Calendar calendar) {
    std::int64_t year = days / 366;
    while (days_before(year + 1, calendar) <= days) ++year;
    while (days_before(year, calendar) > days) --year;
    Date date{year, 1, days - days_before(year, calendar)};
    for (const bool leap = is_leap(year, calendar); date.day >= length_of(date.month, leap, calendar);)
        date.day -= length_of(date.month++, leap, calendar);
    ++date.day;
    return date;
}

// The day behind the 4th of October 1582 was the 15th; before it dates are Julian. All days here are counted as Gregorian ones.
constexpr Date first_gregorian{1582, 10, 15};
constexpr Date same_in_julian{1582, 10, 5};

std::int64_t days_of(const Date& date, Calendar calendar) {
    if (calendar != Calendar::standard) return days_in(date, calendar);
    const bool is_gregorian = std::tie(date.year, date.month, date.day) >=
                              std::tie(first_gregorian.year, first_gregorian.month, first_gregorian.day);
    if (is_gregorian) return days_in(date, Calendar::proleptic_gregorian);
    return days_in(date, Calendar::julian) - days_in(same_in_julian, Calendar::julian) +
           days_in(first_gregorian, Calendar::proleptic_gregorian);
}

Date date_of(std::int64_t days, Calendar calendar) {
    if (calendar != Calendar::standard) return date_in(days, calendar);
    const std::int64_t first = days_in(first_gregorian, Calendar::proleptic_gregorian);
    if (days >= first) return date_in(days, Calendar::proleptic_gregorian);
    return date_in(days - first + days_in(same_in_julian, Calendar::julian), Calendar::julian);
}

/// Takes one piece after the other from the front of a text.
class Scanner {
public:
    explicit Scanner(std::string_view text) : rest_(text) {}

    bool is_at_end() const { return rest_.empty(); }
    bool skip(char wanted) {
        if (rest_.empty() || rest_.front() != wanted) return false;
        rest_.remove_prefix(1);
        return true;
    }
    void skip_spaces() {
        while (skip(' ')) {
        }
    }
    std::string_view word() {
        std::size_t length = 0;
        while (length < rest_.size() && std::isalpha(static_cast<unsigned char>(rest_[length])) != 0)
            ++length;
        return take(length);
    }
    /// Digits, and how many.
    std::optional<std::int64_t> number(std::size_t* digits = nullptr) {
        std::int64_t value = 0;
        const auto [end, problem] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
        if (problem != std::errc{} || value < 0) return {};
        const auto length = static_cast<std::size_t>(end - rest_.data());
        if (digits != nullptr) *digits = length;
        take(length);
        return value;
    }
    std::optional<double> fraction() {
        double value = 0;
        const auto [end, problem] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
        if (problem != std::errc{} || !(value >= 0)) return {};
        take(static_cast<std::size_t>(end - rest_.data()));
        return value;
    }

private:
    std::string_view take(std::size_t length) {
        const std::string_view taken = rest_.substr(0, length);
        rest_.remove_prefix(length);
        return taken;
    }
    std::string_view rest_;
};

double microseconds_of(std::string_view unit) {
    struct Unit {
        std::array<std::string_view, 6> names;
        std::int64_t length;
    };
    static constexpr std::array<Unit, 7> units = {{
        {{"microsecond", "microseconds", "microsec", "microsecs"}, 1},
        {{"millisecond", "milliseconds", "millisec", "millisecs", "msec", "msecs"}, a_second / 1000},
        {{"second", "seconds", "sec", "secs", "s"}, a_second},
        {{"minute", "minutes", "min", "mins"}, a_minute},
        {{"hour", "hours", "hr", "hrs", "h"}, an_hour},
        {{"day", "days", "d"}, a_day},
        {{"week", "weeks"}, 7 * a_day},
    }};
    for (const Unit& known : units) {
        if (!unit.empty() && std::find(known.names.begin(), known.names.end(), unit) != known.names.end())
            return static_cast<double>(known.length);
    }
    return 0;
}

std::optional<Calendar> calendar_of(std::string_view name) {
    struct Named {
        std::string_view name;
        Calendar calendar;
    };
    static constexpr std::array<Named, 10> all = {{{"", Calendar::standard},
                                                   {"standard", Calendar::standard},
                                                   {"gregorian", Calendar::standard},
                                                   {"proleptic_gregorian", Calendar::proleptic_gregorian},
                                                   {"julian", Calendar::julian},
                                                   {"noleap", Calendar::noleap},
                                                   {"365_day", Calendar::noleap},
                                                   {"all_leap", Calendar::all_leap},
                                                   {"366_day", Calendar::all_leap},
                                                   {"360_day", Calendar::thirty_days}}};
    for (const Named& known : all) {
        if (known.name == name) return known.calendar;
    }
    return {};
}

/// "12", "12:30", "12:30:10.5"; nothing is midnight.
std::optional<std::int64_t> clock_in(Scanner& scanner) {
    const auto hours = scanner.number();
    if (!hours) return 0;
    if (*hours > 24) return {};
    std::int64_t clock = *hours * an_hour;
    if (!scanner.skip(':')) return clock;
    const auto minutes = scanner.number();
    if (!minutes || *minutes > 59) return {};
    clock += *minutes * a_minute;
    if (!scanner.skip(':')) return clock;
    const auto seconds = scanner.fraction();
    if (!seconds || *seconds >= 61) return {};
    return clock + std::llround(*seconds * static_cast<double>(a_second));
}

/// "Z", "UTC", "+1", "-03:30", "+0100"; nothing is UTC.
std::optional<std::int64_t> zone_in(Scanner& scanner) {
    const std::string name = in_small_letters(scanner.word());
    if (name == "z" || name == "utc" || name == "gmt") return 0;
    if (!name.empty()) return {};
    const bool is_east = scanner.skip('+');
    if (!is_east && !scanner.skip('-')) return 0;
    std::size_t digits = 0;
    const auto hours = scanner.number(&digits);
    if (!hours) return {};
    std::int64_t zone = digits > 2 ? *hours / 100 * an_hour + *hours % 100 * a_minute : *hours * an_hour;
    if (scanner.skip(':')) {
        const auto minutes = scanner.number();
        if (!minutes) return {};
        zone += *minutes * a_minute;
    }
    if (zone > a_day) return {};
    return is_east ? zone : -zone;
}

std::optional<std::int64_t> reference_in(Scanner& scanner, Calendar calendar) {
    const bool is_before_year_0 = scanner.skip('-');
    const auto year = scanner.number();
    if (!year || *year > 99'999 || !scanner.skip('-')) return {};
    const auto month = scanner.number();
    if (!month || *month < 1 || *month > 12 || !scanner.skip('-')) return {};
    const auto day = scanner.number();
    const std::int64_t signed_year = is_before_year_0 ? -*year : *year;
    if (!day || *day < 1 || *day > length_of(*month, true, calendar)) return {};
    if (!scanner.skip('T')) scanner.skip_spaces();
    const auto clock = clock_in(scanner);
    scanner.skip_spaces();
    const auto zone = zone_in(scanner);
    scanner.skip_spaces();
    if (!clock || !zone || !scanner.is_at_end()) return {};
    return days_of({signed_year, *month, *day}, calendar) * a_day + *clock - *zone;
}

/// Of numbers, how many bits tell them apart.
std::optional<int> significant_bits_of(Kind kind) {
    switch (kind) {
        case Kind::int8:
        case Kind::int16:
        case Kind::int32:
        case Kind::int64:
        case Kind::uint8:
        case Kind::uint16:
        case Kind::uint32:
        case Kind::uint64:
        case Kind::float64:
            return 53;
        case Kind::float32:
            return 24;
        case Kind::float16:
            return 11;
        case Kind::bfloat16:
            return 8;
        default:
            return {};
    }
}

/// The finest that two neighbours of a number tell apart.
std::int64_t finest(double distance) {
    std::int64_t chosen = 1;
    for (const std::int64_t next : {a_second / 1000, a_second, a_minute, an_hour, a_day}) {
        if (static_cast<double>(chosen) >= 2 * distance) break;
        chosen = next;
    }
    return chosen;
}

}  // namespace

std::optional<TimeSince> TimeSince::of(std::string_view units, std::string_view calendar, const Type& type) {
    TimeSince time;
    const auto bits = significant_bits_of(type.kind());
    if (!bits) return {};
    const auto known = calendar_of(in_small_letters(calendar));
    Scanner scanner(units);
    scanner.skip_spaces();
    time.unit_ = in_small_letters(scanner.word());
    time.each_ = microseconds_of(time.unit_);
    scanner.skip_spaces();
    if (!known || time.each_ == 0 || in_small_letters(scanner.word()) != "since") return {};
    scanner.skip_spaces();
    const auto from = reference_in(scanner, *known);
    if (!from) return {};
    time.units_ = units;
    time.calendar_ = *known;
    const bool is_usual = *known == Calendar::standard || *known == Calendar::proleptic_gregorian;
    if (!is_usual) time.name_ = in_small_letters(calendar);
    time.from_ = *from;
    time.significant_bits_ = *bits;
    return time;
}

std::string TimeSince::text(double number) const {
    if (std::isnan(number)) return "NaT";
    const double passed = number * each_;
    if (!(std::abs(passed) + std::abs(static_cast<double>(from_)) < farthest))
        return fmt::format("{:.17g} {}", number, units_);
    const double distance = number == 0 ? 0 : std::ldexp(each_, std::ilogb(number) + 1 - significant_bits_);
    const std::int64_t unit = finest(distance);
    const std::int64_t moment =
        from_ +
        std::llround(static_cast<long double>(number) * each_ / static_cast<long double>(unit)) * unit;
    const auto [days, clock] = floor_divide(moment, a_day);
    const Date date = date_of(days, calendar_);
    std::string text = fmt::format("{}{:04}-{:02}-{:02}", date.year < 0 ? "-" : "", std::abs(date.year),
                                   date.month, date.day);
    if (clock == 0) return text;
    text += fmt::format("T{:02}:{:02}", clock / an_hour, clock / a_minute % 60);
    if (clock % a_minute == 0) return text;
    text += fmt::format(":{:02}", clock / a_second % 60);
    if (clock % a_second == 0) return text;
    text += fmt::format(".{:06}", clock % a_second);
    text.resize(text.find_last_not_of('0') + 1);
    return text;
}

}  // namespace pmemcpy::cli
