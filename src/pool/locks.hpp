#pragma once

#include <cstdint>

namespace pmemcpy::pool {

// Bytes of the pool file, and of its .rt, that stand for locks; see attach.cpp.
inline constexpr std::uint64_t attach_byte = 1ULL << 62;
inline constexpr std::uint64_t detach_byte = attach_byte + 1;
inline constexpr std::uint64_t name_byte = attach_byte + 2;
inline constexpr std::uint64_t sync_byte = attach_byte + 3;
inline constexpr std::uint64_t step_byte = attach_byte + 4;
inline constexpr std::uint64_t news_byte = attach_byte + 5;
inline constexpr std::uint64_t feed_byte = attach_byte + 6;
inline constexpr std::uint64_t scope_byte = attach_byte + 7;
inline constexpr std::uint64_t hierarchy_byte = attach_byte + 9;
inline constexpr std::uint64_t copies_byte = attach_byte + 10;
inline constexpr std::uint64_t lead_byte = attach_byte + 11;
inline constexpr std::uint64_t organizer_byte = attach_byte + 12;
inline constexpr std::uint64_t inventory_byte = attach_byte + 13;
inline constexpr std::uint64_t hand_over_byte = attach_byte + 14;
inline constexpr std::uint64_t index_byte = attach_byte + 16;
inline constexpr std::uint64_t space_byte = attach_byte + 17;
inline constexpr std::uint64_t group_byte = attach_byte + 18;
inline constexpr std::uint64_t room_byte = attach_byte + 32;  // and those of the other levels behind it
inline constexpr std::uint64_t registry_byte = attach_byte + 15;
// Of these each stands for some of the variables that are operated on.
inline constexpr std::uint64_t operation_bytes = attach_byte + (1ULL << 32);
inline constexpr std::uint64_t operation_byte_count = 1ULL << 20;
// The same of blocks that are on their way to another target.
inline constexpr std::uint64_t transit_bytes = attach_byte + (2ULL << 32);
inline constexpr std::uint64_t transit_byte_count = 1ULL << 20;

}  // namespace pmemcpy::pool
