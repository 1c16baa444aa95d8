#include "cli/stat/histogram.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>

namespace pmemcpy::cli {

namespace {

/// Of integers exact, also where their difference is no int64_t.
template <class T>
long double distance(T from, T to) {
    if constexpr (std::is_integral_v<T>) {
        return static_cast<long double>(static_cast<std::uint64_t>(to) - static_cast<std::uint64_t>(from));
    } else {
        return static_cast<long double>(to) - static_cast<long double>(from);
    }
}

}  // namespace

Histogram::Histogram(const Number& lowest, const Number& highest, std::uint64_t bins)
    : lowest_(lowest), highest_(highest) {
    std::visit(
        [&]<class T>(T from) {
            is_closed_ = !std::is_integral_v<T>;
            const long double width = distance(from, std::get<T>(highest)) + (is_closed_ ? 0 : 1);
            const bool is_point = width == 0;  // one number, however often
            const bool is_few = !is_closed_ && width < static_cast<long double>(bins);
            counts_.resize(is_point ? 1 : is_few ? static_cast<std::size_t>(width) : bins);
            const auto count = static_cast<long double>(counts_.size());
            bins_per_unit_ = is_point ? 0 : count / width;
            for (std::size_t i = 0; i <= counts_.size(); ++i)
                edges_.push_back(static_cast<long double>(from) +
                                 width * static_cast<long double>(i) / count);
        },
        lowest_);
}

template <class T>
std::size_t Histogram::bin_of(T number) const {
    const T from = std::get<T>(lowest_);
    const std::size_t last = counts_.size() - 1;
    if (number <= from) return 0;
    if (number >= std::get<T>(highest_)) return last;
    // A product may be rounded across an edge, and is cheaper than a division all the same.
    std::size_t bin = std::min(static_cast<std::size_t>(distance(from, number) * bins_per_unit_), last);
    if (static_cast<long double>(number) < edges_[bin])
        --bin;
    else if (bin < last && static_cast<long double>(number) >= edges_[bin + 1])
        ++bin;
    return bin;
}

void Histogram::add(const Chunk& chunk) {
    std::visit(
        [this]<class T>(std::span<const T> numbers) {
            for (const T number : numbers) {
                if constexpr (std::is_floating_point_v<T>) {
                    if (!std::isfinite(number)) continue;
                }
                ++counts_[bin_of(number)];
            }
        },
        chunk);
}

}  // namespace pmemcpy::cli
