// Units of slabs. The word that decides is the unit's own (a record's `state`, or a data unit's link); the
// bitmap only says where looking is worth while.
// Modelled in tests/model/hint.hpp.

#include "heap/heap.hpp"

#include <pmemcpy/error.hpp>

#include <bit>

namespace pmemcpy::heap {

std::uint64_t Heap::allocate_record(std::uint64_t length) {
    if (length > largest_record()) {
        throw Error(Code::invalid_argument,
                    "a record of " + std::to_string(length) + " bytes does not fit into chunks of " +
                        std::to_string(pool_.super().chunk_bytes) +
                        " bytes; shorten the id or type, or create the pool with larger chunks");
    }
    const std::uint64_t claim =
        UnitState::make(UnitState::owned, pool_.owner(), pool_.first_claim() + ++claims_).word;
    return claim_unit(Purpose::meta, meta_sizes_.class_of(length), claim);
}

void Heap::abandon_record(std::uint64_t offset, const Extent& extent) {
    auto& header = pool_.as<RecordHeader>(offset);
    const std::uint32_t none = 0;
    if (header.magic != none) pool_.medium().write(&header.magic, &none, sizeof none);
    free_extent(extent, offset);
    free_unit(offset, UnitState{persist::Medium::load(&header.state)});
}

std::uint64_t Heap::claim_unit(Purpose purpose, std::size_t size_class, std::uint64_t claim_word) {
    const std::uint64_t unit_bytes = sizes_of(purpose)[size_class];
    SlabCache& cache = cache_of(purpose, size_class);
    const std::lock_guard one_thread(cache.mutex);
    if (const auto unit = claim_freed(purpose, unit_bytes, cache, claim_word)) return *unit;
    // Once round, and the first one again from its beginning: that is where units were freed meanwhile.
    for (std::size_t tried = 0; tried <= cache.chunks.size() && !cache.chunks.empty(); ++tried) {
        if (const auto unit = claim_in(cache.chunks[cache.current], cache, claim_word)) return *unit;
        cache.current = (cache.current + 1) % cache.chunks.size();
        cache.cursor = 0;
    }
    for (;;) {
        const std::uint64_t chunk = obtain_slab(purpose, unit_bytes, cache);
        cache.chunks.push_back(chunk);
        cache.has_owned = true;
        cache.current = cache.chunks.size() - 1;
        cache.cursor = 0;
        if (const auto unit = claim_in(chunk, cache, claim_word)) return *unit;
    }
}

std::optional<std::uint64_t> Heap::claim_in(std::uint64_t chunk, SlabCache& cache, std::uint64_t claim_word) {
    Slab slab;
    if (!read_slab(chunk, slab)) return std::nullopt;
    const std::uint64_t words = (slab.units + 63) / 64;
    for (; cache.cursor < words; ++cache.cursor) {
        const auto first = static_cast<std::uint32_t>(cache.cursor * 64);
        for (std::uint64_t taken = hints(slab, first); taken != ~0ULL;) {
            const auto bit = static_cast<std::uint32_t>(std::countr_one(taken));
            if (first + bit >= slab.units) break;
            if (claim_at(slab, first + bit, claim_word)) return slab.offset_of(first + bit);
            taken = hints(slab, first) | taken | 1ULL << bit;
        }
    }
    return std::nullopt;
}

// What is overwritten again and again goes to and fro between two places, instead of through all that a slab has.
std::optional<std::uint64_t> Heap::claim_freed(Purpose purpose, std::uint64_t unit_bytes, SlabCache& cache,
                                               std::uint64_t claim_word) {
    const std::uint64_t offset = cache.freed.exchange(0, std::memory_order_relaxed);
    if (offset == 0) return std::nullopt;
    // Of a slab of another process the chunk may become another thread's of this one: so whose it is is looked at first, and of what is
    // ours in the cache, which the caller has locked, nobody takes the chunk away.
    const ChunkWord word = chunk_word(pool_.chunk_of(offset));
    if (word.owner() != pool_.owner() || !is_slab_for(purpose, word.kind())) return std::nullopt;
    Slab slab;
    std::uint32_t unit = 0;
    if (!find_unit(offset, slab, unit) || slab.purpose != purpose || slab.unit_bytes != unit_bytes)
        return std::nullopt;
    if (!claim_at(slab, unit, claim_word)) return std::nullopt;
    return offset;
}

// The caller owns the slab.
bool Heap::claim_at(const Slab& slab, std::uint32_t unit, std::uint64_t claim_word) {
    std::uint64_t expected = 0;
    std::uint64_t* word = unit_word(slab, unit);
    if (!pool_.medium().compare_exchange(word, expected, claim_word)) return false;
    // Behind the exchange: the bit of a unit that is being freed was cleared before its word, and must stay so.
    set_hint(slab, unit);
    // The word of a record lies in its first line, which is flushed when the record is sealed.
    if (!slab.is_meta()) pool_.medium().flush(word, sizeof *word);
    return true;
}

// A bit for each of the 64 units around this one, set where looking is not worth while.
std::uint64_t Heap::hints(const Slab& slab, std::uint32_t unit) const {
    if (slab.bitmap != 0) return persist::Medium::load(hint_word(slab, unit));
    std::uint64_t taken = 0;
    for (std::uint32_t i = 0; i < slab.units; ++i) {
        if (persist::Medium::load(unit_word(slab, i)) != 0) taken |= 1ULL << i;
    }
    return taken;
}

void Heap::set_hint(const Slab& slab, std::uint32_t unit) {
    if (slab.bitmap != 0) pool_.medium().fetch_or(hint_word(slab, unit), 1ULL << (unit % 64));
}

void Heap::clear_hint(const Slab& slab, std::uint32_t unit) {
    if (slab.bitmap == 0) return;
    std::uint64_t* bits = hint_word(slab, unit);
    // Never flushed: a process believes the bits of a slab that it has made, or adopted, and then it has cleared those of the free units.
    pool_.medium().fetch_and(bits, ~(1ULL << (unit % 64)));
}

bool Heap::find_unit(std::uint64_t offset, Slab& slab, std::uint32_t& unit) const {
    if (!pool_.contains(offset, 64) || !read_slab(pool_.chunk_of(offset), slab)) return false;
    if (offset < slab.first_unit || (offset - slab.first_unit) % slab.unit_bytes != 0) return false;
    unit = static_cast<std::uint32_t>((offset - slab.first_unit) / slab.unit_bytes);
    return unit < slab.units;
}

// The last step of freeing a record: whoever changes the word frees it, and nobody does it twice.
bool Heap::free_unit(std::uint64_t offset, UnitState expected) {
    Slab slab;
    std::uint32_t unit = 0;
    if (!find_unit(offset, slab, unit)) return false;
    std::uint64_t* word = unit_word(slab, unit);
    std::uint64_t before = expected.word;
    if (persist::Medium::load(word) != before) return false;
    if (wipes()) wipe_unit(slab, offset);
    // While the word says taken, the slab stays one. The exchange is the last thing that a freeing stores: a process that is held right
    // behind it may find the slab given back, and somebody's data there, when it goes on.
    clear_hint(slab, unit);
    if (!pool_.medium().compare_exchange(word, before, 0)) return false;
    pool_.medium().flush(word, sizeof *word);
    const UnitSizes& sizes = sizes_of(slab.purpose);
    if (slab.unit_bytes <= sizes.largest())
        cache_of(slab.purpose, sizes.class_of(slab.unit_bytes))
            .freed.store(offset, std::memory_order_relaxed);
    return true;
}

}  // namespace pmemcpy::heap
