// What is read, counted; what the application says of blocks; and which of them leave first.

#include "array/selection.hpp"
#include "heat/tally.hpp"
#include "store/store.hpp"

#include <algorithm>

namespace pmemcpy::store {

using heat::Count;
using heat::Flow;
using heat::Tally;

std::shared_ptr<Tally> Store::tally() const {
    if (hierarchy_number() == 0) return nullptr;
    const std::lock_guard lock(tally_mutex_);
    if (!tally_) tally_ = Tally::open(pool_.file(), pool_.super().uuid, read_only());
    return tally_;
}

// Whoever took the last hierarchy away removed the file with it, so that others have made another one since.
void Store::renew_tally() const {
    {
        const std::lock_guard lock(tally_mutex_);
        if (tally_) old_tallies_.push_back(std::move(tally_));
    }
    counting_ = tally().get();
}

// By whoever has just read them, with what he knows of them; nothing of the pool is looked at.
void Store::count_reads(std::string_view id, const Directory& directory, const BlocksRead& blocks) const {
    if (const Tally* const tally = counting_.load(std::memory_order_acquire)) {
        const double half_life_s = half_life_s_.load(std::memory_order_relaxed);
        bool is_spread = false;
        for (std::size_t i = 0; i < blocks.count; ++i) {
            const BlockRecord& block = blocks[i];
            const std::uint32_t target = block.block.extent.target;
            const std::uint64_t before =
                tally->mark_known(block.version, 0, heat::mark_soon | heat::mark_no_more | heat::mark_ahead);
            tally->read(block.version, half_life_s);
            tally->add(is_below(block) ? Count::reads_below : Count::reads_above);
            if (is_below(block) && (before & heat::mark_left) != 0) tally->add(Count::reads_returned);
            if (!is_below(block) && (before & heat::mark_ahead) != 0) tally->add(Count::ahead_used);
            tally->add(target, Flow::reads, 1);
            tally->add(target, Flow::read_bytes, block.block.stored_bytes);
            is_spread = is_spread || target != blocks.first->block.extent.target;
        }
        tally->add(Count::loads);
        if (is_spread) tally->add(Count::loads_spread);
        tally->read(heat::key_of_variable(directory.definition().incarnation), half_life_s,
                    static_cast<double>(blocks.count));
    }
    const std::lock_guard lock(on_read_mutex_);
    if (!on_read_) return;
    for (std::size_t i = 0; i < blocks.count; ++i) on_read_({std::string(id), blocks[i]});
}

void Store::count_move(const BlockRecord& block, std::uint32_t to) const {
    const auto tally = this->tally();
    if (!tally) return;
    const std::uint32_t from = block.block.extent.target;
    tally->add(from, Flow::moved_out_bytes, block.block.stored_bytes);
    tally->add(from, Flow::blocks_out, 1);
    tally->add(to, Flow::moved_in_bytes, block.block.stored_bytes);
    if (to == 0) {
        tally->mark_known(block.version, 0, heat::mark_left | heat::mark_wasted);
        return;
    }
    if (from != 0) return;
    const std::uint64_t before = tally->mark(block.version, heat::mark_left, heat::mark_ahead);
    if ((before & heat::mark_ahead) == 0) return;
    tally->mark_known(block.version, heat::mark_wasted, 0);
    tally->add(Count::ahead_wasted);
}

tier::Past Store::past_of(const Tiering& t, const BlockRecord& block) const {
    constexpr std::uint64_t ns_per_ms = 1'000'000;
    tier::Past past;
    if (const auto tally = this->tally())
        past = tally->past_of(block.version, t.hierarchy.half_life_s).value_or(tier::Past{});
    past.used_ms = std::max(past.used_ms, block.block.written_ns / ns_per_ms);
    past.step = block.block.step;
    past.placed = block.block.header.version;
    return past;
}

// Of an array that somebody stores in. Its blocks have been read so often that the next one may be, too.
std::uint32_t Store::score_of(const Tiering& t, const std::shared_ptr<Directory>& directory) const {
    const auto tally = this->tally();
    if (!tally || !directory) return 0;
    const auto past =
        tally->past_of(heat::key_of_variable(directory->definition().incarnation), t.hierarchy.half_life_s);
    if (!past) return 0;
    const std::lock_guard one_thread(directory->mutex());
    if (!directory->refresh()) return 0;
    return tier::score_of(past->reads /
                          static_cast<double>(std::max<std::size_t>(directory->blocks().size(), 1)));
}

// What was read, or is said to be needed, since it was found to be the next to leave is asked for again.
bool Store::has_been_used_since(const Tiering& t, const Resident& resident) const {
    const tier::Past now = past_of(t, resident.block);
    if (now.need != resident.past.need) return now.need == tier::Need::soon;
    const bool reads_count = t.hierarchy.policy == Policy::hot_data ||
                             t.hierarchy.replacement == Replacement::lru ||
                             t.hierarchy.replacement == Replacement::lfu;
    return reads_count && now.used_ms > resident.past.used_ms;
}

std::vector<Store::Read> Store::say(std::string_view id, const std::optional<Box>& box, tier::Need need) {
    check_writable();
    const auto tally = this->tally();
    if (!tiering())
        throw Error(Code::invalid_argument,
                    path() + " has no hierarchy, so all of it is as near as it can be");
    const bool is_many = id == "/" || is_group(id) == true;
    if (!is_many && !exists(id))
        throw Error(Code::not_found, "there is no '" + std::string(id) + "' in " + path());
    if (is_many && box)
        throw Error(Code::invalid_argument, "'" + std::string(id) + "' is a group, of which there is no box");
    std::vector<Read> blocks;
    if (!is_many) {
        blocks = blocks_meeting(std::string(id), box);
    } else {
        for (const std::string& each : ids(id == "/" ? "" : std::string(id) + "/", false)) {
            for (Read& block : blocks_meeting(each, {})) blocks.push_back(std::move(block));
        }
    }
    if (!tally) return blocks;
    const bool is_soon = need == tier::Need::soon;
    for (const Read& each : blocks) {
        tally->mark(each.block.version, is_soon ? heat::mark_soon : heat::mark_no_more,
                    is_soon ? heat::mark_no_more : heat::mark_soon);
    }
    tally->add(Count::hints);
    return blocks;
}

std::vector<Store::Read> Store::blocks_meeting(const std::string& id, const std::optional<Box>& box) const {
    std::vector<Read> found;
    const auto directory = directory_of(id);
    if (!directory || (directory->definition().flags & catalog::array_contiguous) != 0) return found;
    const std::lock_guard one_thread(directory->mutex());
    if (!directory->refresh()) return found;
    const auto add = [&](const BlockRecord& block) {
        if (is_committed(block.block.step)) found.push_back({id, block});
    };
    if (!box) {
        for (const auto& [handle, block] : directory->blocks()) add(block);
        return found;
    }
    Selection wanted(*box);
    array::validate(wanted, dims_now(*directory));
    if (directory->definition().order == Order::fortran) wanted = array::reversed(wanted);
    directory->index().query(array::bounding_box(wanted),
                             [&](std::uint64_t handle) { add(directory->block(handle)); });
    return found;
}

bool Store::moves_by_heat() const {
    const auto t = tiering();
    return t && t->hierarchy.policy == Policy::hot_data && t->hierarchy.promotion != Promotion::never;
}

void Store::settle_by_heat() {
    constexpr std::size_t most_refusals = 4;  // then the pool holds what is as hot
    const auto t = tiering();
    if (!t || !tally() || !moves_by_heat()) return;
    std::vector<Resident> hot;
    for (std::size_t level = 0; level < t->numbers.size(); ++level) {
        for (Resident& resident : residents_of(*t, level)) {
            if (level > 0 && tier::score_of(resident.past.reads) > 0) hot.push_back(std::move(resident));
        }
    }
    std::sort(hot.begin(), hot.end(),
              [](const Resident& a, const Resident& b) { return a.past.reads > b.past.reads; });
    std::size_t refusals = 0;
    for (const Resident& resident : hot) {
        if (!bring_up({resident.id, resident.block}, Why::read) && ++refusals == most_refusals) return;
    }
}

std::vector<VariableHeat> Store::heat_of_arrays() const {
    check_readable();
    std::vector<VariableHeat> all;
    const auto t = tiering();
    const auto tally = this->tally();
    if (!t || !tally) return all;
    for (const std::string& id : ids("", false)) {
        const auto directory = directory_of(id);
        if (!directory) continue;
        VariableHeat each;
        each.id = id;
        {
            const std::lock_guard one_thread(directory->mutex());
            if (!directory->refresh() || directory->blocks().empty()) continue;
            for (const auto& [handle, block] : directory->blocks()) {
                ++each.blocks;
                each.bytes += block.block.stored_bytes;
                if (is_below(block)) each.bytes_below += block.block.stored_bytes;
            }
        }
        if (const auto past = tally->past_of(heat::key_of_variable(directory->definition().incarnation),
                                             t->hierarchy.half_life_s))
            each.reads = past->reads / static_cast<double>(each.blocks);
        each.score = tier::score_of(each.reads);
        all.push_back(std::move(each));
    }
    std::sort(all.begin(), all.end(), [](const VariableHeat& a, const VariableHeat& b) {
        return a.reads != b.reads ? a.reads > b.reads : a.id < b.id;
    });
    return all;
}

std::optional<PoolCounters> Store::pool_counters() const {
    check_readable();
    const auto t = tiering();
    const auto tally = this->tally();
    if (!t || !tally) return std::nullopt;
    PoolCounters c;
    c.since_ns = tally->since_ns();
    c.loads = tally->count(Count::loads);
    c.loads_spread = tally->count(Count::loads_spread);
    c.hits = tally->count(Count::reads_above);
    c.misses = tally->count(Count::reads_below);
    c.returned = tally->count(Count::reads_returned);
    c.brought_up = tally->count(Count::brought_up);
    c.read_ahead = tally->count(Count::read_ahead);
    c.ahead_used = tally->count(Count::ahead_used);
    c.ahead_wasted = tally->count(Count::ahead_wasted);
    c.waits = tally->count(Count::waits);
    c.waited_s = static_cast<double>(tally->count(Count::wait_ns)) * 1e-9;
    c.flushed_bytes = tally->count(Count::flushed_bytes);
    for (std::size_t i = 0; i < t->numbers.size(); ++i) {
        const std::uint32_t n = t->numbers[i];
        c.targets.push_back({t->hierarchy.targets[i].name, tally->flow(n, Flow::reads),
                             tally->flow(n, Flow::read_bytes), tally->flow(n, Flow::stored_bytes),
                             tally->flow(n, Flow::moved_in_bytes), tally->flow(n, Flow::moved_out_bytes),
                             tally->flow(n, Flow::blocks_out)});
    }
    return c;
}

}  // namespace pmemcpy::store
