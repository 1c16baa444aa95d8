// Units of slabs. The word that decides is the unit's own (a record's `state`, or a data unit's link); the
// bitmap only says where looking is worth while.

#include "base/checked.hpp"
#include "base/crc32c.hpp"
#include "heap/heap.hpp"

#include <pmemcpy/error.hpp>

#include <algorithm>
#include <bit>

namespace pmemcpy::heap {
namespace {

constexpr std::uint64_t adopt_at_once = 64;  // slabs looked at before a free chunk is taken instead

std::uint32_t slab_checksum(const SlabHeader& slab) {
    return base::crc32c(0, &slab.kind, sizeof slab - offsetof(SlabHeader, kind));
}

}  // namespace

Heap::Heap(pool::Pool& pool) : pool_(pool), pins_(pool) {
    // Four sizes to a doubling keep the waste below a quarter, and two units to a slab are the least.
    const std::uint64_t largest = (pool.super().chunk_bytes - 2 * sizeof(SlabHeader)) / 2 / 64 * 64;
    std::uint64_t bytes = 64;
    while (bytes < largest) {
        class_bytes_.push_back(bytes);
        bytes += std::max<std::uint64_t>(64, std::bit_floor(bytes) / 4);
        bytes = base::align_up(bytes, 64);
    }
    class_bytes_.push_back(largest);
    caches_[meta] = std::vector<SlabCache>(class_bytes_.size());
    caches_[data] = std::vector<SlabCache>(class_bytes_.size());
}

std::size_t Heap::class_of(std::uint64_t bytes) const {
    return static_cast<std::size_t>(std::lower_bound(class_bytes_.begin(), class_bytes_.end(), bytes) -
                                    class_bytes_.begin());
}

std::uint64_t Heap::allocate_record(std::uint64_t length) {
    if (length > largest_record()) {
        throw Error(Code::invalid_argument,
                    "a record of " + std::to_string(length) + " bytes does not fit into chunks of " +
                        std::to_string(pool_.super().chunk_bytes) +
                        " bytes; shorten the id or type, or create the pool with larger chunks");
    }
    const std::uint64_t claim = UnitState::make(UnitState::owned, pool_.owner(), ++claims_).word;
    return claim_unit(meta, class_of(std::max<std::uint64_t>(length, sizeof(RecordHeader))), claim).offset;
}

void Heap::abandon_record(std::uint64_t offset, const Extent& extent) {
    auto& header = pool_.as<RecordHeader>(offset);
    const std::uint32_t none = 0;
    if (header.magic != none) pool_.medium().write(&header.magic, &none, sizeof none);
    free_extent(extent, offset);
    free_unit(offset, UnitState{persist::Medium::load(&header.state)});
}

Heap::Unit Heap::claim_unit(Which which, std::size_t size_class, std::uint64_t claim_word) {
    SlabCache& cache = caches_[which][size_class];
    const std::lock_guard one_thread(cache.mutex);
    Unit unit{};
    if (claim_freed(which, size_class, cache, claim_word, unit)) return unit;
    // Once round, and the first one again from its beginning: that is where units were freed meanwhile.
    for (std::size_t tried = 0; tried <= cache.chunks.size() && !cache.chunks.empty(); ++tried) {
        if (claim_in(which, cache.chunks[cache.current], cache, claim_word, unit)) return unit;
        cache.current = (cache.current + 1) % cache.chunks.size();
        cache.cursor = 0;
    }
    for (;;) {
        const std::uint64_t chunk = obtain_slab(which, size_class, cache);
        cache.chunks.push_back(chunk);
        cache.has_owned = true;
        cache.current = cache.chunks.size() - 1;
        cache.cursor = 0;
        if (claim_in(which, chunk, cache, claim_word, unit)) return unit;
    }
}

bool Heap::claim_in(Which which, std::uint64_t chunk, SlabCache& cache, std::uint64_t claim_word, Unit& out) {
    SlabHeader slab;
    if (!read_slab(chunk, slab)) return false;
    const std::uint64_t words = (slab.units + 63) / 64;
    for (; cache.cursor < words; ++cache.cursor) {
        const std::uint64_t first = cache.cursor * 64;
        std::uint64_t* bits = bitmap_word(chunk, slab, static_cast<std::uint32_t>(first));
        for (std::uint64_t taken = persist::Medium::load(bits); taken != ~0ULL;) {
            const auto bit = static_cast<std::uint32_t>(std::countr_one(taken));
            if (first + bit >= slab.units) break;
            if (claim_at(which, chunk, slab, static_cast<std::uint32_t>(first + bit), claim_word, out))
                return true;
            taken = persist::Medium::load(bits) | taken | 1ULL << bit;
        }
    }
    return false;
}

// What is overwritten again and again goes to and fro between two places, instead of through all that a slab has.
bool Heap::claim_freed(Which which, std::size_t size_class, SlabCache& cache, std::uint64_t claim_word,
                       Unit& out) {
    const std::uint64_t offset = cache.freed.exchange(0, std::memory_order_relaxed);
    std::uint64_t chunk = 0;
    SlabHeader slab;
    std::uint32_t unit = 0;
    if (offset == 0 || !find_unit(offset, chunk, slab, unit)) return false;
    const ChunkWord word{persist::Medium::load(&this->chunk(chunk).word)};
    const bool is_ours = word.owner() == pool_.owner() && (slab.links != 0) == (which == data) &&
                         slab.unit_bytes == class_bytes_[size_class];
    // Whoever is still about to clear its bit must do so while the slab cannot be given back.
    const bool is_done_with =
        is_ours && (persist::Medium::load(bitmap_word(chunk, slab, unit)) >> (unit % 64) & 1) == 0;
    return is_done_with && claim_at(which, chunk, slab, unit, claim_word, out);
}

// The caller owns the slab.
bool Heap::claim_at(Which which, std::uint64_t chunk, const SlabHeader& slab, std::uint32_t index,
                    std::uint64_t claim_word, Unit& out) {
    pool_.medium().fetch_or(bitmap_word(chunk, slab, index), 1ULL << (index % 64));
    std::uint64_t expected = 0;
    std::uint64_t* word = unit_word(chunk, slab, index);
    if (!pool_.medium().compare_exchange(word, expected, claim_word)) return false;
    // The word of a record lies in its first line, which is flushed when the record is sealed.
    if (which == data) pool_.medium().flush(word, sizeof *word);
    out = {chunk, index,
           pool_.chunk_offset(chunk) + slab.first_unit + std::uint64_t{index} * slab.unit_bytes};
    return true;
}

std::uint64_t Heap::obtain_slab(Which which, std::size_t size_class, SlabCache& cache) {
    const pool::Pool::AllocationLock lock(pool_);
    std::uint64_t chunk = 0;
    if (adopt_slab(which, size_class, cache, adopt_at_once, chunk)) return chunk;
    for (;;) {
        try {
            chunk = obtain_chunks(1, which);
        } catch (const Error&) {
            if (adopt_slab(which, size_class, cache, pool_.usable_chunks(), chunk)) return chunk;
            throw;
        }
        const std::uint64_t bytes =
            which == meta ? pool_.super().chunk_bytes : slab_layout(which, size_class).first_unit;
        if (os::can_read(pool_.at(pool_.chunk_offset(chunk)), bytes)) break;
        // Its memory is gone. Held on to until we leave, or the next search would find it again.
        set_chunk(chunk, ChunkWord::make(ChunkKind::run_head, pool_.owner(), 1), {});
        gone_.push_back(chunk);
    }
    format_slab(which, size_class, chunk);
    return chunk;
}

// A slab that nobody owns and that has a free unit becomes ours.
bool Heap::adopt_slab(Which which, std::size_t size_class, SlabCache& cache, std::uint64_t most,
                      std::uint64_t& chunk) {
    const std::uint64_t usable = pool_.usable_chunks();
    const ChunkKind kind = which == meta ? ChunkKind::meta_slab : ChunkKind::data_slab;
    for (std::uint64_t seen = 0, looked = 0; seen < usable && looked < most; ++seen) {
        const std::uint64_t i = cache.adopt_cursor++ % usable;
        const ChunkWord word{persist::Medium::load(&this->chunk(i).word)};
        if (word.kind() != kind || word.owner() != 0) continue;
        SlabHeader slab;
        if (!read_slab(i, slab) || slab.unit_bytes != class_bytes_[size_class]) continue;
        ++looked;
        for (std::uint32_t unit = 0; unit < slab.units; ++unit) {
            if (persist::Medium::load(unit_word(i, slab, unit)) != 0) continue;
            // Who died while freeing a unit may have left its bit; nobody else allocates here to mind them.
            for (; unit < slab.units; ++unit) {
                if (persist::Medium::load(unit_word(i, slab, unit)) == 0) clear_hint(i, slab, unit);
            }
            set_chunk(i, ChunkWord::make(kind, pool_.owner(), 0), {});
            chunk = i;
            return true;
        }
    }
    return false;
}

SlabHeader Heap::slab_layout(Which which, std::size_t size_class) const {
    SlabHeader slab{};
    slab.magic = slab_magic;
    slab.kind = static_cast<std::uint32_t>(which == meta ? ChunkKind::meta_slab : ChunkKind::data_slab);
    slab.unit_bytes = static_cast<std::uint32_t>(class_bytes_[size_class]);
    slab.bitmap = sizeof(SlabHeader);
    for (std::uint64_t units = pool_.super().chunk_bytes / slab.unit_bytes; units > 0; --units) {
        std::uint64_t end = slab.bitmap + (units + 63) / 64 * 8;
        slab.links = which == data ? static_cast<std::uint32_t>(end) : 0;
        if (which == data) end += units * 8;
        end = base::align_up(end, 64);
        if (end + units * slab.unit_bytes > pool_.super().chunk_bytes) continue;
        slab.first_unit = static_cast<std::uint32_t>(end);
        slab.units = static_cast<std::uint32_t>(units);
        break;
    }
    slab.checksum = slab_checksum(slab);
    return slab;
}

void Heap::format_slab(Which which, std::size_t size_class, std::uint64_t chunk) {
    const SlabHeader slab = slab_layout(which, size_class);
    const persist::Medium& m = pool_.medium();
    const std::uint64_t begin = pool_.chunk_offset(chunk);
    if (which == meta) {
        // Old bytes must not look like taken units.
        const bool has_records = pool_.probe().needs_sync && has_old_records(chunk);
        m.fill(pool_.at(begin), 0, pool_.super().chunk_bytes);
        m.flush(pool_.at(begin), pool_.super().chunk_bytes);
        if (has_records) m.sync(pool_.file());
    } else {
        m.fill(pool_.at(begin), 0, slab.first_unit);
    }
    m.write(pool_.at(begin), &slab, sizeof slab);
    m.flush(pool_.at(begin), slab.first_unit);
    // On a device that was formatted anew there may be a slab of the old pool, with records that are whole.
    if (which == meta) m.fence();
    set_chunk(chunk, ChunkWord::make(static_cast<ChunkKind>(slab.kind), pool_.owner(), 0), {});
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

bool Heap::read_slab(std::uint64_t chunk, SlabHeader& out) const {
    // A slab whose head is gone gives nothing and takes nothing back; allocation goes on elsewhere.
    const std::byte* head = pool_.at(pool_.chunk_offset(chunk));
    if (!os::guarded(head, sizeof out, [&] { racy_copy(&out, head, sizeof out); })) return false;
    if (out.magic != slab_magic || out.checksum != slab_checksum(out) || out.units == 0 ||
        out.unit_bytes % 64 != 0) {
        return false;
    }
    const bool is_meta = static_cast<ChunkKind>(out.kind) == ChunkKind::meta_slab;
    const bool is_data = static_cast<ChunkKind>(out.kind) == ChunkKind::data_slab;
    const std::uint64_t end = out.first_unit + std::uint64_t{out.units} * out.unit_bytes;
    const std::uint64_t bitmap_end = out.bitmap + (std::uint64_t{out.units} + 63) / 64 * 8;
    const std::uint64_t links_end = is_data ? out.links + out.units * 8ULL : bitmap_end;
    return (is_data ? out.links == bitmap_end : is_meta && out.links == 0) && out.unit_bytes >= 64 &&
           out.bitmap == sizeof(SlabHeader) && out.first_unit % 64 == 0 && end <= pool_.super().chunk_bytes &&
           links_end <= out.first_unit;
}

std::uint64_t* Heap::unit_word(std::uint64_t chunk, const SlabHeader& slab, std::uint32_t unit) const {
    const std::uint64_t begin = pool_.chunk_offset(chunk);
    if (slab.links != 0) return &pool_.as<std::uint64_t>(begin + slab.links + 8ULL * unit);
    return &pool_.as<RecordHeader>(begin + slab.first_unit + std::uint64_t{unit} * slab.unit_bytes).state;
}

std::uint64_t* Heap::bitmap_word(std::uint64_t chunk, const SlabHeader& slab, std::uint32_t unit) const {
    return &pool_.as<std::uint64_t>(pool_.chunk_offset(chunk) + slab.bitmap + unit / 64 * 8ULL);
}

void Heap::clear_hint(std::uint64_t chunk, const SlabHeader& slab, std::uint32_t unit) {
    std::uint64_t* bits = bitmap_word(chunk, slab, unit);
    pool_.medium().fetch_and(bits, ~(1ULL << (unit % 64)));
    pool_.medium().flush(bits, sizeof *bits);
}

bool Heap::find_unit(std::uint64_t offset, std::uint64_t& chunk, SlabHeader& slab,
                     std::uint32_t& unit) const {
    if (!pool_.contains(offset, 64)) return false;
    chunk = pool_.chunk_of(offset);
    const ChunkKind kind = ChunkWord{persist::Medium::load(&this->chunk(chunk).word)}.kind();
    if (kind != ChunkKind::meta_slab && kind != ChunkKind::data_slab) return false;
    if (!read_slab(chunk, slab)) return false;
    const std::uint64_t inside = offset - pool_.chunk_offset(chunk);
    if (inside < slab.first_unit || (inside - slab.first_unit) % slab.unit_bytes != 0) return false;
    unit = static_cast<std::uint32_t>((inside - slab.first_unit) / slab.unit_bytes);
    return unit < slab.units;
}

// The last step of freeing a record: whoever changes the word frees it, and nobody does it twice.
bool Heap::free_unit(std::uint64_t offset, UnitState expected) {
    std::uint64_t chunk = 0;
    SlabHeader slab;
    std::uint32_t unit = 0;
    if (!find_unit(offset, chunk, slab, unit)) return false;
    std::uint64_t* word = unit_word(chunk, slab, unit);
    std::uint64_t before = expected.word;
    if (wipes() && persist::Medium::load(word) == before) wipe_unit(slab, offset);
    if (!pool_.medium().compare_exchange(word, before, 0)) return false;
    pool_.medium().flush(word, sizeof *word);
    clear_hint(chunk, slab, unit);
    if (slab.unit_bytes <= largest_record())
        caches_[slab.links != 0 ? data : meta][class_of(slab.unit_bytes)].freed.store(
            offset, std::memory_order_relaxed);
    return true;
}

// The bit of a unit is the last thing that its freeing touches, so a slab without bits is done with.
bool Heap::is_empty_slab(std::uint64_t chunk) const {
    SlabHeader slab;
    if (!read_slab(chunk, slab)) return false;
    for (std::uint32_t unit = 0; unit < slab.units; ++unit) {
        if (unit % 64 == 0 && persist::Medium::load(bitmap_word(chunk, slab, unit)) != 0) return false;
        if (persist::Medium::load(unit_word(chunk, slab, unit)) != 0) return false;
    }
    return true;
}

// Only from slabs that nobody else claims units in: our own, with their cache locked, and those without an owner.
void Heap::give_back_slabs() {
    const auto give_back = [this](std::uint64_t i) {
        if (!is_empty_slab(i)) return false;
        if (wipes()) wipe(pool_.chunk_offset(i), pool_.super().chunk_bytes);
        set_chunk(i, {}, {});
        return true;
    };
    for (SlabCache& cache : caches_[data]) {
        const std::lock_guard one_thread(cache.mutex);
        if (cache.chunks.empty()) continue;
        const pool::Pool::AllocationLock lock(pool_);
        std::erase_if(cache.chunks, give_back);
        cache.current = 0;
        cache.cursor = 0;
    }
    const pool::Pool::AllocationLock lock(pool_);
    for (std::uint64_t i = 0; i < pool_.usable_chunks(); ++i) {
        const ChunkWord word{persist::Medium::load(&chunk(i).word)};
        if (word.kind() == ChunkKind::data_slab && word.owner() == 0) give_back(i);
    }
}

void Heap::release_slabs() {
    for (std::vector<SlabCache>& caches : caches_) {
        for (SlabCache& cache : caches) {
            if (!cache.has_owned) continue;
            const std::lock_guard one_thread(cache.mutex);
            if (cache.chunks.empty()) continue;
            const pool::Pool::AllocationLock lock(pool_);
            for (const std::uint64_t i : cache.chunks) {
                set_chunk(i, ChunkWord{chunk(i).word}.without_owner(), {});
            }
            cache.chunks.clear();
            cache.current = 0;
        }
    }
    const pool::Pool::AllocationLock lock(pool_);
    for (const std::uint64_t i : gone_) free_run(i, 0);
    gone_.clear();
}

}  // namespace pmemcpy::heap
