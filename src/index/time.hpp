#pragma once

#include <optional>
#include <pmemcpy/query.hpp>
#include <pmemcpy/type.hpp>
#include <string>
#include <string_view>

namespace pmemcpy::index {

/// What a text says: "2026-10" is all of that month.
struct Interval {
    Time first;
    Time end;  // the first moment after it
};

/// "2026", "2026-10", "2026-10-05", "2026-10-05T12", "...T12:30", "...T12:30:05", "...T12:30:05.25"; a blank may stand for the
/// T, and a Z behind it all. Nothing for other texts, and for days that no month has.
std::optional<Interval> parse_time(std::string_view text);

/// "2026-10-05T12:30:05", with as many digits behind the second as it needs, in threes.
std::string text_of(const Time& time);

/// Of a datetime64. Nothing for NaT, and for what is too far away for 64 bits of seconds.
std::optional<Time> time_of(std::int64_t ticks, TimeUnit unit);

/// Seconds in "s", "min", "h", "d", "w"; nothing for other words.
std::optional<std::int64_t> seconds_in(std::string_view unit);

Time now();

}  // namespace pmemcpy::index
