#pragma once

#include <cstddef>
#include <cstdint>
#include <pmemcpy/messages.hpp>

#include "members/bell.hpp"
#include "members/format.hpp"

namespace pmemcpy::messages {

// Shape of a file of messages: {capacity, priorities, 0, 0}. Behind the seats: the bells; of each priority its ends; the rings; the bits of the
// nodes that are free; the nodes.

inline constexpr std::uint64_t most_messages = 1ULL << 20;
inline constexpr std::uint64_t most_priorities = 16;

/// What may be a node's state, in its word. "Whose" is the word's owner.
enum class NodeState : std::uint8_t {
    free = 0,
    filling = 1,    // is being pushed, or was: its slot tells
    queued = 2,     // was pushed, and whoever did it has gone, or gave it back; nobody's
    claimed = 3,    // was taken out of the ring, or is about to be
    returning = 4,  // was claimed, and is being pushed once more
};

/// Where a message lies from push to acknowledgement.
struct Node {
    std::uint64_t word;        // members::Word
    std::uint64_t aim;         // priority << 56 | the position it is being pushed to, or was
    std::uint64_t deliveries;  // how often it was claimed
    std::uint64_t unused[5];
    Message message;
};
static_assert(sizeof(Node) == 128 && offsetof(Node, message) == 64);

struct alignas(64) Ends {
    alignas(64) std::uint64_t head;  // position of the oldest, or before it
    alignas(64) std::uint64_t tail;  // behind the newest, or before that
};
static_assert(sizeof(Ends) == 128);

struct Bells {
    alignas(64) members::BellWords news;  // something was pushed
    alignas(64) members::BellWords room;  // something was taken out
};
static_assert(sizeof(Bells) == 128);

/// A slot of a ring: (node + 1) << 40 | position, or 0 << 40 | position while it waits for the message of that position. Positions count on for
/// ever, a slot's by the ring's length; 40 bits of them are kept, so a slot is the same again after a million million messages.
inline constexpr unsigned position_bits = 40;
inline constexpr std::uint64_t position_mask = (std::uint64_t{1} << position_bits) - 1;

struct Layout {
    std::uint64_t capacity = 0;
    std::uint64_t priorities = 0;
    std::uint64_t ring_slots =
        0;  // of each priority: a power of two, more than there are nodes, so that a ring is never full
    std::uint64_t bells = members::body_offset;
    std::uint64_t ends = 0;
    std::uint64_t rings = 0;
    std::uint64_t hints = 0;
    std::uint64_t nodes = 0;
    std::uint64_t file_bytes = 0;
};

/// Errors: invalid_argument for numbers that no file has.
Layout lay_out(std::uint64_t capacity, std::uint64_t priorities);

}  // namespace pmemcpy::messages
