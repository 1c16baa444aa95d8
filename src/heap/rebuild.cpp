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
        SlabHeader slab;
        if (ChunkWord{Medium::load(&chunk(i).word)}.kind() != ChunkKind::meta_slab) continue;
        // Recovery must not take what it cannot read for what is not there.
        pool_.check_memory(pool_.at(pool_.chunk_offset(i)), pool_.super().chunk_bytes);
        if (!read_slab(i, slab) || slab.links != 0) continue;
        for (std::uint32_t unit = 0; unit < slab.units; ++unit) {
            f(pool_.chunk_offset(i) + slab.first_unit + std::uint64_t{unit} * slab.unit_bytes,
              slab.unit_bytes);
        }
    }
}

void Heap::begin_rebuild() {
    const Medium& m = pool_.medium();
    const std::uint64_t usable = pool_.usable_chunks();
    for (std::uint64_t i = 0; i < usable; ++i) {
        SlabHeader slab;
        const ChunkKind kind = ChunkWord{Medium::load(&chunk(i).word)}.kind();
        const bool is_meta = kind == ChunkKind::meta_slab && read_slab(i, slab) && slab.links == 0;
        const bool is_kept = is_meta || kind == ChunkKind::hole;
        set_chunk(i, is_kept ? ChunkWord::make(kind, 0, 0) : ChunkWord{}, {});
        if (!is_meta) continue;
        const std::uint64_t begin = pool_.chunk_offset(i) + slab.bitmap;
        m.fill(pool_.at(begin), 0, slab.first_unit - slab.bitmap);  // hints: never flushed
    }
}

bool Heap::mark_record(std::uint64_t offset, std::uint64_t length) {
    std::uint64_t i = 0;
    SlabHeader slab;
    std::uint32_t unit = 0;
    if (!find_unit(offset, i, slab, unit) || slab.links != 0 || length > slab.unit_bytes) return false;
    auto& header = pool_.as<RecordHeader>(offset);
    pool_.medium().store(&header.state, UnitState::make(UnitState::owned, pool_.owner()).word);
    // Not flushed: it shares a line with `home`, which whoever keeps the record sets and flushes next.
    std::uint64_t* bits = bitmap_word(i, slab, unit);
    pool_.medium().fetch_or(bits, 1ULL << (unit % 64));
    return true;
}

// False when the extent is not one that the heap could have given, or belongs to another record already.
bool Heap::mark_extent(const Extent& extent, Link record) {
    if (extent.length == 0 || extent.target != 0) return true;
    if (!pool_.contains(extent.offset, extent.length)) return false;
    const std::uint64_t chunk_bytes = pool_.super().chunk_bytes;
    const std::uint64_t i = pool_.chunk_of(extent.offset);
    const ChunkWord word{chunk(i).word};
    if (extent.length <= class_bytes_.back()) return mark_data_unit(extent, record, i, word);
    const std::uint64_t count = extent.length / chunk_bytes;
    if (extent.length % chunk_bytes != 0 || extent.offset != pool_.chunk_offset(i)) return false;
    for (std::uint64_t k = 0; k < count; ++k) {
        if (!is_unmarked(ChunkWord{chunk(i + k).word})) return false;
    }
    for (std::uint64_t k = 1; k < count; ++k)
        set_chunk(i + k, ChunkWord::make(ChunkKind::run_body, 0, 0), {});
    set_chunk(i, ChunkWord::make(ChunkKind::run_head, 0, count), {record.offset() / 64});
    return true;
}

bool Heap::mark_data_unit(const Extent& extent, Link record, std::uint64_t i, ChunkWord word) {
    const std::size_t size_class = class_of(extent.length);
    if (class_bytes_[size_class] != extent.length) return false;
    const SlabHeader wanted = slab_layout(data, size_class);
    if (is_unmarked(word)) {  // the first unit found in this slab brings its header back
        const Medium& m = pool_.medium();
        const std::uint64_t begin = pool_.chunk_offset(i);
        m.fill(pool_.at(begin), 0, wanted.first_unit);
        m.write(pool_.at(begin), &wanted, sizeof wanted);
        m.flush(pool_.at(begin), wanted.first_unit);
        set_chunk(i, ChunkWord::make(ChunkKind::data_slab, 0, 0), {});
    }
    std::uint64_t chunk_index = 0;
    SlabHeader slab;
    std::uint32_t unit = 0;
    if (!find_unit(extent.offset, chunk_index, slab, unit) || slab.links == 0) return false;
    if (slab.unit_bytes != wanted.unit_bytes) return false;
    std::uint64_t* link = unit_word(i, slab, unit);
    if (*link != 0) return false;
    pool_.medium().store(link, record.offset());
    pool_.medium().flush(link, sizeof *link);
    std::uint64_t* bits = bitmap_word(i, slab, unit);
    pool_.medium().fetch_or(bits, 1ULL << (unit % 64));
    return true;
}

// Units that nobody marked are free: their magic goes first, so that no later scan finds them. Slabs in which
// nothing is left become ordinary chunks again; only now, because nobody reads them without a lock.
void Heap::finish_rebuild() {
    const Medium& m = pool_.medium();
    const std::uint64_t usable = pool_.usable_chunks();
    std::vector<std::uint64_t> unused;
    for (std::uint64_t i = 0; i < usable; ++i) {
        SlabHeader slab;
        if (ChunkWord{chunk(i).word}.kind() != ChunkKind::meta_slab || !read_slab(i, slab)) continue;
        bool used = false;
        for (std::uint32_t unit = 0; unit < slab.units; ++unit) {
            if ((*bitmap_word(i, slab, unit) >> (unit % 64) & 1) != 0) {
                used = true;
                continue;
            }
            auto& header = pool_.as<RecordHeader>(pool_.chunk_offset(i) + slab.first_unit +
                                                  std::uint64_t{unit} * slab.unit_bytes);
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
