// Runs of whole chunks, and extents of any size. No process waits for another one here (decision 0022): a chunk that is idle is claimed by
// one exchange of its word, and until it is idle again exactly one process may change that word: its owner; once that has died, the one
// that cleans up after it; of a run, the one that frees its record; of a slab without an owner, the one whose exchange makes it its own.

#include "heap/heap.hpp"
#include "os/process.hpp"

#include <pmemcpy/error.hpp>

#include <algorithm>
#include <atomic>

namespace pmemcpy::heap {
namespace {

// Of a pool that looks full while somebody is claiming.
constexpr std::uint64_t longest_search_ns = 1'000'000'000;
constexpr std::uint64_t between_searches_ns = 200'000;

}  // namespace

ChunkEntry& Heap::chunk(std::uint64_t i) const {
    return pool_.as<ChunkEntry>(pool_.super().table_offset + i * sizeof(ChunkEntry));
}

ChunkWord Heap::chunk_word(std::uint64_t i) const { return {persist::Medium::load(&chunk(i).word)}; }

// The caller owns the chunk.
void Heap::set_chunk(std::uint64_t i, ChunkWord word, Link record) {
    ChunkEntry& entry = chunk(i);
    pool_.medium().store(&entry.record.word, record.word);
    pool_.medium().store(&entry.word, word.word);
    pool_.medium().flush(&entry, sizeof entry);
}

bool Heap::exchange_chunk(std::uint64_t i, ChunkWord from, ChunkWord to) {
    ChunkEntry& entry = chunk(i);
    std::uint64_t expected = from.word;
    if (!pool_.medium().compare_exchange(&entry.word, expected, to.word)) return false;
    pool_.medium().flush(&entry, sizeof entry);
    return true;
}

// Next fit: a search begins where the last one ended, so that a filling pool is not searched from its start.
// The free chunks at the end of the pool are counted from the front, because a search from the middle may have begun behind some.
Heap::Search Heap::find_free_chunks(std::uint64_t count, std::uint64_t usable) const {
    const std::uint64_t hint = std::min(persist::Medium::load(&pool_.state().search_hint.value), usable);
    Search search{usable, 0, false};
    for (const auto& [begin, end] : {std::pair{hint, usable}, std::pair{std::uint64_t{0}, usable}}) {
        std::uint64_t free = 0;
        for (std::uint64_t i = begin; i < end;) {
            const ChunkWord word = chunk_word(i);
            if (word.is_idle()) {
                ++i;
                if (++free == count) return {i - count, 0, false};
                continue;
            }
            free = 0;
            search.is_claiming |= word.is_under_way() || word.kind() == ChunkKind::run_body;
            i += word.kind() == ChunkKind::run_head ? std::max<std::uint64_t>(word.length(), 1) : 1;
        }
        search.free_tail = free;
    }
    return search;
}

std::uint64_t Heap::obtain_chunks(std::uint64_t count, Purpose purpose) {
    const bool keeps_reserved = purpose == Purpose::data || kept_for_records_ == 0;
    std::optional<pool::Pool::SpaceLock> lock;
    std::uint64_t began = 0;
    for (;;) {
        // What others have reserved is left to them.
        if (keeps_reserved && pool_.reserved_by_others(0) > 0) {
            if (!lock) lock.emplace(pool_);
            make_ready(chunks_for(pool_.reserved_by_others(0)) + count, lock);
        }
        const std::uint64_t all = pool_.super().chunk_count;
        const std::uint64_t end =
            purpose == Purpose::data ? all - std::min<std::uint64_t>(all, kept_for_records_) : all;
        const std::uint64_t usable = std::min(pool_.usable_chunks(), end);
        const Search found = find_free_chunks(count, usable);
        if (found.first == usable) {
            const std::uint64_t tail = std::min(found.free_tail, count);  // need not be grown again
            if (usable - tail + count > end) {
                // What somebody has claimed and cannot use is free again in a moment.
                const std::uint64_t now = os::monotonic_ns();
                if (began == 0) began = now;
                if (!found.is_claiming || now - began > longest_search_ns) pool_.throw_full(count);
                os::sleep_ns(between_searches_ns);
            } else {
                grow(count - tail, lock);
            }
            continue;
        }
        pool_.vouch_for_usable_chunks();
        if (!claim_chunks(found.first, count)) continue;
        std::atomic_thread_fence(std::memory_order_seq_cst);  // pairs with the one of reserve()
        if (keeps_reserved && !lock && !persist::still(pool_.reserved_by_others(0) == 0)) {
            give_back_claimed(found.first, count);
            continue;
        }
        pool_.medium().store(&pool_.state().search_hint.value, found.first + count);
        fill_claimed(found.first, count, lock);
        pool_.use_reserved(0, count * pool_.super().chunk_bytes);
        return found.first;
    }
}

// From the first on: of two who claim some of the same chunks the one that is farther on gets what it wants.
bool Heap::claim_chunks(std::uint64_t first, std::uint64_t count) {
    for (std::uint64_t k = 0; k < count; ++k) {
        const ChunkWord word = chunk_word(first + k);
        const ChunkWord ours = word.kind() == ChunkKind::hole
                                   ? ChunkWord::make(ChunkKind::hole, pool_.owner(), k)
                                   : ChunkWord::claimed(pool_.owner(), k);
        if (word.is_idle() && exchange_chunk(first + k, word, ours)) continue;
        give_back_claimed(first, k);
        return false;
    }
    return true;
}

void Heap::give_back_claimed(std::uint64_t first, std::uint64_t count) {
    for (std::uint64_t i = first; i < first + count; ++i)
        set_chunk(
            i, chunk_word(i).kind() == ChunkKind::hole ? ChunkWord::make(ChunkKind::hole, 0, 0) : ChunkWord{},
            {});
}

// Another may grow the pool at the same time. As long as the chunks are not usable, what the table says of them is nobody's.
// One that is free becomes a hole: if it has been claimed and is free again by now, it loses its memory, and nothing else.
// After a power loss, or in a damaged pool, it may be anything else, which by now may be what somebody has made of the chunk:
// so nobody makes it usable without the lock.
void Heap::grow(std::uint64_t chunks, std::optional<pool::Pool::SpaceLock>& lock) {
    pool_.grow(chunks, [&](std::uint64_t first, std::uint64_t count, bool are_holes) {
        const ChunkWord fresh = are_holes ? ChunkWord::make(ChunkKind::hole, 0, 0) : ChunkWord{};
        for (std::uint64_t i = first; i < first + count; ++i) {
            const ChunkWord word = chunk_word(i);
            if (word != fresh && word != ChunkWord{} && !lock) lock.emplace(pool_);
            if (pool_.usable_chunks() > first) return;
            if (word != fresh) exchange_chunk(i, word, fresh);
        }
    });
}

// Nobody waits for the kernel to make our memory, unless there is little left: then no two may count on the same room, because on tmpfs
// an overrun kills. Meanwhile the chunks are holes that are ours, which whoever cleans up after our death takes back.
void Heap::fill_claimed(std::uint64_t first, std::uint64_t count,
                        std::optional<pool::Pool::SpaceLock>& lock) {
    const auto is_hole = [this](std::uint64_t i) { return chunk_word(i).kind() == ChunkKind::hole; };
    std::uint64_t hole = first;
    while (hole < first + count && !is_hole(hole)) ++hole;
    if (hole == first + count) return;
    for (std::uint64_t k = 0; k < count; ++k)
        set_chunk(first + k, ChunkWord::make(ChunkKind::hole, pool_.owner(), k), {});
    try {
        if (!lock && !pool_.has_ample_room(count)) lock.emplace(pool_);
        pool_.promise(first, count);
    } catch (...) {
        give_back_claimed(first, count);
        throw;
    }
    for (std::uint64_t k = 0; k < count; ++k) set_chunk(first + k, ChunkWord::claimed(pool_.owner(), k), {});
}

// Said before it is looked whether there is so much: whoever claims chunks says so and then looks what is reserved.
void Heap::reserve(std::uint64_t bytes) {
    std::optional<pool::Pool::SpaceLock> lock(pool_);
    const std::uint64_t chunks = chunks_for(bytes);
    pool_.set_reserved(0, chunks * pool_.super().chunk_bytes);
    std::atomic_thread_fence(std::memory_order_seq_cst);
    try {
        if (chunks > 0) make_ready(chunks + chunks_for(pool_.reserved_by_others(0)), lock);
    } catch (...) {
        pool_.set_reserved(0, 0);
        throw;
    }
}

// So many chunks are free, and the file system has promised their space. Under the space lock.
void Heap::make_ready(std::uint64_t wanted, std::optional<pool::Pool::SpaceLock>& lock) {
    for (;;) {
        const std::uint64_t free = pool_.usable_chunks() - count_taken_chunks();
        if (free >= wanted) break;
        grow(wanted - free, lock);
    }
    std::uint64_t ready = 0;
    for (std::uint64_t i = 0; i < pool_.usable_chunks() && ready < wanted; ++i) {
        if (!chunk_word(i).is_idle()) continue;
        fill_holes(i, 1);
        ++ready;
    }
}

std::uint64_t Heap::chunks_for(std::uint64_t bytes) const {
    const std::uint64_t chunk_bytes = pool_.super().chunk_bytes;
    return bytes / chunk_bytes + (bytes % chunk_bytes != 0 ? 1 : 0);
}

// For many at once: where nobody else is expected to wait.
void Heap::fill_holes(std::uint64_t first, std::uint64_t count) {
    const ChunkWord hole = ChunkWord::make(ChunkKind::hole, 0, 0);
    const ChunkWord ours = ChunkWord::make(ChunkKind::hole, pool_.owner(), 0);
    for (std::uint64_t i = first; i < first + count; ++i) {
        std::uint64_t end = i;
        while (end < first + count && exchange_chunk(end, hole, ours)) ++end;
        if (end == i) continue;
        try {
            pool_.promise(i, end - i);
        } catch (...) {
            for (; i < end; ++i) set_chunk(i, hole, {});
            throw;
        }
        for (; i < end; ++i) set_chunk(i, {}, {});
    }
}

std::uint64_t Heap::count_taken_chunks() const {
    std::uint64_t taken = 0;
    const std::uint64_t usable = pool_.usable_chunks();
    for (std::uint64_t i = 0; i < usable; ++i) {
        if (!chunk_word(i).is_idle()) ++taken;
    }
    return taken;
}

Extent Heap::allocate_extent(std::uint64_t length, std::uint64_t record_offset, std::uint32_t target) {
    if (length == 0) return {};
    if (target != 0) return outside_->allocate(target, length);
    if (length <= data_sizes_.largest()) {
        const std::size_t size_class = data_sizes_.class_of(length);
        return {0, 0, claim_unit(Purpose::data, size_class, record_offset), data_sizes_[size_class]};
    }
    const std::uint64_t chunk_bytes = pool_.super().chunk_bytes;
    if (length > pool_.super().max_bytes) {
        throw Error(Code::no_space, std::to_string(length) + " bytes do not fit into " + pool_.path() +
                                        " of at most " + std::to_string(pool_.super().max_bytes) + " bytes");
    }
    const std::uint64_t count = (length + chunk_bytes - 1) / chunk_bytes;
    const std::uint64_t head = obtain_chunks(count, Purpose::data);
    set_chunk(head, ChunkWord::make(ChunkKind::run_head, pool_.owner(), count), {record_offset / 64});
    return {0, 0, pool_.chunk_offset(head), count * chunk_bytes};
}

Bytes Heap::bytes(const Extent& extent, bool create) const {
    if (extent.target == 0) {
        if (!create) return {pool_.at(extent.offset), nullptr};
        os::File* const file = pool_.probe().has_write ? &pool_.file() : nullptr;
        return {pool_.at(extent.offset), nullptr, file, extent.offset, &ways_};
    }
    return outside_ != nullptr ? outside_->map(extent, create) : Bytes{};
}

bool Heap::is_sane(const Extent& extent) const {
    if (extent.length == 0) return true;
    return extent.target == 0
               ? extent.offset % record_alignment == 0 && pool_.contains(extent.offset, extent.length)
               : outside_ != nullptr && outside_->may_be(extent.target);
}

void Heap::free_extent(const Extent& extent, std::uint64_t record_offset) {
    if (extent.length != 0 && extent.target != 0 && outside_ != nullptr) return outside_->free(extent);
    if (extent.length == 0 || extent.target != 0 || !pool_.contains(extent.offset, extent.length)) return;
    const std::uint64_t i = pool_.chunk_of(extent.offset);
    const ChunkKind kind = chunk_word(i).kind();
    if (kind == ChunkKind::run_head) {
        if (wipes()) wipe_run(i, record_offset);
        free_run(i, record_offset);
    } else if (is_data_slab(kind)) {
        free_unit(extent.offset, UnitState{record_offset});
    }
}

// Chunks of the run whose head this is, if it (still) belongs to the record; else 0. Of one that is being claimed the record says nothing.
std::uint64_t Heap::chunks_of_run(std::uint64_t head, std::uint64_t record_offset) const {
    const ChunkWord word = chunk_word(head);
    if (word.kind() != ChunkKind::run_head || word.is_under_way()) return 0;
    const Link record{persist::Medium::load(&chunk(head).record.word)};
    if (record.offset() != record_offset) return 0;
    return std::min(word.length(), pool_.usable_chunks() - head);
}

void Heap::wipe_run(std::uint64_t head, std::uint64_t record_offset) {
    const std::uint64_t count = chunks_of_run(head, record_offset);
    for (std::uint64_t k = 0; k < count; ++k) {
        // The process that began to free it may have died, and others have stored in what was free already.
        const ChunkWord word = chunk_word(head + k);
        const bool is_its = k == 0 || (word.kind() == ChunkKind::run_body && word.is_body_at(k));
        if (is_its) wipe(pool_.chunk_offset(head + k), pool_.super().chunk_bytes);
    }
}

// The head goes last. Whoever repeats this after a death does not free what others have claimed since: while the head stands, no other
// run has a chunk so far behind its own.
void Heap::free_run(std::uint64_t head, std::uint64_t record_offset) {
    const std::uint64_t count = chunks_of_run(head, record_offset);
    for (std::uint64_t k = count; k-- > 1;) {
        const ChunkWord word = chunk_word(head + k);
        if (word.kind() == ChunkKind::run_body && word.is_body_at(k)) exchange_chunk(head + k, word, {});
    }
    // Meanwhile its claimer may have died, and another have taken its name out.
    while (chunks_of_run(head, record_offset) != 0) {
        if (exchange_chunk(head, chunk_word(head), {})) return;
    }
}

// The record is a draft of the caller's.
void Heap::shrink_extent(Extent& extent, std::uint64_t length, std::uint64_t record_offset) {
    const std::uint64_t chunk_bytes = pool_.super().chunk_bytes;
    if (extent.target != 0) return outside_->shrink(extent, length);
    if (extent.length <= data_sizes_.largest()) return;
    const std::uint64_t head = pool_.chunk_of(extent.offset);
    const std::uint64_t count = chunks_of_run(head, record_offset);
    const std::uint64_t keep = std::max<std::uint64_t>((length + chunk_bytes - 1) / chunk_bytes, 1);
    if (keep >= count) return;
    if (wipes()) wipe(pool_.chunk_offset(head + keep), (count - keep) * chunk_bytes);
    for (std::uint64_t i = count; i-- > keep;) set_chunk(head + i, {}, {});
    set_chunk(head, ChunkWord::make(ChunkKind::run_head, pool_.owner(), keep), {record_offset / 64});
    extent.length = keep * chunk_bytes;
}

}  // namespace pmemcpy::heap
