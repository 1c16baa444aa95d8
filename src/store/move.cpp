// Blocks from one target to another: copied, compared with their checksum, published where they are now, and only then retired where
// they were. For readers it is as if somebody had stored the same box with the same bytes; but a block that was moved stays as old as it
// was, so that what was stored over it since still covers it (law 3).

#include "array/selection.hpp"
#include "base/crc32c.hpp"
#include "os/guard.hpp"
#include "os/process.hpp"
#include "persist/copy.hpp"
#include "store/pin.hpp"
#include "store/store.hpp"
#include "tier/hierarchy.hpp"

#include <algorithm>
#include <future>

namespace pmemcpy::store {

using catalog::Block;
using heap::RecordKind;

namespace {

constexpr std::uint64_t most_room_at_once = 1 << 20;
constexpr std::uint64_t others_turn_ns = 20'000;
// A block that lives on in its copy makes room at once, but is read more slowly: in haste up to so much.
constexpr double most_times_slower = 8;
// Who finds nothing cold enough to leave does not look at everything at once again.
constexpr std::uint64_t look_again_ns = 1'000'000'000;

std::string called(const BlockRecord& block, const std::string& id) {
    return "block " + to_string(block.box) + " of '" + id + "'";
}

}  // namespace

std::shared_ptr<Directory> Store::directory_of(const std::string& id) const {
    const auto definition = defined(id);
    return definition && is_array(*definition) ? directory_of(*definition) : nullptr;
}

// False when there is nothing to move, or somebody else was faster.
bool Store::move_block(const std::string& id, Directory& directory, const BlockRecord& from,
                       std::uint32_t target, IfBusy if_busy) {
    if (from.block.extent.length == 0) return false;
    if ((from.block.flags & catalog::block_in_place) != 0 || !is_committed(from.block.step)) return false;
    const Pin pin(heap_, from.link);
    if (!pin) return false;
    const auto t = tiering();
    if (t && t->flush_level > 0 && target == t->numbers[t->flush_level] &&
        (t->has_background() || targets_.files_of(target)->has_copy(mark_of(from))))
        return move_to_copy(id, directory, from, target, if_busy);
    Block block = from.block;
    const std::uint64_t length = catalog::write_block(block, from.box, from.version).length();
    catalog::Draft draft(heap_, length);
    draft.write_header(RecordKind::block, 0, length, directory.definition().incarnation, 0,
                       catalog::write_block(block, from.box, from.version).fields);
    block.extent = heap_.allocate_extent(block.stored_bytes, draft.offset(), target);
    draft.owns(block.extent);
    pool_.medium().write(&draft.as<Block>().extent, &block.extent, sizeof block.extent);
    const std::uint64_t begun_ns = os::monotonic_ns();
    try {
        copy_block(id, from, heap_.bytes(block.extent, true));
        if (target != 0) heap_.outside()->settle(block.extent);
    } catch (const Error& error) {
        if (holds(from.block)) set_aside(target, error, block.stored_bytes);
        throw;
    }
    if (t) note_speed(*t, target, block.stored_bytes, os::monotonic_ns() - begun_ns);
    targets_.pace(from.block.extent.target, layout::Throttle::Way::read, block.stored_bytes);
    targets_.pace(target, layout::Throttle::Way::write, block.stored_bytes);
    // What it was copied from is gone soon.
    if (!holds(block)) {
        if (target != 0) targets_.set_aside(target, layout::Trouble::corrupt);
        throw Error(
            Code::io_error,
            called(from, id) +
                " was read back as something else from where it was moved to, so it stays where it is");
    }
    return put_in_place(directory, from, block, draft);
}

void Store::copy_block(const std::string& id, const BlockRecord& from, const heap::Bytes& there) {
    const heap::Bytes source = heap_.bytes(from.block.extent);
    if (source.data == nullptr)
        throw Error(Code::corrupt, called(from, id) + " has lost its payload file; it cannot be moved");
    persist::Characteristic found;
    if (!persist::store(pool_.medium(), there.place(), source.data, from.block.stored_bytes,
                        {persist::Element::none, true}, found)) {
        throw Error(Code::io_error,
                    "the memory of " + called(from, id) + " is damaged (SIGBUS), or that of the target");
    }
    if ((from.block.flags & catalog::block_has_crc) != 0 && found.crc != from.block.crc) {
        throw Error(
            Code::corrupt,
            called(from, id) + " has another checksum than when it was stored, so it stays where it is");
    }
}

// Whether the bytes of a block are where it says, as far as a checksum tells.
bool Store::holds(const Block& block) const {
    if ((block.flags & catalog::block_has_crc) == 0) return true;
    const heap::Bytes there = heap_.bytes(block.extent);
    std::uint32_t found = ~block.crc;
    return there.data != nullptr &&
           os::guarded(there.data, block.stored_bytes,
                       [&] { found = base::crc32c(0, there.data, block.stored_bytes); }) &&
           found == block.crc;
}

// What has a copy where it is to go needs no other.
bool Store::move_to_copy(const std::string& id, Directory& directory, const BlockRecord& from,
                         std::uint32_t target, IfBusy if_busy) {
    if (!flush_block(id, from, {}, if_busy)) return false;
    Block block = from.block;
    const catalog::BlockBytes record = catalog::write_block(block, from.box, from.version);
    catalog::Draft draft(heap_, record.length());
    draft.write_header(RecordKind::block, 0, record.length(), directory.definition().incarnation, 0,
                       record.fields);
    block.extent = {target, 0, layout::copy_bit | from.version, block.stored_bytes};
    // A copy may have rotted since it was made. If a new one is wrong as well, it is the device that is.
    for (int times_wrong = 0; !holds(block);) {
        {
            const pool::Pool::CopiesLock lock(pool_);
            targets_.files_of(target)->remove_copy(from.version);
        }
        if (++times_wrong == 2) {
            targets_.set_aside(target, layout::Trouble::corrupt);
            return false;
        }
        if (!flush_block(id, from, {}, if_busy)) return false;
    }
    // Nobody removes it between the look and the publishing.
    const pool::Pool::CopiesLock lock(pool_);
    if (!targets_.files_of(target)->has_copy(mark_of(from))) return false;
    return put_in_place(directory, from, block, draft);
}

// Publishes the record of a block that was copied in the slot of the one it was copied from.
bool Store::put_in_place(Directory& directory, const BlockRecord& from, const Block& block,
                         catalog::Draft& draft) {
    const catalog::BlockBytes record = catalog::write_block(block, from.box, from.version);
    draft.write(sizeof(heap::RecordHeader), record.bytes.data(), record.bytes.size());
    const std::lock_guard one_thread(directory.mutex());
    if (!directory.refresh()) return false;
    for (const std::uint64_t handle : directory.same_box(from.box)) {
        if (!(directory.block(handle).link == from.link)) continue;
        std::uint64_t* const slot = directory.slot_word(handle);
        directory.vouch();
        const Link fresh = seal_for(draft, slot, from.link);
        if (!heap_.replace(slot, from.link, fresh)) return false;
        draft.keep();
        if (!directory.is_published()) heap_.retire(fresh);  // erased meanwhile, see publish_block
        count_move(from, block.extent.target);
        return true;
    }
    return false;
}

std::vector<BlockRecord> Store::elsewhere(const std::string& id, std::uint32_t target) const {
    std::vector<BlockRecord> blocks;
    const auto directory = directory_of(id);
    if (!directory) return blocks;
    const std::lock_guard one_thread(directory->mutex());
    if (!directory->refresh()) return blocks;
    for (const auto& [handle, block] : directory->blocks()) {
        if (block.block.extent.target != target && block.block.extent.length != 0) blocks.push_back(block);
    }
    return blocks;
}

// False if `progress` has had enough.
bool Store::move_array(const std::string& id, std::uint32_t target, FlushProgress& done,
                       const std::function<bool(const FlushProgress&)>& progress) {
    const auto directory = directory_of(id);
    if (!directory) return true;
    for (const BlockRecord& block : elsewhere(id, target)) {
        const bool is_moved = with_space([&] { return move_block(id, *directory, block, target); });
        if (is_moved) done.bytes += block.block.stored_bytes;
        ++done.blocks;
        heap_.reclaim();
        if (progress && !progress(done)) return false;
    }
    return true;
}

std::uint64_t Store::move(std::string_view id, std::string_view target,
                          const std::function<bool(const FlushProgress&)>& progress) {
    check_writable();
    const auto t = tiering();
    if (!t)
        throw Error(Code::invalid_argument,
                    path() + " has no hierarchy, so there is nowhere to move anything to");
    const std::uint32_t number = t->numbers[tier::level_of(t->hierarchy, target)];
    const bool whole_pool = id == "/";
    std::vector<std::string> all = {std::string(id)};
    if (whole_pool || is_group(id) == true) {
        all = ids(whole_pool ? "" : std::string(id) + "/", false);
    } else if (!exists(id)) {
        throw Error(Code::not_found, "there is no '" + std::string(id) + "' in " + path());
    }
    FlushProgress done;
    if (progress) {
        for (const std::string& each : all) {
            for (const BlockRecord& block : elsewhere(each, number)) {
                ++done.of_blocks;
                done.of_bytes += block.block.stored_bytes;
            }
        }
    }
    for (const std::string& each : all) {
        if (!move_array(each, number, done, progress)) break;
    }
    return done.bytes;
}

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
bool Store::make_room(Tiering& t, std::size_t level, std::uint64_t bytes, bool in_haste,
                      const Spared& spared) {
    if (level + 1 >= t.numbers.size()) return false;
    bool has_moved = false;
    bool is_next_stuck = false;  // nothing there may go: it is not looked through again for each block
    // What somebody is copying just now is left to him, as long as others may go.
    constexpr std::array looks = {IfBusy::leave, IfBusy::leave, IfBusy::copy_too};
    for (std::size_t look = 0;;) {
        // One at a time, so that no two move more than both need; a piece at a time, for others wait for room too.
        if (has_moved) os::sleep_ns(others_turn_ns);
        const pool::Pool::RoomLock one_at_a_time(pool_, level);
        auto& leaving = t.leaving[level];
        if (const auto tally = this->tally()) {
            const std::uint64_t hints = tally->count(heat::Count::hints);
            if (std::exchange(t.hints[level], hints) != hints) leaving.clear();
        }
        {
            const std::lock_guard lock(t.mutex);
            t.counted_at_ns = 0;  // others may have made room meanwhile
        }
        const auto ledger = ledger_of(t);
        if (ledger[level].remaining >= bytes) return true;
        std::uint64_t wanted = std::min(bytes - ledger[level].remaining, most_room_at_once);
        if (leaving.empty()) {
            if (++look == looks.size()) return has_moved;
            t.looked_ns[level] = os::monotonic_ns();
            const auto all = residents_of(t, level);
            leaving.assign(all.begin(), all.end());
        }
        while (wanted > 0 && !leaving.empty()) {
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
            if (in_haste && looks.at(look) == IfBusy::leave && is_being_copied(t, next.block)) continue;
            if (may_live_on_in_copy(t, level, next, in_haste)) {
                if (!move_down(t, t.flush_level, next, looks.at(look))) continue;
                has_moved = true;
                wanted -= std::min(wanted, next.bytes);
                continue;
            }
            std::vector<Resident> together;
            std::uint64_t bytes_together = next.bytes;
            together.push_back(std::move(next));
            const std::size_t most = at_a_time(t, level + 1, together.front().bytes);
            while (together.size() < most && !leaving.empty() && !spared.has(leaving.front()) &&
                   (in_haste || bytes_together < wanted)) {
                bytes_together += leaving.front().bytes;
                together.push_back(std::move(leaving.front()));
                leaving.pop_front();
            }
            // In haste past a target that is full, if it is emptied in the background.
            const std::size_t end = in_haste && t.has_background() ? t.numbers.size() : level + 2;
            if (!is_next_stuck && !has_room_below(t, level, end, bytes_together))
                is_next_stuck = !make_room(t, level + 1, bytes_together, in_haste);
            const std::uint64_t moved = move_down_together(t, level + 1, together, looks.at(look));
            has_moved = has_moved || moved > 0;
            wanted -= std::min(wanted, moved);
        }
        take_back_space();
    }
}

// Where the next target is nearly full itself: it costs nothing to have a block live on in the copy that the flush target has.
bool Store::may_live_on_in_copy(Tiering& t, std::size_t level, const Resident& resident,
                                bool in_haste) const {
    if (level + 1 >= t.flush_level) return false;
    const tier::Level next = ledger_of(t)[level + 1];
    const bool is_full = next.capacity - next.remaining > part_of(next.capacity, t.hierarchy.watermarks.high);
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
        if (needs_room && ledger[to].remaining < resident.bytes) continue;
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
            tier::emptied_to(t->hierarchy.watermarks, now.capacity, now.capacity - now.remaining, bursts);
        if (stays) all.push_back({level, now.capacity - *stays, !bursts.is_quiet()});
    }
    return all;
}

void Store::empty(const Emptying& what) {
    const auto t = tiering();
    if (t && what.level + 1 < t->numbers.size()) make_room(*t, what.level, what.free_bytes, what.in_haste);
}

// To a target that takes long for each block, several at a time: it is at the next while the last is still under way.
std::size_t Store::at_a_time(const Tiering& t, std::size_t to, std::uint64_t bytes) {
    constexpr double long_s = 2e-4;  // beside which starting a thread is nothing
    const Speed& speed = t.hierarchy.targets[to].write;
    const double takes_s = speed.latency_s + static_cast<double>(bytes) / speed.bytes_per_second;
    return takes_s < long_s ? 1 : std::max(1U, t.hierarchy.flush.threads);
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
                                        IfBusy if_busy) {
    std::vector<std::future<bool>> others;
    for (std::size_t i = 1; i < blocks.size(); ++i) {
        others.push_back(std::async(std::launch::async | std::launch::deferred,
                                    [&, i] { return move_down(t, to, blocks[i], if_busy); }));
    }
    std::uint64_t moved = move_down(t, to, blocks.front(), if_busy) ? blocks.front().bytes : 0;
    for (std::size_t i = 1; i < blocks.size(); ++i) {
        if (others[i - 1].get()) moved += blocks[i].bytes;
    }
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
