#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <span>
#include <string>

namespace pmemcpy {

/// The most dimensions an array can have. An array of none is a single element.
inline constexpr int max_dimensions = 32;

/// A count of elements along one dimension.
using Extent = std::uint64_t;

/// The first dimension of an array that grows: a store past its end extends it, as with time steps.
inline constexpr Extent unlimited = UINT64_MAX;

/// The order of an array's elements: the last index varies fastest (c) or the first (fortran).
enum class Order : std::uint8_t { c = 0, fortran = 1 };

/// Up to 32 extents, kept in place: the shape of an array, or a position in it.
class Dimensions {
public:
    // Extents past size() stay uninitialised, and copies leave them out: planning copies many of these.
    Dimensions() noexcept {}
    Dimensions(std::initializer_list<Extent> extents)
        : Dimensions(std::span(extents.begin(), extents.size())) {}
    Dimensions(int ndims, const std::size_t* extents);
    explicit Dimensions(std::span<const Extent> extents);
    /// `ndims` times the same extent.
    static Dimensions filled(int ndims, Extent extent);

    Dimensions(const Dimensions& other) noexcept : size_(other.size_) { copy(other); }
    Dimensions& operator=(const Dimensions& other) noexcept {
        size_ = other.size_;
        copy(other);
        return *this;
    }
    ~Dimensions() = default;

    int size() const noexcept { return size_; }
    bool empty() const noexcept { return size_ == 0; }
    Extent& operator[](int dimension) noexcept { return extents_[static_cast<std::size_t>(dimension)]; }
    Extent operator[](int dimension) const noexcept { return extents_[static_cast<std::size_t>(dimension)]; }

    Extent* begin() noexcept { return extents_.data(); }
    Extent* end() noexcept { return extents_.data() + size_; }
    const Extent* begin() const noexcept { return extents_.data(); }
    const Extent* end() const noexcept { return extents_.data() + size_; }
    const Extent* data() const noexcept { return extents_.data(); }

    /// Appends one extent as the new last dimension. Errors: invalid_argument beyond 32.
    void push_back(Extent extent);

    /// The product of the extents (1 without dimensions). Errors: invalid_argument when it exceeds 64 bits.
    Extent elements() const;

    friend bool operator==(const Dimensions& a, const Dimensions& b) noexcept {
        return std::equal(a.begin(), a.end(), b.begin(), b.end());
    }

private:
    void copy(const Dimensions& other) noexcept { std::copy_n(other.begin(), size_, begin()); }

    std::array<Extent, static_cast<std::size_t>(max_dimensions)> extents_;
    int size_ = 0;
};

/// A dense part of an array: `count` elements from `offset` on, in each dimension.
struct Box {
    Dimensions offset;
    Dimensions count;

    /// The box that is the whole array.
    static Box whole(const Dimensions& dims) { return {Dimensions::filled(dims.size(), 0), dims}; }

    int size() const noexcept { return count.size(); }
    /// One past the last index of a dimension.
    Extent end(int dimension) const noexcept { return offset[dimension] + count[dimension]; }
    bool empty() const noexcept { return std::find(count.begin(), count.end(), Extent{0}) != count.end(); }
    /// The number of elements. Errors: invalid_argument when it exceeds 64 bits.
    Extent elements() const { return count.elements(); }

    friend bool operator==(const Box&, const Box&) noexcept = default;
};

/// A hyperslab as in HDF5: in each dimension `count` elements, `stride` apart, the first at `offset`. A
/// user's buffer holds its elements densely, with the shape `count`.
struct Selection {
    Dimensions offset;
    Dimensions count;
    Dimensions stride;

    Selection() = default;
    Selection(const Box& box) : Selection(box.offset, box.count) {}
    Selection(const Dimensions& first, const Dimensions& how_many)
        : offset(first), count(how_many), stride(Dimensions::filled(how_many.size(), 1)) {}
    Selection(const Dimensions& first, const Dimensions& how_many, const Dimensions& step)
        : offset(first), count(how_many), stride(step) {}

    int size() const noexcept { return count.size(); }
    bool empty() const noexcept { return std::find(count.begin(), count.end(), Extent{0}) != count.end(); }
    /// True if the selection leaves out no element between its first and its last, so that it is a box.
    bool is_dense() const noexcept;
    /// The number of elements. Errors: invalid_argument when it exceeds 64 bits.
    Extent elements() const { return count.elements(); }

    friend bool operator==(const Selection&, const Selection&) noexcept = default;
};

/// Cuts a selection into pieces of at most `most_bytes` each, for selections larger than memory. A piece has
/// at least one element, even a larger one. The pieces one after the other are the whole selection, in the
/// order `order`.
void each_piece(const Selection& selection, Order order, std::uint64_t element_bytes,
                std::uint64_t most_bytes, const std::function<void(const Selection&)>& visit);

/// "4 x 100", "unlimited x 3", or "scalar" without dimensions.
std::string to_string(const Dimensions& dims);
/// "[0:10, 5:7]": in each dimension the first index and one past the last.
std::string to_string(const Box& box);
/// "[0:10, 5:17:4]": as a box, and the stride where it is not 1.
std::string to_string(const Selection& selection);

}  // namespace pmemcpy
