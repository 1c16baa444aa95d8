#pragma once

// How chunks are cut into units: which sizes there are, and where the words are that say whose a unit is.

#include "heap/format.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace pmemcpy::heap {

enum class Purpose : std::uint8_t { meta, data };  // records, or bytes of extents

constexpr bool is_slab_for(Purpose purpose, ChunkKind kind) {
    return purpose == Purpose::meta ? kind == ChunkKind::meta_slab : is_data_slab(kind);
}

/// The sizes that units have, smallest first, all multiples of 64 bytes.
class UnitSizes {
public:
    /// `may_be_bare`: of data, in a pool that has a table of links.
    UnitSizes(std::uint64_t chunk_bytes, bool may_be_bare);

    std::size_t count() const { return count_; }
    std::uint64_t operator[](std::size_t size_class) const { return bytes_[size_class]; }
    std::uint64_t largest() const { return bytes_[count_ - 1]; }
    /// The smallest class with room for `bytes`, which are at most largest().
    std::size_t class_of(std::uint64_t bytes) const;
    /// Whether there is a class of exactly this size.
    bool has(std::uint64_t bytes) const;
    /// Whether slabs of units of this size have their links in the table, and nothing but units in their chunk.
    bool is_bare(std::uint64_t bytes) const { return bytes >= smallest_bare_; }

private:
    void add(std::uint64_t bytes);

    std::size_t count_ = 0;
    std::array<std::uint64_t, 112> bytes_;  // so many has the largest chunk; each opening of a pool fills it
    std::uint64_t smallest_bare_ = ~std::uint64_t{0};
};

/// A slab as its head tells, wherever that is. Offsets count from the start of the pool.
struct Slab {
    std::uint64_t chunk;
    Purpose purpose;
    std::uint32_t unit_bytes;
    std::uint32_t units;
    std::uint64_t first_unit;
    std::uint64_t links;   // of data slabs: a word for each unit
    std::uint64_t bitmap;  // 0 in bare slabs: looking at their few links is as cheap

    bool is_meta() const { return purpose == Purpose::meta; }
    std::uint64_t offset_of(std::uint32_t unit) const {
        return first_unit + std::uint64_t{unit} * unit_bytes;
    }
};

}  // namespace pmemcpy::heap
