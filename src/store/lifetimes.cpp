// Blocks that go by themselves: when they have been read, and when the job ends that stored them for no longer.

#include "array/selection.hpp"
#include "store/store.hpp"

#include <pmemcpy/error.hpp>

#include <algorithm>

namespace pmemcpy::store {

using persist::Medium;

namespace {

thread_local int looking = 0;

bool is_whole(const Selection& read, const Selection& block) {
    if (read == block) return true;
    if (!read.is_dense()) return false;
    const Box all = array::bounding_box(read);
    const Box its = array::bounding_box(block);
    for (int d = 0; d < all.size(); ++d) {
        if (its.offset[d] < all.offset[d] || its.end(d) > all.end(d)) return false;
    }
    return true;
}

}  // namespace

Store::Looking::Looking() { ++looking; }
Store::Looking::~Looking() { --looking; }

void Store::take(std::string_view id, const Type& type, void* data, const Selection& selection,
                 std::optional<std::uint64_t> step) {
    check_readable();
    const bool may_drop =
        Medium::load(&pool_.state().hierarchy.value) != 0 && !pool_.read_only() && looking == 0;
    const auto t = may_drop ? tiering() : nullptr;
    if (!t || !t->drops_after_read) {
        load_checked(id, type, data, selection, step, nullptr);
        return;
    }
    std::vector<BlockRecord> read;
    load_checked(id, type, data, selection, step, &read);
    for (const BlockRecord& block : read) drop_read(*t, std::string(id), selection, block);
}

// The last thing that a load does: who dies before has taken nothing. It is a block's slot that becomes empty, by one CAS, as when
// something covers the block.
void Store::drop_read(const Tiering& t, const std::string& id, const Selection& selection,
                      const BlockRecord& block) {
    const Box box = array::bounding_box(block.box);
    const Rule* rule = t.rules.find(id, box, block.block.writer_rank);
    if (rule == nullptr || !rule->drop_after_read) return;
    if ((block.block.flags & catalog::block_in_place) != 0 || !is_committed(block.block.step)) return;
    {
        const std::lock_guard lock(own_mutex_);
        const auto own = own_.find(id);
        if (own != own_.end() && own->second.contains(block.version)) return;
    }
    const auto directory = directory_of(id);
    if (!directory) return;
    const bool is_fortran = directory->definition().order == Order::fortran;
    if (!is_whole(is_fortran ? array::reversed(selection) : selection, block.box)) return;
    pool::Feed::UnderWay under_way(feed());
    under_way.of(catalog_.entry_of(directory->definition().link));
    {
        const std::lock_guard one_thread(directory->mutex());
        if (!directory->refresh()) return;
        bool hides_older = false;
        directory->index().query(box, [&](std::uint64_t handle) {
            hides_older = hides_older || directory->block(handle).version < block.version;
        });
        if (hides_older) return;
        // It may have been moved since: by its version it is the same.
        const auto same = directory->same_box(block.box);
        const auto found = std::find_if(same.begin(), same.end(), [&](std::uint64_t handle) {
            return directory->block(handle).version == block.version;
        });
        if (found == same.end()) return;
        directory->retire(*found, 0);  // older steps are read as before
    }
    announce(catalog_.entry_of(directory->definition().link));
    heap_.reclaim();
}

void Store::set_on_store(std::function<void()> f) {
    const std::lock_guard lock(on_store_mutex_);
    on_store_ = std::move(f);
}

void Store::tell_of_store() {
    const std::lock_guard lock(on_store_mutex_);
    if (on_store_) on_store_();
}

// Who loads what he has stored himself does not take it. Known by version, as no pid tells one process from another.
void Store::note_stored(const std::string& id, const Selection& box, std::uint64_t version) {
    const auto t = tiering();
    if (!t || !t->drops_after_read) return;
    const Rule* rule = t->rules.find(id, array::bounding_box(box), options_.rank);
    if (rule == nullptr || !rule->drop_after_read) return;
    const std::lock_guard lock(own_mutex_);
    if (own_[id].insert(version).second) ++own_count_;
    if (own_count_ < own_most_) return;
    own_count_ = 0;
    for (auto& [each, versions] : own_) {
        forget_gone(versions, each);
        own_count_ += versions.size();
    }
    own_most_ = 2 * own_count_ + 1024;
}

void Store::forget_gone(std::unordered_set<std::uint64_t>& versions, const std::string& id) const {
    std::unordered_set<std::uint64_t> there;
    const auto directory = directory_of(id);
    if (directory) {
        const std::lock_guard one_thread(directory->mutex());
        if (directory->refresh()) {
            for (const auto& [handle, block] : directory->blocks()) there.insert(block.version);
        }
    }
    std::erase_if(versions, [&](std::uint64_t version) { return !there.contains(version); });
}

// Nothing where there is nothing to do, so that nobody waits for it.
std::function<void()> Store::at_end_of_job() {
    // What a step leaves the next who opens the pool looks at.
    if (pool_.read_only() || in_step()) return {};
    const bool has_scratch = with_scratch() != nullptr;
    if (!has_scratch && leaves_ == Leaves::pool) return {};
    return [this, has_scratch] {
        if (has_scratch) {
            erase_scratch();
            end_scratch();
        }
        if (leaves_ != Leaves::pool) take_pool_away();
    };
}

// Others who share a target need not look for what this job has left.
void Store::end_scratch() noexcept try {
    const auto t = with_scratch();
    for (std::size_t level = 1; t && level < t->numbers.size(); ++level) {
        if (!targets_.is_away(t->numbers[level])) targets_.end_scratch(t->numbers[level]);
    }
} catch (const std::exception&) {
    // They look, and find nothing.
}

// Nobody else has the pool open for writing, and nobody gets in meanwhile. Each variable is whole or gone; what a death leaves is
// erased by whoever opens the pool next, before others get in. Views of readers keep what they show.
void Store::erase_scratch() noexcept try {
    const auto t = with_scratch();
    if (!t) return;
    for (const std::string& id : ids("", false)) erase_scratch_of(*t, id);
    heap_.reclaim(heap::Heap::Effort::thorough);
    sweep_copies(false);
} catch (const std::exception&) {
    // Damage, or a target that is away: the rest is erased at the end of the next job.
}

// What was scratch when it was stored, and still is. A rule for a box, or for ranks, says nothing of the variable as a whole.
void Store::erase_scratch_of(const Tiering& t, const std::string& id) {
    const auto named = defined(id);
    if (!named) return;
    if (!is_array(named->definition)) {
        const auto seen = read_value_record(named->definition);
        if (seen && (seen->record.flags & catalog::value_scratch) != 0 && is_scratch(id)) erase(id);
        return;
    }
    const auto directory = directory_of(named->definition);
    if (!directory) return;
    const bool may_go_whole = (directory->definition().flags & catalog::array_scratch) != 0 && is_scratch(id);
    std::vector<std::uint64_t> gone;
    {
        const std::lock_guard one_thread(directory->mutex());
        if (!directory->refresh()) return;
        const auto goes = [&](const BlockRecord& block) {
            const unsigned flags = block.block.flags;
            if ((flags & catalog::block_in_place) != 0) return may_go_whole;
            return (flags & catalog::block_scratch) != 0 && t.mode_of(id, block) == Buffering::scratch;
        };
        bool all_go = may_go_whole;
        for (const auto& [handle, block] : directory->blocks()) {
            goes(block) ? gone.push_back(handle) : void(all_go = false);
        }
        if (!all_go) {
            pool::Feed::UnderWay under_way(feed());
            under_way.of(named->entry.offset());
            for (const std::uint64_t handle : gone) directory->retire(handle, 0);
            if (!gone.empty()) announce(named->entry);
            return;
        }
    }
    erase(id);
}

namespace {

bool says_scratch(const Tiering& t, const Rule* rule) {
    return (rule != nullptr ? rule->mode.value_or(t.hierarchy.mode) : t.hierarchy.mode) == Buffering::scratch;
}

}  // namespace

// Null where nothing is scratch. A hierarchy that cannot be read says nothing of it, and keeps nobody from storing values.
std::shared_ptr<Tiering> Store::with_scratch() const try {
    const auto t = Medium::load(&pool_.state().hierarchy.value) != 0 ? tiering() : nullptr;
    return t && t->has_scratch ? t : nullptr;
} catch (const Error&) {
    return nullptr;
}

bool Store::is_scratch(std::string_view id) const {
    const auto t = with_scratch();
    return t && says_scratch(*t, t->rules.find_whole(id));
}

bool Store::is_scratch(std::string_view id, const Selection& box) const {
    const auto t = with_scratch();
    return t && says_scratch(*t, t->rules.find(id, array::bounding_box(box), options_.rank));
}

}  // namespace pmemcpy::store
