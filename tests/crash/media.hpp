#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "recorder.hpp"
#include "simulated_kernel.hpp"

namespace pmemcpy::crash {

/// The bytes that a recovery is let loose on. Between two images they are those that the medium holds for certain.
class Image {
public:
    /// `live` is the simulated pool; `certain` is what it is to hold.
    Image(std::span<std::byte> live, std::vector<std::byte> certain);

    /// The medium has taken these bytes for good.
    void commit(std::uint64_t offset, std::span<const std::byte> bytes);
    /// These bytes happen to be there in this image.
    void put(std::uint64_t offset, std::span<const std::byte> bytes);
    /// Somebody, such as a recovery, has written there.
    void touched(std::uint64_t offset, std::uint64_t size);
    void restore();
    /// Whether the live bytes are the certain ones: false after restore() if a store went past the trace hook.
    bool is_restored() const;
    const std::vector<std::byte>& certain() const { return certain_; }
    std::span<std::byte> live() const { return live_; }

private:
    static constexpr std::uint64_t page = 4096;
    std::span<std::byte> live_;
    std::vector<std::byte> certain_;
    std::bitset<SimulatedKernel::most_pool_bytes / page> dirty_;
};

/// What a medium may hold at each moment of a recording: the certain bytes, and for each granule (a cache line, or a
/// page of the page cache) the stores that may have reached it, of which any prefix has.
class Media {
public:
    struct Store {
        std::uint32_t offset;
        std::uint32_t size;
        std::uint32_t data;
    };
    struct Granule {
        std::vector<Store> stores;
        // Hashes of what it holds after the oldest 0, 1, ... of the stores.
        std::vector<std::uint64_t> contents;
        std::vector<std::byte> newest;  // what it holds after all of them
        std::size_t flushed = 0;        // this many are certain after the next fence
        std::size_t punched =
            0;  // this many are certain after the next sync: the last of them is a hole's zeros
        std::size_t operation = 0;
        /// The fewest stores after which it holds the same as after the oldest so many.
        std::size_t fewest_like(std::size_t stores_arrived) const;
    };
    using Pending = std::map<std::uint32_t, Granule>;
    using Allocation = SimulatedKernel::Allocation;

    /// `allocation`: what the file system had promised when the recording began.
    Media(Model model, Image& image, const Recording& recording, const Allocation& allocation);

    /// Takes the next event. Returns the granules in which new images have become possible.
    std::vector<std::uint32_t> apply(const Event& event);
    const Pending& pending() const { return pending_; }
    /// A file system journals what it promises and takes back: after a crash the first `changes` of these have happened.
    std::size_t pending_changes() const { return journal_.size(); }
    Allocation allocation_after(std::size_t changes) const;
    std::span<const std::byte> bytes_of(const Store& store) const {
        const std::size_t recorded = recording_.bytes.size();
        return store.data < recorded ? std::span(recording_.bytes).subspan(store.data, store.size)
                                     : std::span(merged_).subspan(store.data - recorded, store.size);
    }

private:
    bool add(std::uint32_t number, const Store& store, Event::Kind kind);
    void commit(Pending::iterator granule, std::size_t stores);
    void merge_oldest(std::uint32_t number, Granule& granule);

    Model model_;
    std::uint32_t granule_bytes_;
    Image& image_;
    const Recording& recording_;
    Pending pending_;
    std::vector<Event> journal_;     // allocate and punch, since the last sync
    Allocation allocation_;          // durable
    std::vector<std::byte> merged_;  // bytes of stores that stand for many
    std::size_t operation_ = 0;
};

}  // namespace pmemcpy::crash
