// Copies of blocks in the flush target. Nothing in the pool says that there is one: it is found by the block's version and compared with
// the block before it is used, so that making and losing copies needs no care for crashes. Only when a block gives up its place and
// lives on in its copy (move_to_copy) its record says so, published like any other move.

#include "array/selection.hpp"
#include "layout/handed.hpp"
#include "os/names.hpp"
#include "os/process.hpp"
#include "store/pin.hpp"
#include "store/store.hpp"
#include "store/together.hpp"
#include "tier/writing.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <unordered_set>
#include <utility>

namespace pmemcpy::store {

Buffering Tiering::mode_of(const std::string& id, const catalog::BlockRecord& block) const {
    const Rule* rule = rules.find(id, array::bounding_box(block.box), block.block.writer_rank);
    return rule != nullptr ? rule->mode.value_or(hierarchy.mode) : hierarchy.mode;
}

bool Tiering::has_background() const {
    if (flush_level == 0) return false;
    return tier::is_flushed_by_itself(hierarchy.mode) || !hierarchy.flush.command.empty() ||
           !hierarchy.flush.as.empty() || hierarchy.policy == Policy::hot_data ||
           hierarchy.promotion != Promotion::never ||
           std::any_of(hierarchy.rules.begin(), hierarchy.rules.end(), [](const Rule& rule) {
               return rule.drop_after_flush ||
                      tier::is_flushed_by_itself(rule.mode.value_or(Buffering::none));
           });
}

layout::CopyMark Store::mark_of(const BlockRecord& block) {
    const catalog::Block& b = block.block;
    return {block.version, b.stored_bytes, b.written_ns, b.crc, (b.flags & catalog::block_has_crc) != 0};
}

bool Store::has_copy(const Tiering& t, const BlockRecord& block) const {
    const std::uint32_t target = t.numbers[t.flush_level];
    return t.flush_level > 0 && !targets_.is_away(target) &&
           targets_.files_of(target)->has_copy(mark_of(block));
}

std::size_t Store::writers(const Tiering& t) {
    return tier::writers(t.hierarchy.flush, t.hierarchy.targets[t.flush_level]);
}

bool Store::flushes_on(Trigger trigger) const {
    const auto t = tiering();
    return t && t->flushes_on(trigger);
}

std::optional<Flush> Store::background() const {
    const auto t = tiering();
    if (!t || t->flush_level == 0) return std::nullopt;
    // Who asks for something wants somebody to be there for it.
    if (!t->has_background() && !(is_in_place() && os::exists(requests_path()))) return std::nullopt;
    return t->hierarchy.flush;
}

void Store::check_may_be_asked() const {
    check_writable();
    const auto t = tiering();
    if (t && t->flush_level > 0) return;
    throw Error(
        Code::invalid_argument,
        path() + " has no target below it, so nobody works in its background; `pmemcpy tiers` gives it some");
}

// Of an id or of all in a group, what the flush target has neither itself nor a copy of; what survives least first: what lies highest, and of
// that the oldest.
std::vector<Resident> Store::unflushed_in(const Tiering& t, std::string_view id, const Flushing& what) const {
    const std::uint32_t target = t.numbers[t.flush_level];
    std::unordered_set<std::uint64_t> copied;
    if (!targets_.is_away(target)) {
        for (const std::uint64_t version : targets_.files_of(target)->copies()) copied.insert(version);
    }
    std::vector<Resident> all;
    const auto look = [&](const std::string& each) {
        const auto directory = directory_of(each);
        if (!directory || (directory->definition().flags & catalog::array_contiguous) != 0) return;
        const std::lock_guard one_thread(directory->mutex());
        if (!directory->refresh()) return;
        for (const auto& [handle, block] : directory->blocks()) {
            const catalog::Block& b = block.block;
            if (b.extent.target == target || b.extent.length == 0 || !is_committed(b.step)) continue;
            if (copied.contains(block.version)) continue;
            const Buffering mode = t.mode_of(each, block);
            if (what.for_modes ? !tier::is_flushed_by_itself(mode) : mode == Buffering::scratch && each != id)
                continue;
            if (block.version >= what.before) continue;
            if (what.what_fills && t.level_of(b.extent.target).value_or(0) >= drain_level(t)) continue;
            all.push_back({block.version, b.extent.length, each, block});
        }
    };
    if (id != "/" && is_group(id) != true) {
        look(std::string(id));
    } else {
        for (const std::string& each : ids(id == "/" ? "" : std::string(id) + "/", false)) look(each);
    }
    const auto turn = [&](const Resident& each) {
        return std::pair(t.level_of(each.block.block.extent.target), each.placed);
    };
    std::sort(all.begin(), all.end(),
              [&](const Resident& a, const Resident& b) { return turn(a) < turn(b); });
    return all;
}

// False when the block is gone, or `written` has had enough.
bool Store::flush_block(const std::string& id, const BlockRecord& block,
                        const std::function<bool(std::uint64_t)>& written, IfBusy if_busy) {
    const InTransit::Claim claim(in_transit_, block.version);
    if (!claim.is_first() && if_busy == IfBusy::leave) return false;
    return flush_claimed(id, block, written, if_busy);
}

bool Store::flush_claimed(const std::string& id, const BlockRecord& block,
                          const std::function<bool(std::uint64_t)>& written, IfBusy if_busy) {
    const pool::Pool::Placing placing(pool_);
    const auto t = tiering();
    if (!t || t->flush_level == 0) return false;
    const Pin pin(heap_, block.seen());
    if (!pin) return false;
    const auto called = [&] { return "block " + to_string(block.box) + " of '" + id + "'"; };
    const heap::Bytes source = heap_.bytes(block.block.extent);
    if (source.data == nullptr) {
        if (!heap::is_current(pool_, block.seen())) return false;
        throw layout::SourceDamage(Code::corrupt,
                                   called() + " has lost its payload file; it cannot be flushed");
    }
    const std::uint32_t target = t->numbers[t->flush_level];
    const std::uint64_t begun_ns = os::monotonic_ns();
    std::uint64_t paused_ns = 0;
    const layout::Targets::Turn turn(targets_, target, piece_takes_s(target));
    const auto tally = this->tally();
    const auto pace = [&](std::uint64_t bytes) {
        const std::uint64_t now = os::monotonic_ns();
        if (tally) tally->add(heat::Count::flushed_bytes, bytes);
        targets_.pace(block.block.extent.target, layout::Throttle::Way::read, bytes);
        targets_.pace(target, layout::Throttle::Way::write, bytes);
        turn.wrote(bytes, [&] { return !written || written(0); });
        const bool goes_on = !written || written(bytes);
        paused_ns += os::monotonic_ns() - now;
        return goes_on;
    };
    try {
        const auto files = targets_.files_of(target);
        const bool is_there = files->make_copy(mark_of(block), source.data, pace, if_busy,
                                               tier::write_bytes(t->hierarchy.targets[t->flush_level]));
        if (is_there) targets_.check_reached(target, files->directory());
        if (is_there && if_busy != IfBusy::wait)
            note_speed(*t, target, block.block.stored_bytes, os::monotonic_ns() - begun_ns - paused_ns);
        return is_there;
    } catch (const layout::SourceDamage& error) {
        throw layout::SourceDamage(error.kind(), called() + " is not flushed: " + error.what());
    } catch (const Error& error) {
        set_aside(target, error, block.block.stored_bytes);
        throw Error(error.kind(), called() + " is not flushed: " + error.what());
    }
}

// Copies blocks, several at a time: one is read while another is written, and most targets take more from several writers than from one.
class Store::Copying {
public:
    Copying(Store& store, Tiering& tiering, const std::function<bool(const FlushProgress&)>& progress,
            const std::function<bool(std::uint64_t)>& written)
        : store_(store), tiering_(tiering), progress_(progress), written_(written) {}

    /// True if any of them has a copy now because of it.
    bool copy(const std::vector<Resident>& blocks) {
        const std::uint64_t before = done_.blocks;
        together(writers(tiering_), blocks.size(), [&](std::size_t i) {
            if (!stops_) copy_one(blocks[i], IfBusy::leave);
            return !stops_;
        });
        for (const Resident* each : std::exchange(busy_, {})) {
            if (!stops_) copy_one(*each, patience(tiering_));
        }
        return done_.blocks > before;
    }

    void expect(const std::vector<Resident>& blocks) {
        for (const Resident& each : blocks) {
            ++done_.of_blocks;
            done_.of_bytes += each.block.block.stored_bytes;
        }
    }
    bool stops() const { return stops_; }
    bool has_copied() const { return done_.blocks > 0; }
    bool has_failed(const Resident& block) const { return damaged_.contains(block.block.version); }
    std::uint64_t finish() {
        if (first_error_) std::rethrow_exception(first_error_);
        return done_.bytes;
    }

private:
    void copy_one(const Resident& block, IfBusy if_busy) {
        try {
            // Held until it lives on in its copy, or somebody would begin to move it in between, in vain.
            const InTransit::Claim claim(store_.in_transit_, block.block.version);
            const bool is_left = !claim.is_first() && if_busy == IfBusy::leave;
            const bool is_copied = !is_left && store_.flush_claimed(block.id, block.block, written_, if_busy);
            if (is_copied && claim.is_first()) store_.drop_if_wanted(tiering_, block);
            const std::lock_guard lock(mutex_);
            if (is_copied) {
                done_.bytes += block.block.block.stored_bytes;
                ++done_.blocks;
            } else if (if_busy == IfBusy::leave) {
                busy_.push_back(&block);  // or gone, as will be seen
            }
            stops_ = stops_ || (progress_ && !progress_(done_));
        } catch (const layout::SourceDamage&) {
            fail(block, true);
        } catch (...) {
            fail(block, false);
        }
    }

    // Damage of one block keeps no other from being copied.
    void fail(const Resident& block, bool is_damage) {
        const std::lock_guard lock(mutex_);
        if (!first_error_) first_error_ = std::current_exception();
        damaged_.insert(block.block.version);
        stops_ = stops_ || !is_damage;
    }

    Store& store_;
    Tiering& tiering_;
    const std::function<bool(const FlushProgress&)>& progress_;
    const std::function<bool(std::uint64_t)>& written_;
    std::mutex mutex_;
    std::vector<const Resident*> busy_;
    FlushProgress done_;
    std::unordered_set<std::uint64_t> damaged_;
    std::exception_ptr first_error_;
    std::atomic<bool> stops_ = false;
};

std::uint64_t Store::flush(std::string_view id, const Flushing& what,
                           const std::function<bool(const FlushProgress&)>& progress,
                           const std::function<bool(std::uint64_t)>& written) {
    check_writable();
    auto t = tiering();
    if (!t || t->flush_level == 0) {
        finish_hierarchy();  // a process may have died that was taking the targets away
        t = tiering();
    }
    if (!t || t->flush_level == 0)
        throw Error(Code::invalid_argument,
                    path() + " has no target to flush to; `pmemcpy tiers` gives it some");
    if (id != "/" && is_group(id) != true && !exists(id))
        throw Error(Code::not_found, "there is no '" + std::string(id) + "' in " + path());
    // Who asks for it himself may try.
    const std::string trouble =
        what.for_modes ? targets_.trouble_of(t->numbers[t->flush_level]) : std::string();
    if (!trouble.empty()) throw Error(Code::io_error, trouble);
    const std::uint64_t newest = newest_version();
    // From here on there is something to write, also between two blocks.
    std::optional<layout::Targets::Turn> turn;
    if (!targets_.is_away(t->numbers[t->flush_level]))
        turn.emplace(targets_, t->numbers[t->flush_level], piece_takes_s(t->numbers[t->flush_level]));
    Copying copying(*this, *t, progress, written);
    auto left = unflushed_in(*t, id, what);
    copying.expect(left);
    // Blocks that were moved to another target meanwhile were not found where they had been.
    constexpr int most_vain_rounds = 10;
    for (int vain_rounds = 0; !left.empty() && !copying.stops() && vain_rounds < most_vain_rounds;) {
        vain_rounds = copying.copy(left) ? 0 : vain_rounds + 1;
        left = unflushed_in(*t, id, what);
        std::erase_if(left, [&](const Resident& each) {
            return each.block.version > newest || copying.has_failed(each);
        });
    }
    heap_.reclaim();
    if (!copying.stops()) {
        if (!what.for_modes) sweep_copies(true);
        // Where only some is to be flushed, nothing else is copied for it either.
        const bool is_all = what.before == ~std::uint64_t{0} && !what.what_fills;
        if (what.takes_inventory && (is_all || copying.has_copied()))
            take_inventory(is_all ? id : std::string_view(), what.for_modes, written);
    }
    return copying.finish();
}

// By a rule; or because others are waiting for its place, and it is read from its copy nearly as fast as from where it would go.
void Store::drop_if_wanted(Tiering& t, const Resident& flushed) {
    const Rule* rule =
        t.rules.find(flushed.id, array::bounding_box(flushed.block.box), flushed.block.block.writer_rank);
    const bool is_held = rule != nullptr && (rule->never_evict || !rule->pin.empty());
    const bool is_wanted = rule != nullptr && rule->drop_after_flush;
    if (!is_wanted && (is_held || !is_pressed(t, flushed))) return;
    const auto directory = directory_of(flushed.id);
    if (!directory) return;
    with_space([&] { return move_block(flushed.id, *directory, flushed.block, t.numbers[t.flush_level]); });
}

bool Store::is_pressed(Tiering& t, const Resident& block) const {
    const auto level = t.level_of(block.block.block.extent.target);
    if (!level || *level == t.flush_level) return false;
    const tier::Level now = ledger_of(t)[*level];
    return now.movable > tier::part_of(now.capacity, t.hierarchy.watermarks.high) &&
           past_of(t, block.block).need != tier::Need::soon && may_live_on_in_copy(t, *level, block, true);
}

Store::IfBusy Store::patience(const Tiering& t) {
    return t.hierarchy.flush.bytes_per_second > 0 ? IfBusy::copy_too : IfBusy::wait;
}

// What was just stored, or what has taken its place since, where the mode is to have it flushed before the store returns.
void Store::flush_through(const std::string& id, Directory& directory, const Selection& box,
                          std::uint64_t version) {
    const auto t = tiering();
    if (!t || t->flush_level == 0) return;
    const auto find = [&] {
        std::vector<Resident> blocks;
        const std::lock_guard one_thread(directory.mutex());
        if (!directory.refresh()) return blocks;
        for (const std::uint64_t handle : directory.same_box(box)) {
            const BlockRecord& block = directory.block(handle);
            if (block.version < version || !is_committed(block.block.step) ||
                block.block.extent.target == t->numbers[t->flush_level])
                continue;
            if (t->mode_of(id, block) == Buffering::write_through)
                blocks.push_back({block.version, block.block.extent.length, id, block});
        }
        return blocks;
    };
    copy_through(*t, find, "'" + id + "' is stored in " + path());
}

// What was stored in a step becomes a thing to flush when the step is committed.
void Store::flush_step() {
    const auto t = tiering();
    if (!t || t->flush_level == 0) return;
    const auto find = [&] {
        auto blocks = unflushed_in(*t, "/", {.for_modes = true});
        std::erase_if(blocks, [&](const Resident& each) {
            return t->mode_of(each.id, each.block) != Buffering::write_through;
        });
        return blocks;
    };
    copy_through(*t, find, "the step is committed in " + path());
}

// What is done is not undone where a copy fails, and is not promised either: an error says both. A failure of one keeps no other from
// being copied. A block that another moves meanwhile is looked for again, where it is then.
void Store::copy_through(const Tiering& t, const std::function<std::vector<Resident>()>& find,
                         const std::string& done) {
    constexpr int most_rounds = 10;
    std::optional<Error> trouble;
    for (int round = 0; round < most_rounds && !trouble; ++round) {
        bool are_copied = true;
        for (const Resident& each : find()) {
            try {
                are_copied = flush_block(each.id, each.block, {}, patience(t)) && are_copied;
            } catch (const Error& error) {
                if (!trouble) trouble = error;
            }
        }
        if (are_copied && !trouble) return;
    }
    if (!trouble) trouble = Error(Code::busy, "others keep moving it");
    throw Error(trouble->kind(),
                done + ", but not copied to the flush target yet as its mode write-through promises: " +
                    trouble->what());
}

}  // namespace pmemcpy::store
