// Blocks that come back into the pool because somebody reads them.

#include "array/selection.hpp"
#include "store/store.hpp"
#include "tier/hierarchy.hpp"

#include <algorithm>

namespace pmemcpy::store {

void Store::set_on_read(std::function<void(Read)> f) {
    const std::lock_guard lock(on_read_mutex_);
    if (f) counts_reads_ = true;
    on_read_ = std::move(f);
}

Promotion Store::promotion() const {
    const auto t = tiering();
    return t ? t->hierarchy.promotion : Promotion::never;
}

void Store::check_may_promote() const {
    check_writable();
    if (!tiering())
        throw Error(Code::invalid_argument, path() + " has no hierarchy, so nothing lies below it");
    if (promotion() == Promotion::never)
        throw Error(
            Code::invalid_argument,
            path() +
                "'s hierarchy has `promotion: never`, so nothing is brought up; set on-read or read-ahead");
}

std::vector<Store::Read> Store::blocks_below(const std::string& id, const std::vector<Box>& boxes) const {
    std::vector<Read> found;
    const auto directory = directory_of(id);
    if (!directory) return found;
    const std::lock_guard one_thread(directory->mutex());
    if (!directory->refresh()) return found;
    for (const Box& box : boxes) {
        for (const std::uint64_t handle : directory->same_box(box)) {
            const BlockRecord& block = directory->block(handle);
            if (is_below(block) && is_committed(block.block.step)) found.push_back({id, block});
        }
    }
    return found;
}

Box Store::box_for_users(const Read& read) const {
    const auto directory = directory_of(read.id);
    const bool is_reversed = directory && directory->definition().order == Order::fortran;
    return array::bounding_box(is_reversed ? array::reversed(read.block.box) : read.block.box);
}

bool Store::bring_up(const Read& read, Why why) {
    const auto t = tiering();
    if (!t || !is_below(read.block)) return false;
    if (t->hierarchy.promotion == Promotion::never && why != Why::wanted) return false;
    const Rule* rule =
        t->rules.find(read.id, array::bounding_box(read.block.box), read.block.block.writer_rank);
    if (rule != nullptr && (!rule->pin.empty() || rule->drop_after_flush)) return false;
    if (t->mode_of(read.id, read.block) == Buffering::bypass) return false;
    const auto directory = directory_of(read.id);
    if (!directory) return false;
    const std::uint64_t bytes = read.block.block.stored_bytes;
    const tier::Level top = ledger_of(*t)[0];
    // As far as the high watermark, behind which it would only be brought down again. Where stores have filled it further, as much goes as
    // comes.
    const std::uint64_t most = tier::part_of(top.capacity, t->hierarchy.watermarks.high);
    if (bytes > most) return false;
    const std::uint64_t stays_free = std::min(top.capacity - most, top.remaining);
    const bool is_tight = top.remaining < stays_free + bytes;
    Spared spared{.needed = true};
    if (is_tight && t->hierarchy.policy == Policy::hot_data && why != Why::wanted) {
        // What is as hot stays.
        const std::uint32_t score = tier::score_of(past_of(*t, read.block).reads);
        if (score == 0) return false;
        spared.hotter_than = score - 1;
    }
    // It comes before others go, where there is room for both: each read until then is a slow one.
    const bool fits = top.remaining >= bytes;
    if (!fits) {
        make_room(*t, 0, stays_free + bytes, false, spared);
        if (ledger_of(*t)[0].remaining < bytes) return false;
    }
    try {
        if (!move_block(read.id, *directory, read.block, t->numbers[0])) return false;
    } catch (const Error& error) {
        if (error.kind() != Code::no_space) throw;
        return false;  // who stores is before who might read
    }
    const auto tally = this->tally();
    if (tally && why == Why::read) tally->add(heat::Count::brought_up);
    if (tally && why != Why::read) {
        tally->mark(read.block.version, heat::mark_ahead, 0);
        tally->add(heat::Count::read_ahead);
    }
    if (fits && is_tight) make_room(*t, 0, stays_free, false, spared);
    return true;
}

}  // namespace pmemcpy::store
