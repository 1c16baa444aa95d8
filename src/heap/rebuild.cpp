// Derived state from nothing: recovery forgets the chunk table and the units' words, marks what it has found to
// be alive, and everything unmarked is free. Alone in the pool.

#include "base/crc32c.hpp"
#include "heap/heap.hpp"

#include <cstring>

namespace pmemcpy::heap {

using persist::Medium;

namespace {

// A record that is whole vouches for its space: behind the page cache the table may still call a hole what was filled.
bool is_unmarked(ChunkWord word) { return word.kind() == ChunkKind::free || word.kind() == ChunkKind::hole; }

}  // namespace

void Heap::for_each_unit(const std::function<void(std::uint64_t, std::uint64_t)>& f) const {
    check_table();
    const std::uint64_t usable = pool_.usable_chunks();
    for (std::uint64_t i = 0; i < usable; ++i) {
        Slab slab;
        if (chunk_word(i).kind() != ChunkKind::meta_slab) continue;
        // Recovery must not take what it cannot read for what is not there.
        pool_.check_memory(pool_.at(pool_.chunk_offset(i)), pool_.super().chunk_bytes);
        if (!read_slab(i, slab)) continue;
        for (std::uint32_t unit = 0; unit < slab.units; ++unit) f(slab.offset_of(unit), slab.unit_bytes);
    }
}

void Heap::begin_rebuild() {
    const Medium& m = pool_.medium();
    const std::uint64_t usable = pool_.usable_chunks();
    for (std::uint64_t i = 0; i < usable; ++i) {
        Slab slab;
        const ChunkKind kind = chunk_word(i).kind();
        const bool is_meta = kind == ChunkKind::meta_slab && read_slab(i, slab);
        const bool is_kept = is_meta || kind == ChunkKind::hole;
        set_chunk(i, is_kept ? ChunkWord::make(kind, 0, 0) : ChunkWord{}, {});
        if (!is_meta) continue;
        m.fill(pool_.at(slab.bitmap), 0, slab.first_unit - slab.bitmap);  // hints: never flushed
    }
}

bool Heap::mark_record(std::uint64_t offset, std::uint64_t length) {
    Slab slab;
    std::uint32_t unit = 0;
    if (!find_unit(offset, slab, unit) || !slab.is_meta() || length > slab.unit_bytes) return false;
    auto& header = pool_.as<RecordHeader>(offset);
    pool_.medium().store(&header.state, UnitState::make(UnitState::owned, pool_.owner()).word);
    // Not flushed: it shares a line with `home`, which whoever keeps the record sets and flushes next.
    set_hint(slab, unit);
    return true;
}

// False when the extent is not one that the heap could have given, or belongs to another record already.
bool Heap::mark_extent(const Extent& extent, Link record) {
    if (extent.length == 0 || extent.target != 0) return true;
    if (!pool_.contains(extent.offset, extent.length)) return false;
    const std::uint64_t chunk_bytes = pool_.super().chunk_bytes;
    const std::uint64_t i = pool_.chunk_of(extent.offset);
    if (extent.length <= data_sizes_.largest()) return mark_data_unit(extent, record, i);
    const std::uint64_t count = extent.length / chunk_bytes;
    if (extent.length % chunk_bytes != 0 || extent.offset != pool_.chunk_offset(i)) return false;
    for (std::uint64_t k = 0; k < count; ++k) {
        if (!is_unmarked(chunk_word(i + k))) return false;
    }
    for (std::uint64_t k = 1; k < count; ++k)
        set_chunk(i + k, ChunkWord::make(ChunkKind::run_body, 0, k), {});
    set_chunk(i, ChunkWord::make(ChunkKind::run_head, 0, count), {record.offset() / 64});
    return true;
}

bool Heap::mark_data_unit(const Extent& extent, Link record, std::uint64_t i) {
    if (!data_sizes_.has(extent.length)) return false;
    // The first unit found in a slab brings its head back.
    if (is_unmarked(chunk_word(i))) make_slab(Purpose::data, extent.length, i, 0);
    Slab slab;
    std::uint32_t unit = 0;
    if (!find_unit(extent.offset, slab, unit) || slab.is_meta() || slab.unit_bytes != extent.length)
        return false;
    std::uint64_t* link = unit_word(slab, unit);
    if (*link != 0) return false;
    pool_.medium().store(link, record.offset());
    pool_.medium().flush(link, sizeof *link);
    set_hint(slab, unit);
    return true;
}

// Units that nobody marked are free: their magic goes first, so that no later scan finds them. Slabs in which
// nothing is left become ordinary chunks again; only now, because nobody reads them without a lock.
void Heap::finish_rebuild() {
    const Medium& m = pool_.medium();
    const std::uint64_t usable = pool_.usable_chunks();
    std::vector<std::uint64_t> unused;
    for (std::uint64_t i = 0; i < usable; ++i) {
        Slab slab;
        if (chunk_word(i).kind() != ChunkKind::meta_slab || !read_slab(i, slab)) continue;
        bool used = false;
        for (std::uint32_t unit = 0; unit < slab.units; ++unit) {
            if (is_hinted(slab, unit)) {
                used = true;
                continue;
            }
            auto& header = pool_.as<RecordHeader>(slab.offset_of(unit));
            const std::uint32_t none = 0;
            if (header.magic != 0) m.write(&header.magic, &none, sizeof none);
            if (header.state != 0) m.store(&header.state, 0);
            m.flush(&header, sizeof header);
        }
        if (!used) unused.push_back(i);
    }
    if (!unused.empty()) {
        // Durable before the chunk is another's: no later recovery looks there, and an older version of a value could still be
        // found through the newer one, intact, and be retired out of what has come into its place.
        m.fence();
        if (pool_.probe().needs_sync) m.sync(pool_.file());
    }
    for (const std::uint64_t i : unused) set_chunk(i, {}, {});
    if (wipes()) wipe_idle();
    m.store(&pool_.state().search_hint.value, 0);
}

}  // namespace pmemcpy::heap
