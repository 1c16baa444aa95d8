#include "cli/plot/scale.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <pmemcpy/error.hpp>

namespace pmemcpy::cli {

namespace {

/// The smallest of 1, 2, 5, 10, 20, 50, ... times a power of ten that is not below `least`.
double round_up(double least) {
    const double power = std::pow(10.0, std::floor(std::log10(least)));
    for (const double factor : {1.0, 2.0, 5.0}) {
        if (factor * power >= least * (1 - 1e-9)) return factor * power;
    }
    return 10 * power;
}

/// As many digits as tell neighbours apart that are a step away from each other.
std::string label(double number, double step, double largest) {
    const int digits = static_cast<int>(std::floor(std::log10(largest / step) + 1e-9)) + 2;
    return fmt::format("{:.{}g}", number + 0.0, std::clamp(digits, 6, 17));  // + 0 takes the sign off -0
}

}  // namespace

Scale::Scale(Range range, bool is_log) : range_(range), is_log_(is_log) {
    if (range_.is_empty()) range_ = is_log ? Range{1, 10} : Range{0, 1};
    if (is_log && !(range_.low > 0)) {
        throw Error(
            Code::invalid_argument,
            fmt::format("a logarithmic scale cannot begin at {}: it wants numbers above 0", range_.low));
    }
    if (range_.low == range_.high) {
        const double middle = range_.low;
        const double half = middle == 0 ? 1 : std::abs(middle) / 2;
        range_ = is_log ? Range{middle / 2, middle * 2} : Range{middle - half, middle + half};
    }
}

double Scale::coordinate(double number) const { return is_log_ ? std::log10(number) : number; }

// By halves, because a range from the smallest to the largest number that there is has no finite length.
double Scale::unbounded(double number) const {
    if (std::isnan(number) || (is_log_ && !(number > 0))) return std::nan("");
    const double low = coordinate(range_.low) / 2;
    const double high = coordinate(range_.high) / 2;
    return (coordinate(number) / 2 - low) / (high - low);
}

double Scale::position(double number) const { return std::clamp(unbounded(number), 0.0, 1.0); }

Scale Scale::wider(double below, double above) const {
    const double low = coordinate(range_.low), high = coordinate(range_.high);
    const double length = high - low;
    const auto number = [&](double place) { return is_log_ ? std::pow(10.0, place) : place; };
    const Range range{below > 0 ? number(low - below * length) : range_.low,
                      above > 0 ? number(high + above * length) : range_.high};
    const bool has_room = std::isfinite(range.high - range.low) && (!is_log_ || range.low > 0);
    return has_room ? Scale(range, is_log_) : *this;
}

std::vector<Scale::Tick> Scale::ticks(int most) const {
    if (is_log_ && std::log10(range_.high / range_.low) >= 2) return powers(most);
    std::vector<Tick> ticks;
    const double step = round_up((range_.high / 2 - range_.low / 2) / std::max(1, most) * 2);
    const double largest = std::max(std::abs(range_.low), std::abs(range_.high));
    const double first = std::ceil(range_.low / step - 1e-9);
    const double last = std::floor(range_.high / step + 1e-9);
    for (double k = first; k <= last && static_cast<int>(ticks.size()) <= 2 * most + 2; ++k) {
        ticks.push_back({position(k * step), label(k * step, step, largest), k * step});
    }
    return ticks;
}

std::vector<Scale::Tick> Scale::powers(int most) const {
    std::vector<Tick> ticks;
    const double first = std::ceil(std::log10(range_.low) - 1e-9);
    const double last = std::floor(std::log10(range_.high) + 1e-9);
    const double step = std::max(1.0, std::ceil((last - first) / std::max(1, most)));
    for (double power = first; power <= last; power += step) {
        const double number = std::pow(10.0, power);
        ticks.push_back({position(number), fmt::format("{:g}", number), number});
    }
    return ticks;
}

}  // namespace pmemcpy::cli
