#pragma once

// <pool>.rt: what only matters while somebody is attached. It is reset under the exclusive lock on the
// pool, never synced, and worthless after the last process has gone.

#include "base/checked.hpp"
#include "os/file.hpp"
#include "os/map.hpp"
#include "pool/beside.hpp"
#include "pool/format.hpp"
#include "pool/locks.hpp"

#include <array>
#include <cstdint>
#include <string>

namespace pmemcpy::pool {

inline constexpr std::uint64_t slot_count = 4096;
inline constexpr std::uint64_t pins_per_slot = 448;
inline constexpr std::uint64_t reservable_targets = 16;

/// What a process is in the middle of; whoever finds it dead finishes it.
enum class Intent : std::uint64_t {
    none = 0,
    unlink = 1,  // step_a: offset of the word that is being emptied
    replace =
        2,  // step_a: Link of the record that replaces another, step_b: of that other, step_c: of the newest of the
            // versions before that, which go with it, or 0
    erase = 3,   // intent_a: Link of the entry
    rename = 4,  // intent_a: Link of the entry, intent_b: Link of its new name
};

/// One attached process. Its owner holds an OFD write lock on the slot's first byte, which the kernel drops
/// at death; so `attached` without the lock means a dead process that nobody has cleaned up after. Who cleans up, or
/// takes the slot for himself, holds a lock on the second byte meanwhile: so the dead look dead until nothing of
/// theirs is left, also while somebody is at it.
struct Slot {
    std::uint64_t attached;
    std::uint64_t incarnation;  // counts the owners of this slot; 16 bits of it tag chunks and records
    std::uint64_t retire_head;  // Link: records this process has unpublished and not yet freed
    std::uint64_t freeing;      // Link: the record just taken off that list, until it is free
    std::uint64_t step_intent;  // an Intent of one store: unlink or replace
    std::uint64_t step_a;
    std::uint64_t step_b;
    std::uint64_t intent;  // an Intent of a whole verb: erase or rename
    std::uint64_t intent_a;
    std::uint64_t intent_b;
    std::uint64_t pin_count;  // 0: no pin need be looked at
    std::uint64_t pid;        // for people; means nothing to the library
    std::uint64_t rank;
    std::uint64_t
        expects;  // Link: the record that its owner's exchange is about to take out of a word; 0: none
    std::uint64_t claiming;  // Link: the record that is being retired, until it is in the list
    std::uint64_t step;      // the newest that its owner has begun, unless it has committed it; 0: none
    std::uint64_t
        is_done;  // 1: its owner stores nothing more of his own: he is closing, or works in the background
    std::array<std::uint64_t, reservable_targets>
        reserved;  // by target: bytes that only its owner may take from what is free
    std::uint64_t step_c;
    Holder heir;                           // the process that cleans up after this slot's dead owner
    std::uint64_t uncounted;               // see Pool::Uncounted: how many there are
    std::array<std::uint64_t, 2> placing;  // see Pool::Placing: how many there are, by the hierarchy's word
    std::uint64_t attached_ns;
    std::array<std::uint64_t, 23> unused;
    std::array<std::uint64_t, pins_per_slot> pins;  // Links of pinned blocks, 0: free
};
static_assert(sizeof(Slot) == 4096);

/// What is said of a lock beside it, which is the kernel's.
struct LockNote {
    Holder holder;
    std::uint32_t is_wanted;  // 1: a process sleeps on this word until the lock is let go
    std::uint32_t unused;
};
inline constexpr std::uint64_t noted_locks = 48;  // by their bytes behind attach_byte

struct RuntimeHeader {
    std::uint64_t valid;  // runtime_valid once everything else is set up
    std::array<std::uint8_t, 16> uuid;
    std::uint64_t slots_used;  // no slot at or above this was ever attached in this session
    std::uint64_t boot;        // os::boot_id() of the process that set `valid`
    alignas(64) std::uint64_t sync_started;
    alignas(64) std::uint64_t sync_completed;
    alignas(64) std::uint64_t scavenges;  // times that somebody has cleaned up after a dead owner
    std::uint64_t group_erasures;         // odd while one is going on, or its process has died in it
    std::uint64_t began_at;      // the version that would have been drawn next when this session began
    std::uint64_t reservations;  // times that somebody has reserved space in this session
    std::uint64_t renaming;      // Link: the entry that a process renames, which holds the name lock; 0: none
    std::array<LockNote, noted_locks> locks;
    alignas(64) std::uint64_t uncounted;  // times that somebody has begun to be: see Pool::Uncounted
    std::uint64_t left_off;  // the version that would have been drawn next when the session before ended
};
static_assert(sizeof(RuntimeHeader) <= page_bytes);
// Another one when processes of an older release could not share a session: the last time when exchanges came to say what they expect.
inline constexpr std::uint64_t runtime_valid = 0x2e72742d6c697635ULL;
inline constexpr std::uint64_t runtime_bytes = page_bytes + slot_count * sizeof(Slot);
// Whole huge pages, as hugetlbfs wants it; elsewhere what nobody touches takes no space.
inline constexpr std::uint64_t runtime_file_bytes = base::align_up(runtime_bytes, os::huge_page_bytes);

/// Whether a file is one, of any release, or the beginning of one.
bool is_runtime_file(const os::File& file);

/// The mapped run-time file of a writer.
class Runtime {
public:
    /// Opens `<pool>.rt`. Who is the first, alone in the pool, takes any, makes one if there is none, and sees to it that those can open it
    /// who may write the pool, and no others. To all others another file than the one with this inode is `busy`.
    /// Errors: no_space; permission_denied for a file that does not let this user in, or is not the pool's.
    static Runtime open(const os::File& pool, std::uint64_t expected_inode, bool is_first);

    /// Empties the file for a new session, and vouches for it once all is set up (law 7: the mark is last). Its header and slot 0 have
    /// their space then. Only under the exclusive lock on the pool.
    /// Errors: no_space.
    void reset();
    /// Whether a living process has a slot in it, or what is in one.
    bool has_owners() const;
    /// Space for slot `i`, before anything in it is read or written. Slots below `slots_used` have theirs. Errors: no_space.
    void allocate_slot(std::uint64_t i);
    void validate(const std::array<std::uint8_t, 16>& uuid);

    bool is_valid(const std::array<std::uint8_t, 16>& uuid) const;
    std::uint64_t inode() const { return inode_; }

    RuntimeHeader& header() const { return *reinterpret_cast<RuntimeHeader*>(map_.base()); }
    Slot& slot(std::uint64_t i) const {
        return *reinterpret_cast<Slot*>(map_.base() + page_bytes + i * sizeof(Slot));
    }
    LockNote& note_of(std::uint64_t byte) const { return header().locks.at(byte - attach_byte); }
    os::File& file() { return file_; }
    const os::File& file() const { return file_; }

    /// Whether slot `i`, not this process's own, was left by one that died: attached, and its owner's lock is free.
    /// It stays so for as long as the caller holds the lock on what the dead one has left.
    bool is_dead(std::uint64_t i) const;
    static std::uint64_t owner_byte(std::uint64_t i) { return page_bytes + i * sizeof(Slot); }
    static std::uint64_t estate_byte(std::uint64_t i) { return owner_byte(i) + 1; }

private:
    Runtime(os::File file, os::Mapping map);
    bool is_of_this_boot() const;
    void allocate(std::uint64_t offset, std::uint64_t bytes);

    os::File file_;
    os::Mapping map_;
    std::uint64_t inode_;
    os::FileSystem kind_;
};

}  // namespace pmemcpy::pool
