// Runs of whole chunks, and extents of any size. All changes to the chunk table happen under the allocation lock.

#include "heap/heap.hpp"

#include <pmemcpy/error.hpp>

#include <algorithm>

namespace pmemcpy::heap {

ChunkEntry& Heap::chunk(std::uint64_t i) const {
    return pool_.as<ChunkEntry>(pool_.super().table_offset + i * sizeof(ChunkEntry));
}

void Heap::set_chunk(std::uint64_t i, ChunkWord word, Link record) {
    ChunkEntry& entry = chunk(i);
    pool_.medium().store(&entry.record.word, record.word);
    pool_.medium().store(&entry.word, word.word);
    pool_.medium().flush(&entry, sizeof entry);
}

// Next fit: a search begins where the last one ended, so that a filling pool is not searched from its start.
// `free_tail` gets the number of free chunks at the end of the pool when the answer is that there is no place;
// counted from the front, because behind a head whose run is half freed chunks look free that are not.
std::uint64_t Heap::find_free_chunks(std::uint64_t count, std::uint64_t usable, std::uint64_t& free_tail) {
    const std::uint64_t hint = std::min(persist::Medium::load(&pool_.state().search_hint.value), usable);
    for (const auto& [begin, end] : {std::pair{hint, usable}, std::pair{std::uint64_t{0}, usable}}) {
        std::uint64_t free = 0;
        for (std::uint64_t i = begin; i < end;) {
            const ChunkWord word{persist::Medium::load(&chunk(i).word)};
            if (word.is_idle()) {
                ++i;
                if (++free == count) return i - count;
                continue;
            }
            free = 0;
            i += word.kind() == ChunkKind::run_head ? std::max<std::uint64_t>(word.length(), 1) : 1;
        }
        free_tail = free;
    }
    return usable;
}

std::uint64_t Heap::obtain_chunks(std::uint64_t count, Purpose purpose,
                                  std::optional<pool::Pool::AllocationLock>& lock) {
    if (purpose == Purpose::data || kept_for_records_ == 0) keep_reserved(count);
    const std::uint64_t all = pool_.super().chunk_count;
    const std::uint64_t end =
        purpose == Purpose::data ? all - std::min<std::uint64_t>(all, kept_for_records_) : all;
    const std::uint64_t usable = std::min(pool_.usable_chunks(), end);
    std::uint64_t tail = 0;
    std::uint64_t first = find_free_chunks(count, usable, tail);
    if (first == usable) {
        tail = std::min(tail, count);  // free chunks at the end need not be grown again
        first -= tail;
        if (first + count > end) pool_.throw_full(count);
        grow(count - tail);
    }
    pool_.vouch_for_usable_chunks();
    pool_.medium().store(&pool_.state().search_hint.value, first + count);
    for (std::uint64_t i = first; i < first + count; ++i) {
        if (ChunkWord{chunk(i).word}.kind() != ChunkKind::hole) continue;
        fill_claimed(first, count, lock);
        break;
    }
    pool_.use_reserved(0, count * pool_.super().chunk_bytes);
    return first;
}

void Heap::grow(std::uint64_t chunks) {
    pool_.grow(chunks, [this](std::uint64_t first, std::uint64_t count) {
        for (std::uint64_t i = first; i < first + count; ++i)
            set_chunk(i, ChunkWord::make(ChunkKind::hole, 0, 0), {});
    });
}

// Nobody waits for the kernel to make our memory, unless there is little left: meanwhile the chunks are holes that are ours, which
// others pass over, and which whoever cleans up after our death takes back.
void Heap::fill_claimed(std::uint64_t first, std::uint64_t count,
                        std::optional<pool::Pool::AllocationLock>& lock) {
    const auto set_all = [&](ChunkWord word) {
        for (std::uint64_t i = first; i < first + count; ++i) set_chunk(i, word, {});
    };
    set_all(ChunkWord::make(ChunkKind::hole, pool_.owner(), 0));
    if (pool_.has_ample_room(count)) lock.reset();
    const auto lock_again = [&] {
        if (!lock) lock.emplace(pool_);
    };
    try {
        pool_.promise(first, count);
    } catch (...) {
        lock_again();
        set_all(ChunkWord::make(ChunkKind::hole, 0, 0));
        throw;
    }
    lock_again();
    set_all({});
}

// What others have reserved is left to them.
void Heap::keep_reserved(std::uint64_t count) {
    const std::uint64_t kept = chunks_for(pool_.reserved_by_others(0));
    if (kept > 0) make_ready(kept + count);
}

void Heap::reserve(std::uint64_t bytes) {
    const pool::Pool::AllocationLock lock(pool_);
    pool_.set_reserved(0, 0);  // set anew
    const std::uint64_t chunks = chunks_for(bytes);
    if (chunks > 0) make_ready(chunks + chunks_for(pool_.reserved_by_others(0)));
    pool_.set_reserved(0, chunks * pool_.super().chunk_bytes);
}

// So many chunks are free, and the file system has promised their space. Under the allocation lock.
void Heap::make_ready(std::uint64_t wanted) {
    const std::uint64_t free = pool_.usable_chunks() - count_taken_chunks();
    if (free < wanted) grow(wanted - free);
    std::uint64_t ready = 0;
    for (std::uint64_t i = 0; i < pool_.usable_chunks() && ready < wanted; ++i) {
        if (!ChunkWord{chunk(i).word}.is_idle()) continue;
        fill_holes(i, 1);
        ++ready;
    }
}

std::uint64_t Heap::chunks_for(std::uint64_t bytes) const {
    const std::uint64_t chunk_bytes = pool_.super().chunk_bytes;
    return bytes / chunk_bytes + (bytes % chunk_bytes != 0 ? 1 : 0);
}

// Under the allocation lock, for many at once: where nobody else is expected to wait.
void Heap::fill_holes(std::uint64_t first, std::uint64_t count) {
    const auto is_hole = [this](std::uint64_t i) {
        const ChunkWord word{chunk(i).word};
        return word.kind() == ChunkKind::hole && word.is_idle();
    };
    for (std::uint64_t i = first; i < first + count; ++i) {
        if (!is_hole(i)) continue;
        std::uint64_t end = i;
        while (end < first + count && is_hole(end)) ++end;
        pool_.promise(i, end - i);
        for (; i < end; ++i) set_chunk(i, {}, {});
    }
}

std::uint64_t Heap::count_taken_chunks() const {
    std::uint64_t taken = 0;
    const std::uint64_t usable = pool_.usable_chunks();
    for (std::uint64_t i = 0; i < usable; ++i) {
        if (!ChunkWord{persist::Medium::load(&chunk(i).word)}.is_idle()) ++taken;
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
    std::optional<pool::Pool::AllocationLock> lock(std::in_place, pool_);
    const std::uint64_t head = obtain_chunks(count, Purpose::data, lock);
    for (std::uint64_t i = 1; i < count; ++i) {
        set_chunk(head + i, ChunkWord::make(ChunkKind::run_body, pool_.owner(), 0), {});
    }
    // The head comes last: until then a scavenger sees bodies without a head and frees them.
    set_chunk(head, ChunkWord::make(ChunkKind::run_head, pool_.owner(), count), {record_offset / 64});
    return {0, 0, pool_.chunk_offset(head), count * chunk_bytes};
}

Bytes Heap::bytes(const Extent& extent, bool create) const {
    if (extent.target == 0) {
        if (!create) return {pool_.at(extent.offset), nullptr};
        return {pool_.at(extent.offset), nullptr, &pool_.file(), extent.offset, &ways_};
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
    const ChunkKind kind = ChunkWord{persist::Medium::load(&chunk(i).word)}.kind();
    if (kind == ChunkKind::run_head) {
        if (wipes()) wipe_run(i, record_offset);  // before others have to wait for the lock
        const pool::Pool::AllocationLock lock(pool_);
        free_run(i, record_offset);
    } else if (is_data_slab(kind)) {
        free_unit(extent.offset, UnitState{record_offset});
    }
}

void Heap::wipe_run(std::uint64_t head, std::uint64_t record_offset) {
    const ChunkEntry entry = chunk(head);
    const ChunkWord word{entry.word};
    if (word.kind() != ChunkKind::run_head || entry.record.offset() != record_offset) return;
    const std::uint64_t count = std::min(word.length(), pool_.usable_chunks() - head);
    wipe(pool_.chunk_offset(head), count * pool_.super().chunk_bytes);
}

void Heap::free_run(std::uint64_t head, std::uint64_t record_offset) {
    const ChunkWord word{chunk(head).word};
    if (word.kind() != ChunkKind::run_head || chunk(head).record.offset() != record_offset) return;
    const std::uint64_t count = std::min(word.length(), pool_.usable_chunks() - head);
    // The head goes last: while it stands, nobody looks at the chunks behind it.
    for (std::uint64_t i = count; i-- > 1;) set_chunk(head + i, {}, {});
    set_chunk(head, {}, {});
}

void Heap::shrink_extent(Extent& extent, std::uint64_t length, std::uint64_t record_offset) {
    const std::uint64_t chunk_bytes = pool_.super().chunk_bytes;
    if (extent.target != 0) return outside_->shrink(extent, length);
    if (extent.length <= data_sizes_.largest()) return;
    const pool::Pool::AllocationLock lock(pool_);
    const std::uint64_t head = pool_.chunk_of(extent.offset);
    const ChunkWord word{chunk(head).word};
    const std::uint64_t keep = std::max<std::uint64_t>((length + chunk_bytes - 1) / chunk_bytes, 1);
    if (word.kind() != ChunkKind::run_head || chunk(head).record.offset() != record_offset ||
        keep >= word.length())
        return;
    const std::uint64_t end = std::min(word.length(), pool_.usable_chunks() - head);
    if (wipes()) wipe(pool_.chunk_offset(head + keep), (end - keep) * chunk_bytes);
    for (std::uint64_t i = end; i-- > keep;) set_chunk(head + i, {}, {});
    set_chunk(head, ChunkWord::make(ChunkKind::run_head, word.owner(), keep), {record_offset / 64});
    extent.length = keep * chunk_bytes;
}

}  // namespace pmemcpy::heap
