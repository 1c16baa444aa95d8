#include "cli/diff/comparison.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <pmemcpy/number.hpp>
#include <type_traits>

namespace pmemcpy::cli {

namespace {

using Bytes = std::span<const std::byte>;

/// How two numbers lie to each other.
struct Gap {
    bool is_nan = false;  // one of them is NaN, or both where that is no equality
    long double distance = 0;
    long double magnitude_a = 0;
    long double magnitude_b = 0;
};

/// Integers are subtracted without loss.
template <class T>
long double distance_between(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
        const auto low = static_cast<std::uint64_t>(std::min(a, b));
        const auto high = static_cast<std::uint64_t>(std::max(a, b));
        return static_cast<long double>(high - low);
    } else {
        return std::abs(static_cast<long double>(a) - static_cast<long double>(b));
    }
}

template <class T>
Gap gap_between(T a, T b, bool nan_differs) {
    if constexpr (std::is_floating_point_v<T>) {
        if (std::isnan(a) || std::isnan(b)) return {nan_differs || !std::isnan(a) || !std::isnan(b)};
    }
    const auto magnitude = [](T number) { return std::abs(static_cast<long double>(number)); };
    return {false, a == b ? 0 : distance_between(a, b), magnitude(a), magnitude(b)};
}

/// None for what is no single number, and for times and enumerations.
std::optional<Gap> gap_between(Kind kind, ByteOrder order, Bytes a, Bytes b, bool nan_differs) {
    std::optional<Gap> gap;
    visit_number(kind, order, a, [&]<class T>(T left) {
        visit_number(kind, order, b, [&]<class Same>(Same right) {  // of one kind, so of one type
            if constexpr (std::is_same_v<T, Same>) gap = gap_between(left, right, nan_differs);
        });
    });
    return gap;
}

/// The gap between two complex numbers, of the gaps between their parts.
Gap together(const Gap& real, const Gap& imaginary) {
    return {real.is_nan || imaginary.is_nan, std::hypot(real.distance, imaginary.distance),
            std::hypot(real.magnitude_a, imaginary.magnitude_a),
            std::hypot(real.magnitude_b, imaginary.magnitude_b)};
}

/// To an infinity every number is too far away, whatever a relative tolerance would make of it.
bool is_within(const Gap& gap, const Tolerance& tolerance) {
    if (gap.is_nan) return false;
    if (gap.distance == 0) return true;
    const long double magnitude = std::max(gap.magnitude_a, gap.magnitude_b);
    return std::isfinite(magnitude) && gap.distance <= tolerance.absolute + tolerance.relative * magnitude;
}

bool is_complex(const Type& type) {
    return type.kind() == Kind::complex64 || type.kind() == Kind::complex128;
}

bool has_fraction(const Type& type) {
    switch (type.kind()) {
        case Kind::float16:
        case Kind::bfloat16:
        case Kind::float32:
        case Kind::float64:
        case Kind::complex64:
        case Kind::complex128:
            return true;
        default:
            return false;
    }
}

}  // namespace

Comparison::Comparison(const Type& element, const Tolerance& tolerance, std::uint64_t most_places)
    : element_bytes_(element.size()),
      leaves_(leaves_of(element)),
      tolerance_(tolerance),
      most_places_(most_places) {
    // The same bytes are the same, unless they may be a NaN and that is to differ from itself.
    if (std::none_of(leaves_.begin(), leaves_.end(),
                     [](const Leaf& leaf) { return has_fraction(leaf.type); }))
        tolerance_.nan_differs = false;
}

void Comparison::add(Bytes a, Bytes b, const IndexOf& index_of) {
    const std::uint64_t count = a.size() / element_bytes_;
    elements_ += count;
    const auto are_same = [this](Bytes left, Bytes right) {
        return !tolerance_.nan_differs && std::memcmp(left.data(), right.data(), left.size()) == 0;
    };
    if (count == 0 || are_same(a, b)) return;
    for (std::uint64_t k = 0; k < count; ++k) {
        const Bytes left = a.subspan(k * element_bytes_, element_bytes_);
        const Bytes right = b.subspan(k * element_bytes_, element_bytes_);
        if (are_same(left, right)) continue;
        bool differs = false;
        for (const Leaf& leaf : leaves_) {
            const Bytes in_left = left.subspan(leaf.offset, leaf.type.size());
            const Bytes in_right = right.subspan(leaf.offset, leaf.type.size());
            std::optional<long double> distance;
            if (is_leaf_equal(leaf, in_left, in_right, distance)) continue;
            differs = true;
            if (distance && (!largest_ || *largest_ < static_cast<double>(*distance))) {
                largest_ = static_cast<double>(*distance);
                largest_at_ = index_of(k);
            }
            if (places_.size() < most_places_) {
                places_.push_back({index_of(k), leaf.name, leaf.type,
                                   std::vector<std::byte>(in_left.begin(), in_left.end()),
                                   std::vector<std::byte>(in_right.begin(), in_right.end())});
            }
        }
        if (differs) ++differing_;
    }
}

bool Comparison::is_leaf_equal(const Leaf& leaf, Bytes a, Bytes b,
                               std::optional<long double>& distance) const {
    const Type& type = leaf.type;
    if (type.kind() == Kind::fixed_string) return padded_text(a) == padded_text(b);
    const Kind kind = is_complex(type) ? part_of(type.kind()) : type.kind();
    const std::size_t part_bytes = is_complex(type) ? a.size() / 2 : a.size();
    const auto gap_at = [&](std::size_t part) {
        const std::size_t at = part * part_bytes;
        return gap_between(kind, type.byte_order(), a.subspan(at, part_bytes), b.subspan(at, part_bytes),
                           tolerance_.nan_differs);
    };
    std::optional<Gap> gap = gap_at(0);
    if (!gap) return std::equal(a.begin(), a.end(), b.begin(), b.end());
    if (is_complex(type)) gap = together(*gap, *gap_at(1));
    if (is_within(*gap, tolerance_)) return true;
    if (!gap->is_nan) distance = gap->distance;
    return false;
}

}  // namespace pmemcpy::cli
