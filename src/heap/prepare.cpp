#include "heap/heap.hpp"

#include "base/checked.hpp"

#include <algorithm>

namespace pmemcpy::heap {

using persist::Medium;

// Freed chunks stay allocated and huge; so what is prepared once stays fast for every later process.
void Heap::prepare(std::uint64_t bytes) {
    const std::uint64_t chunk_bytes = pool_.super().chunk_bytes;
    const std::uint64_t wanted = (bytes + chunk_bytes - 1) / chunk_bytes;
    if (home_ == 0) {  // what will be stored outside takes no space here
        std::optional<pool::Pool::SpaceLock> lock(pool_);
        for (std::uint64_t usable = 0; (usable = pool_.usable_chunks()) < wanted;)
            grow(wanted - usable, lock);
        fill_holes(0, wanted);
    }
    const std::uint64_t usable = pool_.usable_chunks();
    std::uint64_t begin = 0;  // with the tables in front of the chunks
    for (std::uint64_t i = 0; i <= usable; ++i) {
        if (i < usable && chunk_word(i).kind() != ChunkKind::hole) continue;
        make_touched(begin, pool_.chunk_offset(i));
        begin = pool_.chunk_offset(i + 1);
    }
}

// No fault is left for the first store there; and where the kernel makes huge pages, they are.
void Heap::make_touched(std::uint64_t begin, std::uint64_t end) {
    if (begin >= end || pool_.mapping().collapse(begin, end - begin)) return;
    pool_.mapping().populate(begin, end - begin);
}

std::uint64_t Heap::trim() { return punch_free(false); }

// Holes too, if after a power loss the file system may not know of them: it may have been told and not have noted it yet.
std::uint64_t Heap::punch_free(bool holes_too) {
    if (pool_.probe().is_devdax) return 0;
    const pool::Pool::SpaceLock lock(pool_);
    const std::uint64_t chunk_bytes = pool_.super().chunk_bytes;
    const std::uint64_t usable = pool_.usable_chunks();
    const ChunkWord ours = ChunkWord::make(ChunkKind::hole, pool_.owner(), 0);
    std::vector<std::pair<std::uint64_t, std::uint64_t>> runs;
    std::uint64_t reserved = chunks_for(pool_.reserved(0)) + chunks_for(pool_.reserved_by_others(0));
    for (std::uint64_t i = 0; i < usable; ++i) {
        const ChunkWord word = chunk_word(i);
        if (!word.is_idle() || (word.kind() == ChunkKind::hole && !holes_too)) continue;
        if (word.kind() == ChunkKind::free && reserved > 0) {
            --reserved;
            continue;
        }
        if (!exchange_chunk(i, word, ours)) continue;
        if (!runs.empty() && runs.back().second == i) {
            ++runs.back().second;
        } else {
            runs.emplace_back(i, i + 1);
        }
    }
    // Said durably before it is done: nobody stores into a chunk whose space is gone.
    pool_.medium().fence();
    if (pool_.probe().needs_sync && !runs.empty()) pool_.medium().sync(pool_.file());
    std::uint64_t bytes = 0;
    for (const auto& [begin, end] : runs) {
        pool_.file().punch(pool_.chunk_offset(begin), (end - begin) * chunk_bytes);
        for (std::uint64_t i = begin; i < end; ++i) set_chunk(i, ChunkWord::make(ChunkKind::hole, 0, 0), {});
        bytes += (end - begin) * chunk_bytes;
    }
    return bytes;
}

Usage Heap::usage() const {
    check_table();
    Usage usage;
    const std::uint64_t chunk_bytes = pool_.super().chunk_bytes;
    const std::uint64_t usable = pool_.usable_chunks();
    usage.usable_bytes = usable * chunk_bytes;
    for (std::uint64_t i = 0; i < usable; ++i) {
        const ChunkKind kind = ChunkWord{Medium::load(&chunk(i).word)}.kind();
        Slab slab;
        if (kind == ChunkKind::hole) {
            usage.usable_bytes -= chunk_bytes;
        } else if (kind == ChunkKind::free) {
            usage.free_bytes += chunk_bytes;
        } else if (kind == ChunkKind::run_head || kind == ChunkKind::run_body) {
            usage.extent_bytes += chunk_bytes;
        } else if (read_slab(i, slab)) {
            std::uint64_t taken = 0;
            pool_.guarded([&] {
                for (std::uint32_t unit = 0; unit < slab.units; ++unit) {
                    const std::uint64_t word = Medium::load(unit_word(slab, unit));
                    if (word == 0) continue;
                    ++taken;
                    if (slab.is_meta() && UnitState{word}.kind() == UnitState::retired)
                        ++usage.retired_records;
                }
            });
            (slab.is_meta() ? usage.record_bytes : usage.extent_bytes) += taken * slab.unit_bytes;
        }
    }
    return usage;
}

}  // namespace pmemcpy::heap
