#pragma once

// A file that processes share while they live: a header that never changes, the lives of its seats, and then what its room keeps.

#include <array>
#include <cstddef>
#include <cstdint>

namespace pmemcpy::members {

inline constexpr std::uint64_t file_magic = 0x31657261'68736d70ULL;  // "pmshare1"
inline constexpr std::uint64_t seat_count = 1024;

/// What a file is for.
enum class Kind : std::uint32_t { buckets = 1, messages = 2 };

/// Of the format of such a file.
constexpr std::uint32_t version_of(Kind kind) { return kind == Kind::buckets ? 2 : 1; }

struct Header {
    std::uint64_t magic;
    std::uint32_t version;
    Kind kind;
    std::uint64_t file_bytes;
    std::array<std::uint64_t, 4> shape;  // the room's own numbers, from which all its offsets follow
    std::uint32_t unused;
    std::uint32_t checksum;  // CRC-32C of the bytes before it
};
static_assert(sizeof(Header) == 64);
static_assert(offsetof(Header, checksum) == 60);

// Behind the header, at `lives_offset`: of each seat how often it was taken, 64 bits each.
inline constexpr std::uint64_t lives_offset = 4096;
inline constexpr std::uint64_t body_offset = lives_offset + seat_count * sizeof(std::uint64_t);
static_assert(body_offset % 4096 == 0);

// The byte of the file that stands for the lock on seat 0; those of the others follow. Nothing is ever stored there.
inline constexpr std::uint64_t first_seat_byte = 1ULL << 62;

}  // namespace pmemcpy::members
