// Room in a target, where there is none: what leaves it first, where to, and how much of it. A block is not lost however this is cut short;
// it is where it was, or where it goes.

#include "array/selection.hpp"
#include "os/process.hpp"
#include "store/store.hpp"
#include "store/together.hpp"
#include "tier/bursts.hpp"
#include "tier/hierarchy.hpp"
#include "tier/writing.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <vector>

namespace pmemcpy::store {

namespace {

constexpr std::uint64_t most_room_at_once = 1 << 20;
constexpr std::uint64_t others_turn_ns = 20'000;
// A block that lives on in its copy makes room at once, but is read more slowly: in haste up to so much.
constexpr double most_times_slower = 8;
// Who finds nothing cold enough to leave does not look at everything at once again.
constexpr std::uint64_t look_again_ns = 1'000'000'000;

// What is more than the pool may have there, because others need it, and goes as well.
std::uint64_t excess_of(const tier::Level& now) { return now.movable - std::min(now.movable, now.capacity); }

}  // namespace

// All blocks of a level that may leave it, those first that are to leave first. Those that rules hold there are not among them.
std::vector<Resident> Store::residents_of(const Tiering& t, std::size_t level) const {
    std::vector<Resident> all;
    for (const std::string& id : ids("", false)) {
        const auto directory = directory_of(id);
        if (!directory || (directory->definition().flags & catalog::array_contiguous) != 0) continue;
        const std::lock_guard one_thread(directory->mutex());
        if (!directory->refresh()) continue;
        for (const auto& [handle, block] : directory->blocks()) {
            if (block.block.extent.target != t.numbers[level] || block.block.extent.length == 0) continue;
            if (!is_committed(block.block.step)) continue;
            const Rule* rule = t.rules.find(id, array::bounding_box(block.box), block.block.writer_rank);
            if (rule != nullptr && (rule->never_evict || !rule->pin.empty())) continue;
            all.push_back(
                {block.block.header.version, block.block.extent.length, id, block, past_of(t, block)});
        }
    }
    std::sort(all.begin(), all.end(),
              [&](const Resident& a, const Resident& b) { return t.leaves_before(a, b); });
    if (const auto tally = this->tally(); tally && t.hierarchy.policy == Policy::hot_data && !read_only()) {
        std::uint32_t least = all.empty() ? 0 : tier::most_heat;
        for (const Resident& each : all) least = std::min(least, tier::score_of(each.past.reads));
        tally->set_least_score(t.numbers[level], least);
    }
    return all;
}

bool Store::Spared::has(const Resident& resident) const {
    if (resident.past.need == tier::Need::no_more) return false;
    if (needed && resident.past.need == tier::Need::soon) return true;
    return tier::score_of(resident.past.reads) > hotter_than;
}

// Moves blocks to the next target until `bytes` find room in this one, or nothing is left that may go. The next target makes room
// itself first, and so on down.
bool Store::make_room(Tiering& t, std::size_t level, std::uint64_t bytes, bool in_haste, const Spared& spared,
                      const std::function<bool()>& goes_on) {
    if (level + 1 >= t.numbers.size()) return false;
    bool has_moved = false;
    bool has_moved_of_these = false;  // that were found by the last look
    bool may_be_enough = false;
    bool is_next_stuck = false;  // nothing there may go: it is not looked through again for each block
    const auto has_room = [&](const tier::Level& now) {
        return now.remaining >= bytes && excess_of(now) == 0;
    };
    // What somebody is copying just now is left to him, as long as others may go.
    constexpr std::array looks = {IfBusy::leave, IfBusy::leave, IfBusy::copy_too};
    for (std::size_t look = 0; !goes_on || goes_on();) {
        // One at a time, so that no two move more than both need; a piece at a time, for others wait for room too.
        if (has_moved && !may_be_enough) os::sleep_ns(others_turn_ns);
        const pool::Pool::RoomLock one_at_a_time(pool_, level,
                                                 [&] { return has_room(count_anew(t, level)); });
        if (!one_at_a_time) return true;  // others have made it
        auto& leaving = t.leaving[level];
        if (const auto tally = this->tally()) {
            const std::uint64_t hints = tally->count(heat::Count::hints);
            if (std::exchange(t.hints[level], hints) != hints) leaving.clear();
        }
        const tier::Level now = count_anew(t, level);  // others may have made room meanwhile
        if (has_room(now)) return true;
        const std::uint64_t excess = excess_of(now);
        const std::uint64_t missing = bytes - std::min(bytes, now.remaining);
        const bool is_last_piece = std::max(missing, excess) <= most_room_at_once;
        std::uint64_t wanted = std::min(std::max(missing, excess), most_room_at_once);
        if (leaving.empty()) {
            look = std::exchange(has_moved_of_these, false) ? 1 : look + 1;
            if (look == looks.size()) return has_moved;
            t.looked_ns[level] = os::monotonic_ns();
            const auto all = residents_of(t, level);
            leaving.assign(all.begin(), all.end());
        }
        // What somebody else is at, as long as others may go.
        const auto is_left = [&](const Resident& each) {
            return in_haste && looks.at(look) == IfBusy::leave && in_transit_.has(each.block.version);
        };
        while (wanted > 0 && !leaving.empty() && (!goes_on || goes_on())) {
            Resident next = std::move(leaving.front());
            leaving.pop_front();
            if (look == 0 && has_been_used_since(t, next)) continue;
            if (spared.has(next)) {
                const bool is_fresh = look > 0 || os::monotonic_ns() - t.looked_ns[level] < look_again_ns;
                leaving.push_front(std::move(next));
                if (is_fresh) return has_moved;
                leaving.clear();
                break;
            }
            if (is_left(next)) continue;
            if (may_live_on_in_copy(t, level, next, in_haste)) {
                if (!move_down(t, t.flush_level, next, looks.at(look))) continue;
                has_moved = has_moved_of_these = true;
                wanted -= std::min(wanted, next.bytes);
                continue;
            }
            std::vector<Resident> going;
            std::uint64_t bytes_together = next.bytes;
            going.push_back(std::move(next));
            const std::size_t threads = at_a_time(t, level + 1, going.front().bytes);
            const auto goes_too = [&] {
                return bytes_together < wanted || (in_haste && going.size() < threads);
            };
            while (threads > 1 && goes_too() && !leaving.empty() && !spared.has(leaving.front()) &&
                   !is_left(leaving.front()) && !may_live_on_in_copy(t, level, leaving.front(), in_haste)) {
                bytes_together += leaving.front().bytes;
                going.push_back(std::move(leaving.front()));
                leaving.pop_front();
            }
            // In haste past a target that is full, if it is emptied in the background.
            const std::size_t end = in_haste && t.has_background() ? t.numbers.size() : level + 2;
            if (!is_next_stuck && !has_room_below(t, level, end, bytes_together))
                is_next_stuck = !make_room(t, level + 1, bytes_together, in_haste);
            const std::uint64_t moved = move_down_together(t, level + 1, going, threads, looks.at(look));
            if (moved > 0) has_moved = has_moved_of_these = true;
            wanted -= std::min(wanted, moved);
        }
        take_back_space();
        may_be_enough = is_last_piece && wanted == 0;
    }
    return has_moved;
}

// Where the next target is nearly full itself: it costs nothing to have a block live on in the copy that the flush target has.
bool Store::may_live_on_in_copy(Tiering& t, std::size_t level, const Resident& resident,
                                bool in_haste) const {
    if (level + 1 >= t.flush_level) return false;
    const tier::Level next = ledger_of(t)[level + 1];
    const bool is_full = next.movable > tier::part_of(next.capacity, t.hierarchy.watermarks.high);
    const auto reads = [&](std::size_t i) { return t.hierarchy.targets[i].read.bytes_per_second; };
    const bool is_nearly_as_good = reads(level + 1) <= most_times_slower * reads(t.flush_level);
    return (is_full || (in_haste && is_nearly_as_good)) && has_copy(t, resident.block);
}

// To the first target from this level on that has room.
bool Store::move_down(Tiering& t, std::size_t to, const Resident& resident, IfBusy if_busy) {
    const auto directory = directory_of(resident.id);
    if (!directory) return false;
    const auto ledger = ledger_of(t);
    for (; to < t.numbers.size(); ++to) {
        const bool needs_room = to != t.flush_level || !has_copy(t, resident.block);
        if (needs_room && ledger[to].remaining < resident.bytes) {
            targets_.want(t.numbers[to], resident.bytes);
            continue;
        }
        try {
            return move_block(resident.id, *directory, resident.block, t.numbers[to], if_busy);
        } catch (const Error& error) {
            // Fuller than it seemed, or failing: the next one may do. What is damaged stays where it is, and is told by who loads it.
            if (error.kind() != Code::no_space && error.kind() != Code::io_error) return false;
        }
    }
    return false;
}

std::uint64_t Store::stored_bytes() const {
    std::uint64_t all = 0;
    const auto t = tiering();
    const auto tally = this->tally();
    if (!t || !tally) return 0;
    for (const std::uint32_t number : t->numbers) all += tally->flow(number, heat::Flow::stored_bytes);
    return all;
}

std::vector<Store::Emptying> Store::to_empty(const tier::Bursts& bursts) const {
    std::vector<Emptying> all;
    const auto t = tiering();
    if (!t) return all;
    const auto ledger = ledger_of(*t);
    for (std::size_t level = 0; level + 1 < t->numbers.size(); ++level) {
        const tier::Level& now = ledger[level];
        const auto stays =
            tier::emptied_to(t->hierarchy.watermarks, now.capacity, now.movable, bursts, level == 0);
        if (stays) {
            all.push_back({level, now.capacity - std::min(now.capacity, *stays), !bursts.is_quiet()});
        } else if (now.movable > now.capacity) {
            all.push_back({level, 0, false});  // others need it
        }
    }
    return all;
}

void Store::empty(const Emptying& what, const std::function<bool()>& goes_on) {
    const auto t = tiering();
    if (t && what.level + 1 < t->numbers.size())
        make_room(*t, what.level, what.free_bytes, what.in_haste, Spared{}, goes_on);
}

// What is above it has the bandwidth that whoever stores needs.
std::size_t Store::drain_level(const Tiering& t) { return t.flush_level < 3 ? 0 : t.flush_level - 1; }

std::optional<std::uint64_t> Store::to_drain(const tier::Bursts& bursts) const {
    const auto t = tiering();
    if (!t || drain_level(*t) == 0) return std::nullopt;
    const tier::Level pool = ledger_of(*t)[0];
    return tier::drained_to(t->hierarchy.watermarks, pool.capacity, pool.movable, bursts);
}

// What has a copy already makes room at once when it is needed, so that goes down by itself.
bool Store::drain(std::uint64_t stays, const std::function<bool()>& goes_on) {
    const auto t = tiering();
    const std::size_t to = t ? drain_level(*t) : 0;
    if (to == 0) return false;
    const auto all = residents_of(*t, 0);
    if (all.empty()) return false;
    std::atomic<bool> has_moved = false;
    together(at_a_time(*t, to, all.front().bytes), all.size(), [&](std::size_t i) {
        const Resident& next = all[i];
        const auto ledger = ledger_of(*t);
        if (!goes_on() || ledger[0].movable <= stays) return false;
        if (!tier::is_flushed_by_itself(t->mode_of(next.id, next.block))) return true;
        if (in_transit_.has(next.block.version) || has_copy(*t, next.block)) return true;
        if (ledger[to].remaining < next.bytes) return false;
        if (!move_down(*t, to, next, IfBusy::leave)) return true;
        has_moved = true;
        heap_.reclaim();  // the room is there as soon as it can be
        return true;
    });
    return has_moved;
}

// To a target that takes long for each block, several at a time: it is at the next while the last is still under way.
std::size_t Store::at_a_time(const Tiering& t, std::size_t to, std::uint64_t bytes) {
    constexpr double long_s = 2e-4;  // beside which starting a thread is nothing
    const Speed& speed = t.hierarchy.targets[to].write;
    const double takes_s = speed.latency_s + static_cast<double>(bytes) / speed.bytes_per_second;
    return takes_s < long_s ? 1 : tier::writers(t.hierarchy.flush, t.hierarchy.targets[to]);
}

// In one of the targets below `level` and above `end`.
bool Store::has_room_below(Tiering& t, std::size_t level, std::size_t end, std::uint64_t bytes) const {
    const auto ledger = ledger_of(t);
    return std::any_of(ledger.begin() + static_cast<std::ptrdiff_t>(level) + 1,
                       ledger.begin() + static_cast<std::ptrdiff_t>(end),
                       [&](const tier::Level& each) { return each.remaining >= bytes; });
}

// Returns how many bytes were moved.
std::uint64_t Store::move_down_together(Tiering& t, std::size_t to, const std::vector<Resident>& blocks,
                                        std::size_t threads, IfBusy if_busy) {
    std::atomic<std::uint64_t> moved = 0;
    together(threads, blocks.size(), [&](std::size_t i) {
        if (!move_down(t, to, blocks[i], if_busy)) return true;
        moved += blocks[i].bytes;
        heap_.reclaim();  // others have the room before all are moved
        return true;
    });
    return moved;
}

bool Store::push_down() {
    const auto t = tiering();
    if (!t || read_only()) return false;
    constexpr std::uint64_t least_chunks = 8;
    const std::uint64_t chunk_bytes = pool_.super().chunk_bytes;
    std::uint64_t free = (pool_.super().chunk_count - heap_.count_taken_chunks()) * chunk_bytes;
    free -= std::min(free, pool_.reserved_by_others(0));
    return make_room(*t, 0, free + least_chunks * chunk_bytes, true);
}

}  // namespace pmemcpy::store
