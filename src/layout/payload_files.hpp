#pragma once

#include "heap/heap.hpp"
#include "layout/mapping_cache.hpp"
#include "os/file.hpp"
#include "os/fork.hpp"
#include "shares/share.hpp"

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

namespace pmemcpy::layout {

class Inventory;

/// Whose files they are.
struct Seat {
    std::uint32_t target = 1;  // that extents name
    std::optional<std::uint64_t>
        capacity_bytes{};  // of a target below the pool; else files and pool share the pool's maximum
    std::string name{};    // that users have given the target
    const shares::Share* share = nullptr;  // of a target that other pools may use too
    bool is_read_only = false;             // even where the pool is not
    bool is_below() const { return capacity_bytes.has_value(); }
};

/// Copies of blocks lie among the files of a target under numbers with this bit, and below it the version of the block.
inline constexpr std::uint64_t copy_bit = std::uint64_t{1} << 63;
inline bool is_copy(std::uint64_t number) { return (number & copy_bit) != 0; }

/// What tells a copy of this very block from one of another that had its version before a power loss.
struct CopyMark {
    std::uint64_t version = 0;
    std::uint64_t bytes = 0;
    std::uint64_t written_ns = 0;
    std::uint32_t crc = 0;
    bool has_crc = false;
};

/// Whether the file of that name in a target's directory is a copy with this mark. Errors: io_error.
bool is_copy_with(const CopyMark& mark, const os::File& directory, const std::string& name);

/// Extents that are files of their own in a directory, named by a number that the pool never gives twice.
class PayloadFiles {
public:
    static constexpr std::size_t most_mappings = 1024;

    /// `data` stays open elsewhere as long as this lives.
    PayloadFiles(heap::Heap& heap, const os::File& data, Seat seat = {});

    heap::Extent allocate(std::uint64_t length);
    /// data is null when the file is gone. Errors: no_space (and no file is left then), io_error.
    heap::Bytes map(const heap::Extent& extent, bool create);
    void shrink(heap::Extent& extent, std::uint64_t length);
    /// The bytes of an extent and the name of its file are on the medium when this returns. Errors: io_error.
    void settle(const heap::Extent& extent);
    /// Never throws: what cannot be removed is removed by the next recovery.
    void free(const heap::Extent& extent);
    /// Removes all files but those of `extents`, and those with numbers that were drawn since: `from` and higher.
    void keep_only(const std::vector<heap::Extent>& extents, std::uint64_t from = ~std::uint64_t{0});

    // copies.cpp
    /// What to do when somebody else is making the same copy. Two that do halve the target's bandwidth for each; but who waits is as slow as
    /// the other, who may be told to take his time.
    enum class IfBusy : std::uint8_t { wait, leave, copy_too };
    /// Copies a block's bytes into a file of its own, which appears when it is durable and whole. `written` is called with the bytes of
    /// each piece; false gives up. Each call writes so many bytes, and begins at a multiple of them. True if there is a copy now, whoever
    /// made it.
    /// Errors: no_space, io_error; corrupt when the bytes have another checksum than the mark.
    bool make_copy(const CopyMark& mark, const std::byte* from,
                   const std::function<bool(std::uint64_t)>& written, IfBusy if_busy,
                   std::size_t write_bytes);
    bool has_copy(const CopyMark& mark) const;
    /// Of which versions there are copies, going by their names.
    std::vector<std::uint64_t> copies() const;
    void remove_copy(std::uint64_t version);
    // inventory.cpp: below the pool, a file that the target's inventory may name is not removed when the pool does not need it
    // any more, but kept under another name until there is a newer inventory.
    /// Files with numbers below this one: of copies, the version counts. All, while somebody looks what there is for a new one.
    void keep_below(std::uint64_t number);
    static constexpr std::uint64_t is_being_made = ~std::uint64_t{0};
    /// The newest that this pool has put there. One that lies there of a history which was given up, when a backup of the pool was put
    /// back, is none.
    std::optional<Inventory> inventory() const;
    /// Removes what is kept and has none of these numbers.
    void drop_kept(const std::unordered_set<std::uint64_t>& numbers);
    bool has_kept() const;
    /// No more inventories: everything that is kept for one goes with them.
    void forget_inventories();
    const os::File& directory() const { return data_; }
    bool needs_sync() const { return needs_sync_; }

    /// What killed processes have left of copies.
    void remove_torn_copies();
    /// What they have left of readable names that they were changing.
    void sweep_passing() const;

    const Seat& seat() const { return seat_; }
    /// Everything stored by anybody is on the medium when this returns: for Pool::sync.
    void make_durable();
    /// Throws no_space unless the pool with its payloads can become `bytes` large.
    void check_room(std::uint64_t bytes) const;
    /// Of a target below the pool: so many bytes are this attachment's alone from here on, until it has taken them (pool::Pool::reserved).
    /// Errors: no_space, and then none are reserved.
    void keep_free(std::uint64_t bytes);
    /// Bytes in all payload files.
    std::uint64_t used_bytes() const { return used_bytes(word_); }
    /// By the word that counts them, which may be below nothing for a moment: see release().
    static std::uint64_t used_bytes(const std::uint64_t* word);
    /// These, and what is reserved.
    std::uint64_t claimed_bytes() const;
    /// Tells other pools what this one uses of a directory that they share.
    void tell_used() const;
    /// True, once, after readable names may lead to payloads that are not theirs any more.
    bool take_names_are_stale() { return names_are_stale_.exchange(false); }

private:
    os::File make(const heap::Extent& extent);
    std::optional<os::File> create(const std::string& name);
    struct BegunCopy {
        os::File file;
        os::ClosedInChild in_child;
    };
    std::optional<BegunCopy> begin_copy(const std::string& name, std::optional<os::File>& of_another);
    void check_headroom(std::uint64_t bytes) const;
    void make_headroom(std::uint64_t bytes);
    bool give_up(std::uint64_t number, const std::string& name);
    std::uint64_t inventoried() const;
    void reserve(std::uint64_t bytes);
    void release(std::uint64_t bytes);
    std::uint64_t subtract(std::uint64_t bytes) const;
    void allocate(os::File& file, std::uint64_t bytes) const;
    void count_anew(std::uint64_t own_uncounted = 0);
    std::uint64_t count() const;
    static bool is_torn_copy(const std::string& name);
    bool has_room() const;
    bool has_room_beside(std::uint64_t chunks) const;
    [[noreturn]] void throw_full(std::uint64_t bytes) const;
    bool part_has_room(std::uint64_t bytes) const;
    [[noreturn]] void throw_part_full(std::uint64_t bytes) const;
    std::string reserved_text() const;
    std::string stopped_text() const;
    std::optional<os::File> open(const heap::Extent& extent) const;
    std::optional<os::File> hold(const std::string& name) const;
    void forget_removed();

    heap::Heap& heap_;
    const os::File& data_;
    Seat seat_;
    std::uint64_t* word_;  // in the state page: bytes in the files
    bool needs_sync_;
    persist::Ways ways_;
    MappingCache cache_{most_mappings};
    std::atomic<bool> names_are_stale_{false};
};

}  // namespace pmemcpy::layout
