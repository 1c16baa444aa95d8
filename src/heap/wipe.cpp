// A pool that wipes (pool::feature_wipes): space that is nobody's holds zeros, so that what was erased is nowhere in its file. Who
// frees space wipes it first, while it still is his; recovery, which frees whatever it does not find, wipes all that is free then.

#include "heap/heap.hpp"

#include <pmemcpy/error.hpp>

#include <algorithm>

namespace pmemcpy::heap {

using persist::Medium;

namespace {

constexpr std::uint64_t state_offset = offsetof(RecordHeader, state);
constexpr std::uint64_t after_state = state_offset + sizeof(RecordHeader::state);

}  // namespace

// Memory that is gone holds nothing. Kept together by the caller's fence with the word that gives the space away (law 2).
void Heap::wipe(std::uint64_t offset, std::uint64_t length) {
    const Medium& m = pool_.medium();
    std::byte* begin = pool_.at(offset);
    if (!os::guarded(begin, length, [&] { m.fill(begin, 0, length); })) return;
    m.flush(begin, length);
}

// Of a chunk that is the caller's. It is no slab any more before its head goes: else others see a damaged one meanwhile, and a death
// would leave it so for good. The process that cleans up after a death wipes it again.
void Heap::wipe_claimed(std::uint64_t chunk) {
    set_chunk(chunk, ChunkWord::claimed(pool_.owner(), 0), {});
    wipe(pool_.chunk_offset(chunk), pool_.super().chunk_bytes);
}

// All but the word by which it is taken, which is exchanged next.
void Heap::wipe_unit(const Slab& slab, std::uint64_t offset) {
    if (!slab.is_meta()) return wipe(offset, slab.unit_bytes);
    wipe(offset, state_offset);
    wipe(offset + after_state, slab.unit_bytes - after_state);
}

void Heap::for_each_idle(bool also_holes, const std::function<void(std::uint64_t, std::uint64_t)>& f) const {
    const std::uint64_t chunk_bytes = pool_.super().chunk_bytes;
    const std::uint64_t usable = pool_.usable_chunks();
    for (std::uint64_t i = 0; i < usable; ++i) {
        const ChunkEntry entry = chunk(i);
        const ChunkWord word{entry.word};
        const std::uint64_t begin = pool_.chunk_offset(i);
        Slab slab;
        if (word.kind() == ChunkKind::free || (word.kind() == ChunkKind::hole && also_holes)) {
            f(begin, chunk_bytes);
        } else if (word.kind() == ChunkKind::run_head) {
            const std::uint64_t count = std::max<std::uint64_t>(word.length(), 1);
            const std::uint64_t used = used_bytes(entry.record.offset(), count * chunk_bytes);
            if (used < count * chunk_bytes) f(begin + used, count * chunk_bytes - used);
            i += count - 1;
        } else if (read_slab(i, slab)) {
            for (std::uint32_t unit = 0; unit < slab.units; ++unit) {
                const std::uint64_t taken = Medium::load(unit_word(slab, unit));
                const std::uint64_t offset = slab.offset_of(unit);
                std::uint64_t used = 0;
                if (taken != 0)
                    used = slab.is_meta() ? pool_.as<RecordHeader>(offset).length
                                          : used_bytes(taken, slab.unit_bytes);
                if (used < slab.unit_bytes) f(offset + used, slab.unit_bytes - used);
            }
            const std::uint64_t end = slab.offset_of(slab.units);
            if (end < begin + chunk_bytes) f(end, begin + chunk_bytes - end);
        }
    }
}

// Of an extent that belongs to the record at `record_offset`; all of it, when the record does not say.
std::uint64_t Heap::used_bytes(std::uint64_t record_offset, std::uint64_t length) const {
    if (!pool_.contains(record_offset, sizeof(RecordHeader))) return length;
    const auto& header = pool_.as<RecordHeader>(record_offset);
    if (header.magic != record_magic) return length;
    return std::min(used_of_ ? used_of_(header) : length, length);
}

void Heap::wipe_idle() {
    // Whole chunks are given back instead: nothing has to be written, and what is there afterwards are zeros. A device has none
    // to give back.
    punch_free(true);
    for_each_idle(false, [this](std::uint64_t offset, std::uint64_t length) { wipe(offset, length); });
    // Durable before the pool is called clean, or said to wipe: the holes as well, of which no flush knows.
    if (pool_.durability() != Durability::none) pool_.medium().sync(pool_.file());
}

// What other threads free from now on they wipe; what they had begun to free, or have claimed, is waited for.
void Heap::start_wiping() {
    if (wipes()) return;
    const pool::Pool::Alone alone(pool_);
    pool::Pool::Wiping begun(pool_);
    const std::lock_guard nobody_frees(retire_mutex_);
    std::vector<std::unique_lock<std::mutex>> nobody_claims;
    for (std::vector<SlabCache>& caches : caches_) {
        for (SlabCache& cache : caches) nobody_claims.emplace_back(cache.mutex);
    }
    for_each_taken([this](const Taken& taken) {
        if (taken.what != Taken::record) return;
        const auto& header = pool_.as<RecordHeader>(taken.offset);
        if (header.magic == record_magic && UnitState{taken.word}.kind() == UnitState::owned) return;
        throw Error(Code::busy,
                    pool_.path() +
                        ": something that was erased or overwritten is still kept, by a view or by a "
                        "store at this moment; drop the views and try again");
    });
    wipe_idle();
    begun.keep();
}

std::optional<std::uint64_t> Heap::find_unwiped() const {
    std::optional<std::uint64_t> found;
    for_each_idle(true, [&](std::uint64_t offset, std::uint64_t length) {
        const std::byte* begin = pool_.at(offset);
        const std::byte* end = begin + length;
        const auto* other = std::find_if(begin, end, [](std::byte b) { return b != std::byte{0}; });
        if (!found && other != end) found = offset + static_cast<std::uint64_t>(other - begin);
    });
    return found;
}

}  // namespace pmemcpy::heap
