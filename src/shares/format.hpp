#pragma once

// The ledger of a directory: 16 KiB, mapped by whoever has a pool with a target there. No word depends on another one, and whatever stands in
// one is some state in which all go on: so nothing is locked, and nothing is recovered.

#include <array>
#include <cstddef>
#include <cstdint>

namespace pmemcpy::shares {

inline constexpr std::uint64_t ledger_magic = 0x31726764656c6d70ULL;  // "pmledgr1"
inline constexpr std::size_t slot_count = 255;

inline constexpr std::uint64_t flag_scratch = 1;  // blocks may lie here that are to go when the job ends

/// What is known of one pool.
struct alignas(64) Slot {
    std::uint64_t pool;             // the first 8 bytes of its identity; 0: nobody's
    std::uint64_t share;            // its weight
    std::uint64_t together_bytes;   // that all may use, as its hierarchy says; 0: it says nothing
    std::uint64_t used_bytes;       // of its blocks and copies here, as it counts them itself
    std::uint64_t needs_until_ns;   // it found no room in its part; of the monotonic clock, as all times here
    std::uint64_t writes_until_ns;  // it has something to write; until then, if it does not say so again
    std::uint64_t served_bytes;     // its virtual time: bytes that it wrote, over its share
    std::uint64_t flags;
};
static_assert(sizeof(Slot) == 64);

struct LedgerFile {
    std::uint64_t magic;
    std::uint64_t slots_taken;  // so many, from the first on, were ever somebody's
    std::uint64_t
        served_bytes;  // virtual time of the directory: of all that write at once the least; never falls
    std::array<std::uint64_t, 5> unused;
    std::array<Slot, slot_count> slots;
};
static_assert(offsetof(LedgerFile, slots) == 64);
static_assert(sizeof(LedgerFile) == 16384);

// The byte of the file that stands for slot 0; those of the others follow. Whoever has a pool open for writing shares the lock on its slot's byte,
// and the kernel drops it when he dies. Nothing is ever stored there.
inline constexpr std::uint64_t first_slot_byte = 1ULL << 62;

}  // namespace pmemcpy::shares
