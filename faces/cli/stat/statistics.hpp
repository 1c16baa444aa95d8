#pragma once

#include <cstdint>
#include <optional>

#include "cli/element/column.hpp"

namespace pmemcpy::cli {

/// What one pass over numbers tells of them. The minimum and maximum are exact, of all but NaN; the mean and the deviation
/// are of the finite numbers.
///
/// Each chunk's mean and sum of squared deviations are taken in two passes with long doubles; two chunks become one as Chan,
/// Golub and LeVeque merge them. So neither a large mean nor a large number of numbers costs digits.
/// Source: Chan, Golub, LeVeque, Updating Formulae and a Pairwise Algorithm for Computing Sample Variances (1979)
class Statistics {
public:
    /// Of a datetime64, INT64_MIN is no time and counts as NaN.
    explicit Statistics(const Type& number) : is_time_(number.kind() == Kind::datetime64) {}

    void add(const Chunk& chunk);

    std::uint64_t count() const noexcept { return count_; }
    std::uint64_t nan() const noexcept { return nan_; }
    std::uint64_t infinite() const noexcept { return infinite_; }
    std::uint64_t zeros() const noexcept { return zeros_; }
    std::uint64_t finite() const noexcept { return count_ - nan_ - infinite_; }

    /// None if there are only NaNs, or none at all.
    const std::optional<Number>& minimum() const noexcept { return minimum_; }
    const std::optional<Number>& maximum() const noexcept { return maximum_; }
    /// Of the finite numbers.
    const std::optional<Number>& lowest() const noexcept { return lowest_; }
    const std::optional<Number>& highest() const noexcept { return highest_; }

    /// NaN without finite numbers.
    double mean() const;
    /// The standard deviation of the whole, the root of the mean squared deviation, as NumPy's.
    double deviation() const;

private:
    template <class T>
    void add_all(std::span<const T> numbers);
    void merge(long double count, long double mean, long double squares);

    bool is_time_;
    std::uint64_t count_ = 0;
    std::uint64_t nan_ = 0;
    std::uint64_t infinite_ = 0;
    std::uint64_t zeros_ = 0;
    std::optional<Number> minimum_;
    std::optional<Number> maximum_;
    std::optional<Number> lowest_;
    std::optional<Number> highest_;
    long double merged_ = 0;  // finite numbers that mean and squares are of
    long double mean_ = 0;
    long double squares_ = 0;  // the sum of squared deviations from the mean
};

}  // namespace pmemcpy::cli
