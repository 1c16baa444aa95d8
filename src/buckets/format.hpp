#pragma once

#include <cstdint>

#include "members/format.hpp"

namespace pmemcpy::buckets {

// Shape of a file of buckets: {bytes of a bucket, how many, 0, 0}. Behind the seats: the bits, a word for each, a note for each; then,
// from a multiple of a huge page, the buckets.

inline constexpr std::uint64_t page_bytes = 4096;
inline constexpr std::uint64_t most_buckets = 1ULL << 24;
inline constexpr std::uint64_t most_bytes = 1ULL << 50;

// The word of an available bucket has in place of its owner's life how many follow it. States of a word beside those of BucketState:
/// Filling, and its owner is about to give a part of the run back.
inline constexpr std::uint8_t state_parting = 4;
/// Its bucket is of a run, and whatever the nearest word before it that does not follow says is said of it too. Its turn is what it has
/// to be added to that word's to be the bucket's own; all else of it is 0.
inline constexpr std::uint8_t state_follows = 5;
/// Bits of one word of bits, in which a run lies.
inline constexpr std::uint32_t longest_run = 64;

/// What the owner says of a bucket. Counts only beside a word that says full or offered.
struct Note {
    std::uint64_t tag;
    std::uint64_t bytes;
    std::uint32_t part;
    std::uint32_t parts;
    std::uint64_t changes;  // how often this note was written
};
static_assert(sizeof(Note) == 32);

struct Layout {
    std::uint64_t bucket_bytes = 0;
    std::uint64_t count = 0;
    std::uint64_t hints = members::body_offset;
    std::uint64_t words = 0;
    std::uint64_t notes = 0;
    std::uint64_t data = 0;
    std::uint64_t file_bytes = 0;
};

/// Errors: invalid_argument for sizes that no file has.
Layout lay_out(std::uint64_t bucket_bytes, std::uint64_t count);

}  // namespace pmemcpy::buckets
