#include "base/checked.hpp"
#include "os/lock.hpp"
#include "os/process.hpp"
#include "os/space.hpp"
#include "pool/locks.hpp"
#include "pool/pool.hpp"

#include <pmemcpy/error.hpp>

#include <algorithm>

namespace pmemcpy::pool {
namespace {

constexpr std::uint64_t largest_step_bytes = 1ULL << 30;
constexpr std::uint64_t ample_bytes = 1ULL << 30;
constexpr std::uint64_t ample_times = 64;  // as many at the same time are few enough
constexpr std::uint64_t huge_again_ns = 200'000'000;
constexpr std::uint64_t made_huge_at_once = 16 * os::huge_page_bytes;

// Small pools grow by what is asked, large ones by an eighth, so that growing stays rare and never wasteful.
std::uint64_t growth_step(std::uint64_t asked, std::uint64_t usable, std::uint64_t chunk_bytes) {
    return std::max(asked, std::min(usable / 8, largest_step_bytes / chunk_bytes));
}

}  // namespace

void Pool::throw_full(std::uint64_t chunks) const {
    throw Error(Code::no_space,
                path() + " is full: it may have " + std::to_string(super_.max_bytes) + " bytes and " +
                    std::to_string(chunks * super_.chunk_bytes) +
                    " more are needed; erase something, or copy it into a larger pool (pmemcpy cp " + path() +
                    " NEW --create --size BYTES)");
}

void Pool::grow(std::uint64_t chunks,
                const std::function<void(std::uint64_t, std::uint64_t, bool)>& note_fresh) {
    const std::uint64_t usable = usable_chunks();
    const std::uint64_t left = super_.chunk_count - usable;
    if (chunks > left) throw_full(chunks);
    const std::uint64_t room = check_headroom(chunks);
    std::uint64_t step = std::min({growth_step(chunks, usable, super_.chunk_bytes), left, room});
    check_table(usable, step);
    if (file_.fs_kind() == os::FileSystem::tmpfs) {
        // Making memory takes longer than the copy into it. Each process makes that of the chunks it takes, at the same time as others.
        note_fresh(usable, step, true);
    } else {
        try {
            allocate(usable, step);
        } catch (const Error& error) {
            if (error.kind() != Code::no_space || step == chunks) throw;
            step = chunks;  // what is asked may fit where more did not
            allocate(usable, step);
        }
        note_fresh(usable, step, false);
    }
    if (durability() != Durability::none && !probe_.is_devdax)
        medium_.sync(file_);  // before anything says it is ours
    std::uint64_t expected = usable;
    if (!medium_.compare_exchange(&state().usable_chunks.value, expected, usable + step)) return;
    // Durable before anything is put into these chunks: recovery finds nothing behind the usable ones, so there what was acknowledged
    // would be lost, and what was dropped never wiped.
    medium_.flush(&state().usable_chunks.value, sizeof(std::uint64_t));
    // No image shows it: a fence of this thread follows before it acknowledges anything. Others, whose fences do nothing for what this
    // one has flushed, go by what is noted here.
    medium_.fence();
    if (probe_.needs_sync) medium_.sync(file_);
    note_durable_chunks(usable + step);
}

void Pool::note_durable_chunks(std::uint64_t chunks) {
    std::uint64_t before = durable_chunks_.load();
    while (before < chunks && !durable_chunks_.compare_exchange_weak(before, chunks)) {
    }
}

// Whoever made them usable may have died before that was durable.
void Pool::vouch_for_usable_chunks() {
    const std::uint64_t usable = usable_chunks();
    if (usable <= durable_chunks_.load(std::memory_order_relaxed)) return;
    medium_.flush(&state().usable_chunks.value, sizeof(std::uint64_t));
    // No image shows it: a process that stores there has the fence of a sealing before it publishes that. But another thread may publish a
    // record in a slab that this one makes there, or come by when the chunks are noted, and its fences order no flush of this thread's.
    // The explorer has one thread.
    medium_.fence();
    note_durable_chunks(usable);
}

void Pool::promise(std::uint64_t first, std::uint64_t chunks) {
    if (!has_ample_room(chunks)) check_headroom(chunks);
    allocate(first, chunks);
    if (durability() != Durability::none) medium_.sync(file_);
}

// The space of chunks that have none. Where huge pages are made, one call after the other, behind a failure they have none either;
// elsewhere it is one call, and its error is what is told.
void Pool::allocate(std::uint64_t first, std::uint64_t chunks) {
    const std::uint64_t begin = chunk_offset(first);
    const std::uint64_t bytes = chunks * super_.chunk_bytes;
    if (file_.fs_kind() != os::FileSystem::tmpfs) return file_.allocate(begin, bytes);
    try {
        make_huge(begin, bytes);
        file_.allocate(begin, bytes);
    } catch (const Error&) {
        file_.punch(begin, bytes);
        throw;
    }
}

// On tmpfs a store into new memory takes several times as long as the copy, because each small page is allocated, zeroed and mapped
// by itself, and processes that do so in one file wait for each other. A huge page is made in one go, of its first small page.
// None is tried for a while after one that could not be: memory may be in pieces, and looking for a whole one takes long then.
void Pool::make_huge(std::uint64_t begin, std::uint64_t bytes) {
    if (begin % os::huge_page_bytes != 0 || os::monotonic_ns() < no_huge_before_ns_) return;
    const std::uint64_t end = begin + base::align_down(bytes, os::huge_page_bytes);
    for (std::uint64_t group = begin; group < end; group += made_huge_at_once) {
        const std::uint64_t length = std::min(made_huge_at_once, end - group);
        for (std::uint64_t at = group; at < group + length; at += os::huge_page_bytes)
            file_.allocate(at, page_bytes);
        if (map_.collapse(group, length)) continue;
        no_huge_before_ns_ = os::monotonic_ns() + huge_again_ns;
        return;
    }
}

// Asked before allocating, because on tmpfs an overrun of the memory cgroup kills. Returns chunks.
std::uint64_t Pool::check_headroom(std::uint64_t chunks) const {
    const std::uint64_t room = os::headroom_bytes(file_) / super_.chunk_bytes;
    if (chunks <= room) return room;
    throw Error(Code::no_space, "the file system or memory cgroup of " + path() + " has room for " +
                                    std::to_string(room * super_.chunk_bytes) + " bytes and " +
                                    std::to_string(chunks * super_.chunk_bytes) + " more are needed");
}

bool Pool::has_ample_room(std::uint64_t chunks) const {
    const std::uint64_t room = os::recent_headroom_bytes(file_);  // asked often
    return room > ample_bytes && room / super_.chunk_bytes / ample_times > chunks;
}

void Pool::sync() {
    check_writable();
    if (!probe_.needs_sync) return;  // what was stored is durable already
    const SyncLock one_at_a_time(*this);
    RuntimeHeader& rt = runtime_->header();
    const std::uint64_t number = persist::Medium::load(&rt.sync_started) + 1;
    medium_.store(&rt.sync_started, number);
    const std::uint64_t mark = persist::Medium::load(&state().next_version.value);
    // Data first, then the mark that vouches for it (law 10).
    sync_outside();
    medium_.sync(file_);
    medium_.store(&state().synced_version.value, mark);
    medium_.sync(file_);
    medium_.store(&rt.sync_completed, number);
}

void Pool::sync_outside() {
    if (!before_sync_) return;
    try {
        before_sync_();
    } catch (...) {
        medium_.store(&state().failed.value, 1);
        throw;
    }
}

}  // namespace pmemcpy::pool
