#include "pool/geometry.hpp"

#include "base/checked.hpp"
#include "base/crc32c.hpp"

#include <pmemcpy/error.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <string>

namespace pmemcpy::pool {
namespace {

constexpr std::uint64_t largest_chunk_bytes = 1ULL << 30;
constexpr std::uint64_t bytes_per_bucket = 32768;  // of pool: sparse enough to allocate at once
constexpr std::uint64_t fewest_buckets = 64;
constexpr std::uint64_t most_buckets = 1ULL << 25;

std::uint64_t end_of_buckets(std::uint64_t bucket_offset, std::uint64_t bucket_count) {
    return base::align_up(bucket_offset + bucket_count * 8, page_bytes);
}

/// All but the chunks.
Geometry regions(std::uint64_t chunk_bytes, std::uint64_t max_bytes) {
    if (!std::has_single_bit(chunk_bytes) || chunk_bytes < smallest_chunk_bytes ||
        chunk_bytes > largest_chunk_bytes) {
        throw Error(Code::invalid_argument, "a chunk must be a power of two from 4 KiB to 1 GiB, not " +
                                                std::to_string(chunk_bytes) + " bytes");
    }
    Geometry g{};
    g.chunk_bytes = chunk_bytes;
    g.bucket_count = std::clamp(std::bit_ceil(max_bytes / bytes_per_bucket), fewest_buckets, most_buckets);
    g.table_offset = chunk_table_offset;
    const std::uint64_t table_entries = max_bytes / chunk_bytes;  // a few more than there will be chunks
    g.bucket_offset = base::align_up(g.table_offset + table_entries * chunk_entry_bytes, page_bytes);
    g.first_chunk_offset =
        base::align_up(end_of_buckets(g.bucket_offset, g.bucket_count) + table_entries * links_bytes,
                       std::max(chunk_bytes, page_bytes));
    return g;
}

}  // namespace

std::uint64_t least_bytes(std::uint64_t chunk_bytes, std::uint64_t max_bytes) {
    return regions(chunk_bytes, max_bytes).first_chunk_offset + 4 * chunk_bytes;
}

Geometry lay_out(std::uint64_t chunk_bytes, std::uint64_t max_bytes) {
    if (max_bytes > largest_pool_bytes) {
        throw Error(Code::invalid_argument,
                    "a pool may have at most 16 TiB, asked for " + std::to_string(max_bytes) + " bytes");
    }
    const std::uint64_t least = least_bytes(chunk_bytes, max_bytes);
    if (least > max_bytes) {
        throw Error(Code::invalid_argument,
                    "a pool of " + std::to_string(max_bytes) + " bytes is too small: with chunks of " +
                        std::to_string(chunk_bytes) + " bytes the least is " + std::to_string(least));
    }
    Geometry g = regions(chunk_bytes, max_bytes);
    g.chunk_count = (max_bytes - g.first_chunk_offset) / chunk_bytes;
    g.max_bytes = g.first_chunk_offset + g.chunk_count * chunk_bytes;
    return g;
}

bool is_consistent(const Superblock& super) {
    if (super.bytes != sizeof(Superblock) || super.checksum != checksum_of(super)) return false;
    if (!std::has_single_bit(super.chunk_bytes) || super.chunk_bytes < smallest_chunk_bytes ||
        super.chunk_bytes > largest_chunk_bytes)
        return false;
    if (!std::has_single_bit(super.bucket_count) || super.bucket_count > most_buckets) return false;
    if (super.max_bytes > largest_pool_bytes || super.chunk_count > super.max_bytes / super.chunk_bytes)
        return false;
    // Each place is known to lie in the pool before a length is added to it, so that no sum overflows.
    if (super.table_offset < chunk_table_offset || super.table_offset % 64 != 0 ||
        super.table_offset > super.max_bytes)
        return false;
    if (super.bucket_offset < super.table_offset + super.chunk_count * chunk_entry_bytes) return false;
    if (super.bucket_offset % 64 != 0 || super.bucket_offset > super.max_bytes) return false;
    const std::uint64_t links = links_offset(super);
    const std::uint64_t end_of_tables =
        links != 0 ? links + super.chunk_count * links_bytes : super.bucket_offset + super.bucket_count * 8;
    if (super.first_chunk_offset < end_of_tables) return false;
    if (super.first_chunk_offset % super.chunk_bytes != 0 || super.first_chunk_offset > super.max_bytes)
        return false;
    return super.chunk_count > 0 &&
           super.chunk_count <= (super.max_bytes - super.first_chunk_offset) / super.chunk_bytes;
}

std::uint64_t links_offset(const Superblock& super) {
    return super.version < first_version_with_links ? 0
                                                    : end_of_buckets(super.bucket_offset, super.bucket_count);
}

std::uint32_t checksum_of(const Superblock& super) {
    Superblock copy = super;
    copy.checksum = 0;
    return base::crc32c(0, &copy, sizeof copy);
}

namespace {

std::uint64_t mark_of(std::uint64_t name, const PoolState& state) {
    const std::array<std::uint64_t, 5> words = {state.usable_chunks.value, state.next_version.value,
                                                state.synced_version.value, state.committed_step.value,
                                                state.begun_step.value};
    return (name << 32) ^ base::crc32c(0, words.data(), sizeof words);
}

}  // namespace

std::uint64_t clean_mark(const PoolState& state) { return mark_of(0x434c45414e, state); }  // "CLEAN"
std::uint64_t kept_mark(const PoolState& state) { return mark_of(0x4b455054, state); }     // "KEPT"

}  // namespace pmemcpy::pool
