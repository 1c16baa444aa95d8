#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <pmemcpy/durability.hpp>

#include "os/file.hpp"
#include "persist/flush.hpp"
#include "persist/late_reader.hpp"
#include "persist/trace.hpp"

namespace pmemcpy::persist {

/// The only way to write persistent metadata: plain stores, published words, flushes and fences, each of
/// which a trace build sees. Knows what its medium needs, and is copied freely.
class Medium {
public:
    /// `failed`: gets 1 when a sync fails.
    constexpr explicit Medium(Durability durability, std::uint64_t* failed = nullptr) noexcept
        : durability_(durability), failed_(failed) {}

    constexpr Durability durability() const noexcept { return durability_; }
    /// Whether flush() does anything here: only where a line is durable once flushed.
    constexpr bool flushes() const noexcept { return durability_ == Durability::line; }

    /// Plain cached stores, seen by others only after a later store() or exchange. [destination, +size) is
    /// ours.
    void write(void* destination, const void* source, std::size_t size, Site site = Site::current()) const {
        [[maybe_unused]] const WritesUnderLateReaders late;
        std::memcpy(destination, source, size);
        trace_store(destination, size, site);
    }
    /// Somebody else, such as a serializer, has written there with plain stores.
    void written(const void* destination, std::size_t size, Site site = Site::current()) const {
        trace_store(destination, size, site);
    }
    void fill(void* destination, int byte, std::size_t size, Site site = Site::current()) const {
        [[maybe_unused]] const WritesUnderLateReaders late;
        std::memset(destination, byte, size);
        trace_store(destination, size, site);
    }

    /// One 8-byte store (release): what was written before is seen by whoever load()s the word. Not what was
    /// stored non-temporally: fence() comes first then.
    void store(std::uint64_t* word, std::uint64_t value, Site site = Site::current()) const {
        std::atomic_ref(*word).store(value, std::memory_order_release);
        trace_store(word, sizeof *word, site);
    }
    /// Puts `desired` if the word is `expected`, else puts the word into `expected` and says false. Never
    /// spurious. Whoever comes late, when the word's record was freed and its place is another's, finds another tag and writes
    /// nothing (law 4).
    [[nodiscard]] bool compare_exchange(std::uint64_t* word, std::uint64_t& expected, std::uint64_t desired,
                                        Site site = Site::current()) const {
        [[maybe_unused]] const ExchangesThatMayFail late;
        const bool exchanged = std::atomic_ref(*word).compare_exchange_strong(expected, desired);
        if (exchanged) trace_store(word, sizeof *word, site);
        return exchanged;
    }
    /// Each gives the value before.
    std::uint64_t fetch_add(std::uint64_t* word, std::uint64_t value, Site site = Site::current()) const {
        const std::uint64_t before = std::atomic_ref(*word).fetch_add(value);
        trace_store(word, sizeof *word, site);
        return before;
    }
    std::uint64_t fetch_and(std::uint64_t* word, std::uint64_t value, Site site = Site::current()) const {
        const std::uint64_t before = std::atomic_ref(*word).fetch_and(value);
        trace_store(word, sizeof *word, site);
        return before;
    }
    std::uint64_t fetch_or(std::uint64_t* word, std::uint64_t value, Site site = Site::current()) const {
        const std::uint64_t before = std::atomic_ref(*word).fetch_or(value);
        trace_store(word, sizeof *word, site);
        return before;
    }
    /// One 8-byte load (acquire); the word may lie in a read-only mapping.
    static std::uint64_t load(const std::uint64_t* word) noexcept {
        return std::atomic_ref(*const_cast<std::uint64_t*>(word)).load(std::memory_order_acquire);
    }

    /// Starts the write-back of every line that [bytes, bytes + size) touches, where that makes them durable.
    /// The trace sees it on every medium, so that one recording serves all.
    void flush(const void* bytes, std::size_t size, Site site = Site::current()) const {
        if (!site_enabled(Operation::flush, site)) return;
        if (flushes()) flush_lines(bytes, size);
        trace_flush(bytes, size, site);
    }
    /// Everything stored, streamed or flushed before comes before everything after, for other processes and
    /// for the medium. On every medium: without it a reader sees torn non-temporal stores (law 2).
    void fence(Site site = Site::current()) const {
        if (!site_enabled(Operation::fence, site)) return;
        store_fence();
        trace_fence(site);
    }
    void persist(const void* bytes, std::size_t size, Site site = Site::current()) const {
        flush(bytes, size, site);
        fence(site);
    }
    /// What was stored in the pages of `file` survives power loss when this returns: for media where nothing else makes
    /// it so. Throws io_error when the device refuses; the kernel may say so only once, and a second try that it calls a
    /// success proves nothing, so the pool has to remember it.
    void sync(os::File& file, Site site = Site::current()) const {
        if (!site_enabled(Operation::sync, site)) return;
        try {
            file.sync_data();
        } catch (...) {
            if (failed_ != nullptr) store(failed_, 1);
            throw;
        }
        trace_sync(site);
    }

private:
    Durability durability_;
    std::uint64_t* failed_;
};

}  // namespace pmemcpy::persist
