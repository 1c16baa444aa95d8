#include "base/checked.hpp"
#include "heap/slab.hpp"
#include "pool/format.hpp"

#include <algorithm>
#include <array>
#include <bit>

namespace pmemcpy::heap {
namespace {

// A bare slab of n units has an nth of its chunk for each, and next to no rest: these n are as far apart as sizes are.
constexpr std::array<std::uint64_t, 15> units_of_bare_slabs = {32, 28, 24, 20, 16, 14, 12, 10,
                                                               8,  7,  6,  5,  4,  3,  2};
static_assert(units_of_bare_slabs.front() == pool::links_per_chunk);

}  // namespace

UnitSizes::UnitSizes(std::uint64_t chunk_bytes, bool may_be_bare) {
    // Four sizes to a doubling keep the waste below a quarter, and two units to a slab are the least.
    const std::uint64_t largest = (chunk_bytes - 2 * sizeof(SlabHeader)) / 2 / 64 * 64;
    if (may_be_bare) smallest_bare_ = chunk_bytes / units_of_bare_slabs.front();
    std::uint64_t bytes = 64;
    while (bytes < std::min(largest, smallest_bare_)) {
        add(bytes);
        bytes += std::max<std::uint64_t>(64, std::bit_floor(bytes) / 4);
        bytes = base::align_up(bytes, 64);
    }
    if (!may_be_bare) {
        add(largest);
        return;
    }
    for (const std::uint64_t units : units_of_bare_slabs) {
        const std::uint64_t each = base::align_down(chunk_bytes / units, 64);
        if (bytes_[count_ - 1] < each) add(each);
    }
}

inline void UnitSizes::add(std::uint64_t bytes) { bytes_.at(count_++) = bytes; }

std::size_t UnitSizes::class_of(std::uint64_t bytes) const {
    return static_cast<std::size_t>(std::lower_bound(bytes_.begin(), bytes_.begin() + count_, bytes) -
                                    bytes_.begin());
}

bool UnitSizes::has(std::uint64_t bytes) const {
    return std::binary_search(bytes_.begin(), bytes_.begin() + count_, bytes);
}

}  // namespace pmemcpy::heap
