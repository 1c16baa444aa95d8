// Slabs: whose they are, and how each is cut into units.

#include "base/checked.hpp"
#include "base/crc32c.hpp"
#include "heap/heap.hpp"
#include "pool/geometry.hpp"

#include <pmemcpy/error.hpp>

#include <algorithm>

namespace pmemcpy::heap {
namespace {

constexpr std::uint64_t adopt_at_once = 64;  // slabs looked at before a free chunk is taken instead

std::uint32_t checksum_of(const SlabHeader& head) {
    return base::crc32c(0, &head.kind, sizeof head - offsetof(SlabHeader, kind));
}

}  // namespace

Heap::Heap(pool::Pool& pool)
    : pool_(pool),
      pins_(pool),
      links_(links_offset(pool.super())),
      meta_sizes_(pool.super().chunk_bytes, false),
      data_sizes_(pool.super().chunk_bytes, links_ != 0) {
    for (const Purpose purpose : {Purpose::meta, Purpose::data})
        caches_[static_cast<std::size_t>(purpose)] = std::vector<SlabCache>(sizes_of(purpose).count());
}

std::uint64_t Heap::obtain_slab(Purpose purpose, std::uint64_t unit_bytes, SlabCache& cache) {
    std::uint64_t chunk = 0;
    if (adopt_slab(purpose, unit_bytes, cache, adopt_at_once, chunk)) return chunk;
    for (;;) {
        try {
            chunk = obtain_chunks(1, purpose);
        } catch (const Error&) {
            if (adopt_slab(purpose, unit_bytes, cache, pool_.usable_chunks(), chunk)) return chunk;
            throw;
        }
        if (can_be_slab(purpose, unit_bytes, chunk)) break;
        // Its memory is gone. Held on to until we leave, or the next search would find it again.
        set_chunk(chunk, ChunkWord::make(ChunkKind::run_head, pool_.owner(), 1), {});
        const std::lock_guard one_thread(gone_mutex_);
        gone_.push_back(chunk);
    }
    make_slab(purpose, unit_bytes, chunk, pool_.owner());
    return chunk;
}

// A slab that nobody owns and that has a free unit becomes ours.
bool Heap::adopt_slab(Purpose purpose, std::uint64_t unit_bytes, SlabCache& cache, std::uint64_t most,
                      std::uint64_t& chunk) {
    const std::uint64_t usable = pool_.usable_chunks();
    for (std::uint64_t seen = 0, looked = 0; seen < usable && looked < most; ++seen) {
        const std::uint64_t i = cache.adopt_cursor++ % usable;
        const ChunkWord word = chunk_word(i);
        Slab slab;
        if (!is_slab_for(purpose, word.kind()) || word.owner() != 0) continue;
        if (!read_slab(i, slab) || slab.purpose != purpose || slab.unit_bytes != unit_bytes) continue;
        ++looked;
        for (std::uint32_t unit = 0; unit < slab.units; ++unit) {
            if (persist::Medium::load(unit_word(slab, unit)) != 0) continue;
            if (!exchange_chunk(i, word, word.with_owner(pool_.owner()))) break;
            if (!persist::still(is_as_seen(slab))) {
                set_chunk(i, word, {});
                break;
            }
            // A bit that was cleared may have come back with a power loss, or a process of an older release have left it when it died;
            // nobody else allocates here.
            for (; unit < slab.units; ++unit) {
                if (persist::Medium::load(unit_word(slab, unit)) == 0) clear_hint(slab, unit);
            }
            chunk = i;
            return true;
        }
    }
    return false;
}

// The second look at a slab that has become ours: the word of a chunk has no tag, so the exchange also succeeds where the chunk has been
// free meanwhile, and is cut into other units now.
bool Heap::is_as_seen(const Slab& slab) const {
    Slab now;
    return read_slab(slab.chunk, now) && now.purpose == slab.purpose && now.unit_bytes == slab.unit_bytes;
}

// Units begin on a line, behind a word for each of them where the slab is for data.
SlabHeader Heap::head_of(Purpose purpose, std::uint64_t unit_bytes) const {
    const bool is_meta = purpose == Purpose::meta;
    SlabHeader head{};
    head.magic = slab_magic;
    head.kind = static_cast<std::uint32_t>(is_meta ? ChunkKind::meta_slab : ChunkKind::data_slab);
    head.unit_bytes = static_cast<std::uint32_t>(unit_bytes);
    head.bitmap = sizeof(SlabHeader);
    for (std::uint64_t units = pool_.super().chunk_bytes / unit_bytes; units > 0; --units) {
        std::uint64_t end = head.bitmap + (units + 63) / 64 * 8;
        head.links = is_meta ? 0 : static_cast<std::uint32_t>(end);
        if (!is_meta) end += units * 8;
        end = base::align_up(end, 64);
        if (end + units * unit_bytes > pool_.super().chunk_bytes) continue;
        head.first_unit = static_cast<std::uint32_t>(end);
        head.units = static_cast<std::uint32_t>(units);
        break;
    }
    head.checksum = checksum_of(head);
    return head;
}

// Whether the memory is there that make_slab() and whoever looks for its records will touch.
bool Heap::can_be_slab(Purpose purpose, std::uint64_t unit_bytes, std::uint64_t chunk) const {
    const std::uint64_t begin = pool_.chunk_offset(chunk);
    if (purpose == Purpose::meta) return os::can_read(pool_.at(begin), pool_.super().chunk_bytes);
    if (sizes_of(purpose).is_bare(unit_bytes))
        return os::can_read(pool_.at(links_of(chunk)), pool::links_bytes);
    return os::can_read(pool_.at(begin), head_of(purpose, unit_bytes).first_unit);
}

// The chunk is the caller's, or it is alone.
void Heap::make_slab(Purpose purpose, std::uint64_t unit_bytes, std::uint64_t chunk, std::uint64_t owner) {
    const persist::Medium& m = pool_.medium();
    if (sizes_of(purpose).is_bare(unit_bytes)) {
        std::byte* links = pool_.at(links_of(chunk));
        m.fill(links, 0, pool::links_bytes);
        // No image shows it: the first claim flushes the line of eight links, and a session after a recovery makes no slab of so small units
        // that there are more. Recovery leaves the links of a free chunk as they are; in a clean pool they would take units.
        m.flush(links, pool::links_bytes);
        return set_chunk(chunk, ChunkWord::make(ChunkKind::bare_slab, owner, unit_bytes / 64), {});
    }
    const SlabHeader head = head_of(purpose, unit_bytes);
    std::byte* begin = pool_.at(pool_.chunk_offset(chunk));
    if (purpose == Purpose::meta) {
        // Old bytes must not look like taken units.
        const bool has_records = pool_.probe().needs_sync && has_old_records(chunk);
        m.fill(begin, 0, pool_.super().chunk_bytes);
        m.flush(begin, pool_.super().chunk_bytes);
        if (has_records) m.sync(pool_.file());
    } else {
        m.fill(begin, 0, head.first_unit);
    }
    m.write(begin, &head, sizeof head);
    m.flush(begin, head.first_unit);
    // On a device that was formatted anew there may be a slab of the old pool, with records that are whole.
    if (purpose == Purpose::meta) m.fence();
    set_chunk(chunk, ChunkWord::make(static_cast<ChunkKind>(head.kind), owner, 0), {});
}

// Behind the page cache records may have come to the medium before a power loss and the word of the chunk table that leads to
// them not. The recovery after it did not see them; nor may a later one, once their chunk is a slab again.
bool Heap::has_old_records(std::uint64_t chunk) const {
    const std::uint64_t begin = pool_.chunk_offset(chunk);
    for (std::uint64_t at = begin; at < begin + pool_.super().chunk_bytes; at += record_alignment) {
        if (pool_.as<RecordHeader>(at).magic == record_magic) return true;
    }
    return false;
}

bool Heap::read_slab(std::uint64_t chunk, Slab& out) const {
    const ChunkWord word{persist::Medium::load(&this->chunk(chunk).word)};
    if (word.kind() == ChunkKind::bare_slab) {
        const std::uint64_t unit_bytes = word.length() * 64;
        if (!data_sizes_.is_bare(unit_bytes) || !data_sizes_.has(unit_bytes)) return false;
        const auto units = static_cast<std::uint32_t>(pool_.super().chunk_bytes / unit_bytes);
        const std::uint64_t links = links_of(chunk);
        out = {chunk,
               Purpose::data,
               static_cast<std::uint32_t>(unit_bytes),
               units,
               pool_.chunk_offset(chunk),
               links,
               0};
        return os::can_read(pool_.at(links), pool::links_bytes);
    }
    return is_slab(word.kind()) && read_head(chunk, out) &&
           out.is_meta() == (word.kind() == ChunkKind::meta_slab);
}

bool Heap::read_head(std::uint64_t chunk, Slab& out) const {
    // A slab whose head is gone gives nothing and takes nothing back; allocation goes on elsewhere.
    const std::uint64_t begin = pool_.chunk_offset(chunk);
    const std::byte* there = pool_.at(begin);
    SlabHeader head;
    if (!os::guarded(there, sizeof head, [&] { racy_copy(&head, there, sizeof head); })) return false;
    if (head.magic != slab_magic || head.checksum != checksum_of(head) || head.units == 0 ||
        head.unit_bytes % 64 != 0) {
        return false;
    }
    const bool is_meta = static_cast<ChunkKind>(head.kind) == ChunkKind::meta_slab;
    const bool is_data = static_cast<ChunkKind>(head.kind) == ChunkKind::data_slab;
    const std::uint64_t end = head.first_unit + std::uint64_t{head.units} * head.unit_bytes;
    const std::uint64_t bitmap_end = head.bitmap + (std::uint64_t{head.units} + 63) / 64 * 8;
    const std::uint64_t links_end = is_data ? head.links + head.units * 8ULL : bitmap_end;
    out = {chunk,
           is_meta ? Purpose::meta : Purpose::data,
           head.unit_bytes,
           head.units,
           begin + head.first_unit,
           begin + head.links,
           begin + head.bitmap};
    return (is_data ? head.links == bitmap_end : is_meta && head.links == 0) && head.unit_bytes >= 64 &&
           head.bitmap == sizeof(SlabHeader) && head.first_unit % 64 == 0 &&
           end <= pool_.super().chunk_bytes && links_end <= head.first_unit;
}

std::uint64_t* Heap::unit_word(const Slab& slab, std::uint32_t unit) const {
    if (slab.is_meta()) return &pool_.as<RecordHeader>(slab.offset_of(unit)).state;
    return &pool_.as<std::uint64_t>(slab.links + 8ULL * unit);
}

std::uint64_t* Heap::hint_word(const Slab& slab, std::uint32_t unit) const {
    return &pool_.as<std::uint64_t>(slab.bitmap + unit / 64 * 8ULL);
}

// The word of a unit is the last thing that its freeing stores, and the first that its claiming does.
bool Heap::is_empty_slab(std::uint64_t chunk) const {
    Slab slab;
    if (!read_slab(chunk, slab)) return false;
    for (std::uint32_t unit = 0; unit < slab.units; ++unit) {
        if (persist::Medium::load(unit_word(slab, unit)) != 0) return false;
    }
    return true;
}

// Only from slabs that nobody else claims units in: our own, with their cache locked, and those without an owner, once they are ours.
void Heap::give_back_slabs() {
    const auto give_back = [this](std::uint64_t i) {
        if (!is_empty_slab(i)) return false;
        if (wipes()) wipe_claimed(i);
        set_chunk(i, {}, {});
        return true;
    };
    for (SlabCache& cache : caches_[static_cast<std::size_t>(Purpose::data)]) {
        const std::lock_guard one_thread(cache.mutex);
        if (cache.chunks.empty()) continue;
        std::erase_if(cache.chunks, give_back);
        cache.current = 0;
        cache.cursor = 0;
    }
    for (std::uint64_t i = 0; i < pool_.usable_chunks(); ++i) {
        const ChunkWord word = chunk_word(i);
        if (!is_data_slab(word.kind()) || word.owner() != 0) continue;
        if (!exchange_chunk(i, word, word.with_owner(pool_.owner()))) continue;
        // Now that it is ours nobody cuts it into other units. And no thread of ours claims a unit that it has freed there.
        Slab slab;
        const bool is_read = read_slab(i, slab);
        std::unique_lock<std::mutex> one_thread;
        if (is_read && data_sizes_.has(slab.unit_bytes))
            one_thread =
                std::unique_lock(cache_of(Purpose::data, data_sizes_.class_of(slab.unit_bytes)).mutex);
        if (!is_read || !give_back(i)) set_chunk(i, word, {});
    }
}

void Heap::release_slabs() {
    for (std::vector<SlabCache>& caches : caches_) {
        for (SlabCache& cache : caches) {
            if (!cache.has_owned) continue;
            const std::lock_guard one_thread(cache.mutex);
            for (const std::uint64_t i : cache.chunks) set_chunk(i, chunk_word(i).with_owner(0), {});
            cache.chunks.clear();
            cache.current = 0;
        }
    }
    const std::lock_guard one_thread(gone_mutex_);
    for (const std::uint64_t i : gone_) set_chunk(i, {}, {});
    gone_.clear();
}

}  // namespace pmemcpy::heap
