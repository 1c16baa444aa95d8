// Repair's own look at slabs. Recovery looks for records where the chunk table and the slabs' headers tell it to; where
// these are damaged the records tell what they were.

#include "heap/heap.hpp"

namespace pmemcpy::heap {

using persist::Medium;

bool Heap::is_taken(const Extent& extent, Link record) const {
    bool is_taken = false;
    pool_.guarded([&] { is_taken = says_taken(extent, record); });
    return is_taken;
}

bool Heap::says_taken(const Extent& extent, Link record) const {
    Slab slab;
    std::uint32_t unit = 0;
    if (!find_unit(record.offset(), slab, unit) || !slab.is_meta()) return false;
    if (extent.length == 0 || extent.target != 0) return true;
    if (!pool_.contains(extent.offset, extent.length)) return false;
    if (extent.length <= data_sizes_.largest()) {
        return find_unit(extent.offset, slab, unit) && !slab.is_meta() &&
               Medium::load(unit_word(slab, unit)) == record.offset();
    }
    const ChunkEntry& entry = chunk(pool_.chunk_of(extent.offset));
    return ChunkWord{Medium::load(&entry.word)}.kind() == ChunkKind::run_head &&
           Medium::load(&entry.record.word) * 64 == record.offset();
}

std::vector<std::uint64_t> Heap::damaged_slabs() const {
    std::vector<std::uint64_t> damaged;
    check_table();
    for (std::uint64_t i = 0; i < pool_.usable_chunks(); ++i) {
        const std::uint64_t word = Medium::load(&chunk(i).word);
        const ChunkKind kind = ChunkWord{word}.kind();
        Slab slab;
        if (!is_slab(kind) || read_slab(i, slab)) continue;
        if (Medium::load(&chunk(i).word) == word) damaged.push_back(pool_.chunk_offset(i));
    }
    return damaged;
}

bool Heap::holds_record(const Slab& slab) const {
    for (std::uint32_t unit = 0; unit < slab.units; ++unit) {
        if (is_whole(pool_, slab.offset_of(unit), slab.unit_bytes)) return true;
    }
    return false;
}

// The header that the chunk must have had, for every record that is whole in it to have its place. A record takes the
// smallest unit that has room for it.
std::optional<SlabHeader> Heap::head_around_records(std::uint64_t chunk) const {
    const std::uint64_t chunk_bytes = pool_.super().chunk_bytes;
    std::optional<SlabHeader> head;
    for (std::uint64_t inside = sizeof(SlabHeader); inside < chunk_bytes; inside += record_alignment) {
        const std::uint64_t offset = pool_.chunk_offset(chunk) + inside;
        if (!is_whole(pool_, offset, chunk_bytes - inside)) continue;
        const std::uint64_t length = pool_.as<RecordHeader>(offset).length;
        if (length > largest_record()) continue;
        const std::uint64_t unit_bytes = meta_sizes_[meta_sizes_.class_of(length)];
        if (!head) head = head_of(Purpose::meta, unit_bytes);
        const bool fits = unit_bytes == head->unit_bytes && inside >= head->first_unit &&
                          (inside - head->first_unit) % unit_bytes == 0;
        if (!fits) return std::nullopt;
    }
    return head;
}

std::vector<std::uint64_t> Heap::bring_back_slabs() {
    std::vector<std::uint64_t> lost;
    const Medium& m = pool_.medium();
    const std::uint64_t usable = pool_.usable_chunks();
    for (std::uint64_t i = 0; i < usable; ++i) {
        const bool is_meta = ChunkWord{Medium::load(&chunk(i).word)}.kind() == ChunkKind::meta_slab;
        Slab slab;
        if (read_head(i, slab)) {
            // What was a slab once has no records any more, and may be somebody's data by now.
            if (!is_meta && slab.is_meta() && holds_record(slab))
                set_chunk(i, ChunkWord::make(ChunkKind::meta_slab, 0, 0), {});
            continue;
        }
        if (!is_meta) continue;
        lost.push_back(pool_.chunk_offset(i));
        const auto found = head_around_records(i);
        if (!found) continue;
        m.write(pool_.at(pool_.chunk_offset(i)), &*found, sizeof *found);
    }
    return lost;
}

}  // namespace pmemcpy::heap
