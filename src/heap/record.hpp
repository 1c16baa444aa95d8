#pragma once

#include "heap/format.hpp"
#include "pool/pool.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace pmemcpy::heap {

/// Whose a unit of a metadata slab is. Free and owned change by CAS alone, so a unit never has two owners.
struct UnitState {
    enum Kind : std::uint64_t { free = 0, owned = 1, retired = 2 };
    std::uint64_t word = 0;

    static constexpr UnitState make(Kind kind, std::uint64_t owner, std::uint64_t epoch = 0) {
        return {kind | (owner << 2) | (epoch << 31)};
    }
    constexpr Kind kind() const { return static_cast<Kind>(word & 3); }
    constexpr std::uint64_t owner() const { return (word >> 2) & ((1ULL << 29) - 1); }
    constexpr std::uint64_t epoch() const { return word >> 31; }
};

/// Whether a record with this header can lie in so much room.
bool has_sane_length(const RecordHeader& header, std::uint64_t room);

/// The checksum of the immutable part of a record, whose length has been checked. It holds at `offset` only: a copy of a
/// record among somebody's data is none.
std::uint32_t checksum_of(const RecordHeader& header, std::uint64_t offset);

/// Fills in version, checksum and magic of the record at `offset`, whose other bytes are in place, and makes it durable.
/// Ends with the fence that lets a link to it be published.
void seal(pool::Pool& pool, std::uint64_t offset, std::uint64_t version);

/// Whether `link` leads to a place where a record of at least a header can be.
bool is_plausible(const pool::Pool& pool, Link link);

/// Whether the record that `link` names is still there, and all of it in its chunk, as far as its first line tells. No
/// checksum.
bool is_current(const pool::Pool& pool, Link link, persist::LookSite site = persist::LookSite::current());

/// A record as it was seen. Its place may be another's later, whose link is the same once in 2^23 times: the version never is.
struct Seen {
    Link link;
    std::uint64_t version = 0;
};
bool is_current(const pool::Pool& pool, const Seen& seen,
                persist::LookSite site = persist::LookSite::current());
bool is_current_unguarded(const pool::Pool& pool, const Seen& seen);
bool is_still_current(const pool::Pool& pool, const Seen& seen,
                      persist::LookSite site = persist::LookSite::current());

/// The second look (law 13): whether all that was read of the record since it was found current was the record's own. What has been read
/// may be acted on only after it, and only by an exchange that expects what was read.
bool is_still_current(const pool::Pool& pool, Link link,
                      persist::LookSite site = persist::LookSite::current());

/// The same inside a guard, or where the record has been read just now: memory that is gone is a signal here.
bool is_current_unguarded(const pool::Pool& pool, Link link);

/// Also that it is of this kind and has at least so many bytes.
bool is_current_unguarded(const pool::Pool& pool, Link link, RecordKind kind, std::size_t bytes);

/// Whether the record that was current when more of it was read has not been freed meanwhile. For a place that has been looked at: one
/// that never was a record is a signal here.
#if defined(__SANITIZE_THREAD__)
__attribute__((no_sanitize("thread"), noinline))
#endif
inline bool
is_still_current_unguarded(const pool::Pool& pool, Link link,
                           persist::LookSite site = persist::LookSite::current()) {
    if (persist::is_left_out(site)) return true;
    // What was read of the record, by plain loads too, was read before this look.
    std::atomic_thread_fence(std::memory_order_acquire);
    const volatile auto& there = pool.as<RecordHeader>(link.offset());
    return there.magic == record_magic && (there.version & Link::tag_mask) == link.tag();
}

/// What a reader has copied of a record. Most are short and need no memory from the free store.
class RecordCopy {
public:
    // Of the bytes only those that were read are set, and copied.
    RecordCopy() {}  // NOLINT(modernize-use-equals-default)
    RecordCopy(RecordCopy&& other) noexcept { *this = std::move(other); }
    RecordCopy& operator=(RecordCopy&& other) noexcept {
        size_ = other.size_;
        if (size_ <= here_.size()) std::memcpy(here_.data(), other.here_.data(), size_);
        elsewhere_ = std::move(other.elsewhere_);
        return *this;
    }
    const std::byte* data() const { return size_ <= here_.size() ? here_.data() : elsewhere_.data(); }
    std::size_t size() const { return size_; }

private:
    friend bool read_record(const pool::Pool& pool, Link link, RecordKind kind, RecordCopy& out);
    const RecordHeader& header() const { return *reinterpret_cast<const RecordHeader*>(data()); }

    alignas(RecordHeader) std::array<std::byte, 768> here_;
    std::vector<std::byte> elsewhere_;
    std::size_t size_ = 0;
};

/// Copies a record that others may free and reuse meanwhile. False if it is not, or no longer, the one that `link` names, or
/// its checksum does not hold.
bool read_record(const pool::Pool& pool, Link link, RecordKind kind, RecordCopy& out);

/// Copies bytes that another process may be writing: no torn word, no data race that a tool could report.
void racy_copy(void* to, const void* from, std::size_t bytes);

/// Whether there is a whole record of at most `room` bytes at `offset`.
bool is_whole(const pool::Pool& pool, std::uint64_t offset, std::uint64_t room);

/// Whether there is one that Heap::hide keeps from scans.
bool is_hidden(const pool::Pool& pool, std::uint64_t offset, std::uint64_t room);
constexpr std::uint32_t hidden_checksum(std::uint32_t checksum) { return ~checksum; }

}  // namespace pmemcpy::heap
