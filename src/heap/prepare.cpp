#include "heap/heap.hpp"

#include "base/checked.hpp"

#include <algorithm>

namespace pmemcpy::heap {

using persist::Medium;

// Freed chunks stay allocated and huge; so what is prepared once stays fast for every later process.
void Heap::prepare(std::uint64_t bytes) {
    const std::uint64_t chunk_bytes = pool_.super().chunk_bytes;
    const std::uint64_t wanted = (bytes + chunk_bytes - 1) / chunk_bytes;
    {
        const pool::Pool::AllocationLock lock(pool_);
        const std::uint64_t usable = pool_.usable_chunks();
        if (wanted > usable) pool_.grow(wanted - usable);
    }
    const std::uint64_t end = base::align_down(pool_.chunk_offset(pool_.usable_chunks()), os::huge_page_bytes);
    if (end == 0 || pool_.mapping().collapse(0, end)) return;
    pool_.mapping().populate(0, end);  // no huge pages here: at least no fault is left for the first store
}

std::uint64_t Heap::trim() {
    const pool::Pool::AllocationLock lock(pool_);
    const std::uint64_t chunk_bytes = pool_.super().chunk_bytes;
    const std::uint64_t usable = pool_.usable_chunks();
    std::uint64_t first_free = usable;
    while (first_free > 0 && ChunkWord{chunk(first_free - 1).word}.kind() == ChunkKind::free) --first_free;
    first_free = std::max<std::uint64_t>(first_free, 1);
    if (first_free >= usable || pool_.probe().is_devdax) return 0;
    // Said before it is done: nobody reads or allocates there any more when the space goes.
    pool_.medium().store(&pool_.state().usable_chunks.value, first_free);
    pool_.medium().persist(&pool_.state().usable_chunks.value, sizeof(std::uint64_t));
    if (pool_.probe().needs_sync) pool_.file().sync_data();
    const std::uint64_t bytes = (usable - first_free) * chunk_bytes;
    pool_.file().punch(pool_.chunk_offset(first_free), bytes);
    return bytes;
}

Usage Heap::usage() const {
    Usage usage;
    const std::uint64_t chunk_bytes = pool_.super().chunk_bytes;
    const std::uint64_t usable = pool_.usable_chunks();
    usage.usable_bytes = usable * chunk_bytes;
    for (std::uint64_t i = 0; i < usable; ++i) {
        const ChunkKind kind = ChunkWord{Medium::load(&chunk(i).word)}.kind();
        SlabHeader slab;
        if (kind == ChunkKind::free) {
            usage.free_bytes += chunk_bytes;
        } else if (kind == ChunkKind::run_head || kind == ChunkKind::run_body) {
            usage.extent_bytes += chunk_bytes;
        } else if (read_slab(i, slab)) {
            std::uint64_t taken = 0;
            for (std::uint32_t unit = 0; unit < slab.units; ++unit) {
                const std::uint64_t word = Medium::load(unit_word(i, slab, unit));
                if (word == 0) continue;
                ++taken;
                if (slab.links == 0 && UnitState{word}.kind() == UnitState::retired) ++usage.retired_records;
            }
            (slab.links == 0 ? usage.record_bytes : usage.extent_bytes) += taken * slab.unit_bytes;
        }
    }
    return usage;
}

}  // namespace pmemcpy::heap
