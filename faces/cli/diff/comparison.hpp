#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <pmemcpy/box.hpp>
#include <pmemcpy/type.hpp>
#include <span>
#include <string>
#include <vector>

#include "cli/element/leaf.hpp"

namespace pmemcpy::cli {

/// How far two numbers may be apart and still count as equal: `absolute` + `relative` * the larger of their magnitudes.
struct Tolerance {
    double relative = 0;
    double absolute = 0;
    bool nan_differs = false;  ///< from another NaN
};

/// Compares elements of one type, and keeps what differs. Numbers are compared by their value (of complex ones it is their
/// distance that counts), all else, times and enumerations too, must be the same.
class Comparison {
public:
    /// Where two elements differ: a number or text in them.
    struct Place {
        Dimensions index;
        std::string name;  ///< of the field, "x" or "at[1]"; "value" where the elements are no structures
        Type type;
        std::vector<std::byte> a;
        std::vector<std::byte> b;
    };
    using IndexOf = std::function<Dimensions(std::uint64_t element)>;

    Comparison(const Type& element, const Tolerance& tolerance, std::uint64_t most_places);

    /// Shape: as many elements in both, one behind the other; `index_of` tells where the k-th of them is.
    void add(std::span<const std::byte> a, std::span<const std::byte> b, const IndexOf& index_of);

    bool is_equal() const noexcept { return differing_ == 0; }
    std::uint64_t elements() const noexcept { return elements_; }
    std::uint64_t differing() const noexcept { return differing_; }
    /// How far apart two numbers are at most; none if no numbers differ, or only by being NaN.
    const std::optional<double>& largest() const noexcept { return largest_; }
    const Dimensions& largest_at() const noexcept { return largest_at_; }
    /// The first ones.
    const std::vector<Place>& places() const noexcept { return places_; }

private:
    bool is_leaf_equal(const Leaf& leaf, std::span<const std::byte> a, std::span<const std::byte> b,
                       std::optional<long double>& distance) const;

    std::uint64_t element_bytes_;
    std::vector<Leaf> leaves_;
    Tolerance tolerance_;
    std::uint64_t most_places_;
    std::uint64_t elements_ = 0;
    std::uint64_t differing_ = 0;
    std::optional<double> largest_;
    Dimensions largest_at_;
    std::vector<Place> places_;
};

}  // namespace pmemcpy::cli
