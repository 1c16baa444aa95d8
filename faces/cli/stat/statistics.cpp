#include "cli/stat/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

namespace pmemcpy::cli {

namespace {

template <class T>
void lower(std::optional<Number>& bound, T number) {
    if (!bound || number < std::get<T>(*bound)) bound = number;
}

template <class T>
void raise(std::optional<Number>& bound, T number) {
    if (!bound || std::get<T>(*bound) < number) bound = number;
}

/// Of a datetime64 the smallest number is no time (NaT).
template <class T>
bool is_nan(T number, [[maybe_unused]] bool is_time) {
    if constexpr (std::is_floating_point_v<T>) return std::isnan(number);
    if constexpr (std::is_same_v<T, std::int64_t>) return is_time && number == INT64_MIN;
    return false;
}

template <class T>
bool is_infinite(T number) {
    if constexpr (std::is_floating_point_v<T>) return std::isinf(number);
    return false;
}

}  // namespace

void Statistics::add(const Chunk& chunk) {
    std::visit([this](const auto& numbers) { add_all(numbers); }, chunk);
}

template <class T>
void Statistics::add_all(std::span<const T> numbers) {
    constexpr T largest = std::numeric_limits<T>::max();
    constexpr T smallest = std::numeric_limits<T>::lowest();
    T low = largest;
    T high = smallest;
    std::uint64_t finite = 0;
    long double sum = 0;
    for (const T number : numbers) {
        if (is_nan(number, is_time_)) {
            ++nan_;
        } else if (is_infinite(number)) {
            ++infinite_;
            lower(minimum_, number);
            raise(maximum_, number);
        } else {
            ++finite;
            if (number == 0) ++zeros_;
            low = std::min(low, number);
            high = std::max(high, number);
            sum += static_cast<long double>(number);
        }
    }
    count_ += numbers.size();
    if (finite == 0) return;
    lower(minimum_, low);
    lower(lowest_, low);
    raise(maximum_, high);
    raise(highest_, high);
    const long double mean = sum / static_cast<long double>(finite);
    long double squares = 0;
    for (const T number : numbers) {
        if (is_nan(number, is_time_) || is_infinite(number)) continue;
        const long double deviation = static_cast<long double>(number) - mean;
        squares += deviation * deviation;
    }
    merge(static_cast<long double>(finite), mean, squares);
}

void Statistics::merge(long double count, long double mean, long double squares) {
    const long double both = merged_ + count;
    const long double apart = mean - mean_;
    mean_ += apart * (count / both);
    squares_ += squares + apart * apart * (merged_ * (count / both));
    merged_ = both;
}

double Statistics::mean() const {
    return finite() == 0 ? std::numeric_limits<double>::quiet_NaN() : static_cast<double>(mean_);
}

double Statistics::deviation() const {
    return finite() == 0 ? std::numeric_limits<double>::quiet_NaN()
                         : static_cast<double>(std::sqrt(squares_ / merged_));
}

}  // namespace pmemcpy::cli
