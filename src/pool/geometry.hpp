#pragma once

#include "pool/format.hpp"

#include <cstdint>

namespace pmemcpy::pool {

/// Where each region of a pool begins: arithmetic on the two sizes a user may choose.
struct Geometry {
    std::uint64_t chunk_bytes;
    std::uint64_t max_bytes;
    std::uint64_t chunk_count;
    std::uint64_t table_offset;
    std::uint64_t bucket_offset;
    std::uint64_t bucket_count;
    std::uint64_t first_chunk_offset;
};

/// The least that a pool of such chunks takes which may grow to `max_bytes`. Throws invalid_argument for such chunks as no pool has.
std::uint64_t least_bytes(std::uint64_t chunk_bytes, std::uint64_t max_bytes);

/// Lays out a pool of at most `max_bytes`. Throws invalid_argument when the sizes make no pool.
Geometry lay_out(std::uint64_t chunk_bytes, std::uint64_t max_bytes);

/// Whether a superblock read from a medium describes regions that lie inside each other's bounds.
bool is_consistent(const Superblock& super);

/// Where the links of chunk 0 are; 0 in a pool of a version that had none.
std::uint64_t links_offset(const Superblock& super);

/// The checksum that belongs into `super.checksum`.
std::uint32_t checksum_of(const Superblock& super);

/// The value of PoolState::clean that vouches for the other words of `state`.
std::uint64_t clean_mark(const PoolState& state);
/// The same of a pool in which somebody's view keeps what is of no use any more: readers may trust it, and the first writer frees that, as
/// after a death.
std::uint64_t kept_mark(const PoolState& state);

}  // namespace pmemcpy::pool
