#pragma once

#include "heap/heap.hpp"
#include "layout/mapping_cache.hpp"
#include "os/file.hpp"

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pmemcpy::layout {

/// Extents that are files of their own in `.data`, named by a number that the pool never gives twice.
class PayloadFiles final : public heap::Outside {
public:
    static constexpr std::uint32_t target = 1;
    static constexpr std::size_t most_mappings = 1024;

    /// `data` stays open elsewhere as long as this lives.
    PayloadFiles(heap::Heap& heap, const os::File& data) : heap_(heap), data_(data) {}

    heap::Extent allocate(std::uint64_t length) override;
    /// Errors: no_space (and no file is left then), io_error.
    heap::Bytes map(const heap::Extent& extent, bool create) override;
    void shrink(heap::Extent& extent, std::uint64_t length) override;
    /// Never throws: what cannot be removed is removed by the next recovery.
    void free(const heap::Extent& extent) override;
    void keep_only(const std::vector<heap::Extent>& extents) override;

    /// Everything stored by anybody is on the medium when this returns: for Pool::sync.
    void make_durable();
    /// Throws no_space unless the pool with its payloads can become `bytes` large.
    void check_room(std::uint64_t bytes) const;
    /// Bytes in all payload files.
    std::uint64_t used_bytes() const;
    /// True, once, after readable names may lead to payloads that are not theirs any more.
    bool take_names_are_stale() { return names_are_stale_.exchange(false); }

private:
    os::File make(const heap::Extent& extent);
    void check_headroom(std::uint64_t bytes) const;
    void reserve(std::uint64_t bytes);
    void release(std::uint64_t bytes);
    void count_anew();
    bool has_room_beside(std::uint64_t chunks) const;
    std::uint64_t count_taken_chunks() const;
    std::optional<os::File> open(const heap::Extent& extent) const;
    void forget_removed();

    heap::Heap& heap_;
    const os::File& data_;
    persist::Ways ways_;
    MappingCache cache_{most_mappings};
    std::atomic<bool> names_are_stale_{false};
};

}  // namespace pmemcpy::layout
