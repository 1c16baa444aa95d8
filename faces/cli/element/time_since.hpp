#pragma once

#include <cstdint>
#include <optional>
#include <pmemcpy/type.hpp>
#include <string>
#include <string_view>

namespace pmemcpy::cli {

/// How CF's calendars count days.
enum class Calendar { standard, proleptic_gregorian, julian, noleap, all_leap, thirty_days };

/// Numbers that count time from a date on: "hours since 1900-01-01".
/// Source: CF conventions 1.11, section 4.4
class TimeSince {
public:
    /// By the attributes `units` and `calendar` of a variable. Nothing where they say no such thing, count in months or years, which
    /// have no one length, or name another calendar, and where the type is no number.
    static std::optional<TimeSince> of(std::string_view units, std::string_view calendar, const Type& type);

    /// "2026-05-01", "2026-05-01T12:30", "2026-05-01T12:30:10.25", as far as a number of that type tells; "NaT" for NaN. What lies
    /// thousands of centuries away stays the number, with its unit.
    std::string text(double number) const;

    /// What a number of 1 is: "hours".
    const std::string& unit() const noexcept { return unit_; }
    /// Empty for the one that is in use; "noleap".
    const std::string& calendar() const noexcept { return name_; }

private:
    TimeSince() = default;
    std::string units_{};
    std::string unit_{};
    std::string name_{};
    Calendar calendar_ = Calendar::standard;
    double each_ = 0;        // microseconds
    std::int64_t from_ = 0;  // the date, in microseconds
    int significant_bits_ = 53;
};

}  // namespace pmemcpy::cli
