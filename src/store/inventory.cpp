// Length: one look at everything, and what it has to know of each thing.
// What a pool could be made of again from its flush target alone: an inventory there of groups, variables and attributes, with the blocks
// that lie in it or have a copy in it. Each variable is written down as it was at one moment, and what of that is not there yet is
// pinned and copied for it; where that may not be, it stays as the inventory before this one has it. So what is rebuilt is what was.

#include "array/selection.hpp"
#include "os/guard.hpp"
#include "os/process.hpp"
#include "store/pin.hpp"
#include "store/store.hpp"
#include "store/together.hpp"
#include "tier/writing.hpp"

#include <algorithm>
#include <atomic>
#include <deque>
#include <mutex>
#include <unordered_map>
#include <unordered_set>

namespace pmemcpy::store {

using layout::Inventory;
using layout::ItemHead;
using layout::ItemKind;

namespace {

constexpr int most_attempts = 5;
constexpr std::size_t most_pins = 256;  // a process has a few hundred that cost nothing

ItemHead item(ItemKind kind, std::uint64_t version = 0, std::uint64_t number = 0, std::uint32_t flags = 0) {
    return {kind, flags, 0, 0, version, number};
}

/// Those behind it are of it.
bool is_named(const layout::Item& item) {
    return item.head.kind == ItemKind::group || item.head.kind == ItemKind::value ||
           item.head.kind == ItemKind::array;
}

bool is_under(std::string_view id, std::string_view group) {
    return group == "/" || id == group || id.starts_with(std::string(group) + "/");
}

/// Whether something of what is asked for lies in the pool alone.
bool has_unflushed(const Inventory& inventory, std::string_view asked) {
    bool has = false;
    bool is_asked_for = false;
    inventory.for_each([&](const layout::Item& each) {
        if (is_named(each)) is_asked_for = is_under(each.name, asked);
        has = has || (is_asked_for && (each.head.flags & layout::item_is_unflushed) != 0);
    });
    return has;
}

/// From before anybody looks until the inventory is written, no file goes: what was seen is there, whoever overwrites it meanwhile.
class Keeping {
public:
    Keeping(layout::PayloadFiles& files, std::uint64_t old) : files_(files), old_(old) {
        files_.keep_below(layout::PayloadFiles::is_being_made);
    }
    ~Keeping() {
        if (!is_done_) files_.keep_below(old_);
    }
    Keeping(const Keeping&) = delete;
    Keeping& operator=(const Keeping&) = delete;
    void end_with(const Inventory& fresh) {
        is_done_ = true;
        files_.keep_below(fresh.number());
        files_.drop_kept(fresh.numbers());
    }

private:
    layout::PayloadFiles& files_;
    const std::uint64_t old_;
    bool is_done_ = false;
};

std::vector<std::byte> record_of(const BlockRecord& block) {
    catalog::BlockBytes bytes = catalog::write_block(block.block, block.box);
    bytes.bytes.insert(bytes.bytes.begin(), sizeof(heap::RecordHeader), std::byte{0});
    return std::move(bytes.bytes);
}

}  // namespace

/// One look at everything.
class Store::Stocktaking {
public:
    struct Asked {
        std::string_view id;
        bool for_modes;
        const std::function<bool(std::uint64_t)>& written;
    };
    Stocktaking(Store& store, Tiering& tiering, Asked asked, const std::optional<Inventory>& old)
        : store_(store),
          tiering_(tiering),
          asked_(asked),
          old_(old),
          target_(tiering.numbers[tiering.flush_level]),
          files_(store.targets_.files_of(target_)) {
        for (const std::uint64_t version : files_->copies()) copied_.insert(version);
    }

    /// False when it is to be given up.
    bool look() {
        std::vector<std::pair<std::string, Link>> all;
        store_.catalog_.for_each([&](const std::string& id, Link entry) { all.emplace_back(id, entry); });
        // A group comes before what is in it.
        std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
        for (const auto& [id, entry] : all) {
            if (has_had_enough()) return false;
            look_at(id, entry);
        }
        return !has_had_enough();
    }

    /// Of the look, what went into copies that were missing.
    std::uint64_t copying_ns() const { return copying_ns_; }

    /// What the look has found; of `step` the newest that was committed.
    Inventory finish(std::uint64_t step) {
        const std::uint64_t old_step = old_ ? old_->head.committed_step : 0;
        // A step of which something is still to come is not there at all.
        const bool is_torn = std::any_of(things_.begin(), things_.end(),
                                         [&](const Thing& thing) { return thing.missing_step > old_step; });
        Inventory all;
        all.head.is_complete = 1;
        all.head.committed_step = is_torn ? old_step : step;
        const std::string yaml = to_yaml(tiering_.hierarchy);
        all.add(item(ItemKind::pool), store_.path(), std::as_bytes(std::span(yaml)));
        for (const Thing& thing : things_) {
            const bool waits = is_torn && thing.newest_step > old_step;
            if (waits || thing.is_owed) all.head.is_complete = 0;
            if (!waits && !thing.is_behind) {
                all.add_all(thing.items);
                continue;
            }
            const auto before = things_before().find(thing.id);
            if (before != things_before().end() && before->second.version == thing.version &&
                (waits || before->second.was_flushed)) {
                all.add_all(before->second.items);
            } else if (!waits) {
                all.add_all(thing.without_blocks);
            }
        }
        return all;
    }

private:
    bool has_had_enough() const { return asked_.written && !asked_.written(0); }

    struct Thing {
        std::string id;
        std::uint64_t version = 0;
        Inventory items{};
        Inventory without_blocks{};      // when they never were in the flush target
        std::uint64_t newest_step = 0;   // that anything of it belongs to
        std::uint64_t missing_step = 0;  // the same of what is to be flushed and is not
        bool is_behind = false;          // something of it is not in the flush target
        bool is_owed = false;            // and is to be
    };

    bool is_asked_for(std::string_view id) const { return !asked_.id.empty() && is_under(id, asked_.id); }

    /// Whether what has this mode is copied now, if it is not there.
    bool is_copied_now(std::string_view id, Buffering mode) const {
        if (!is_asked_for(id)) return false;
        return asked_.for_modes ? tier::is_flushed_by_itself(mode)
                                : mode != Buffering::scratch || id == asked_.id;
    }

    /// By which a variable is told from another that had its id before.
    std::uint64_t incarnation_of(Link entry) const {
        return store_.pool_.as<catalog::Entry>(entry.offset()).header.incarnation;
    }

    void look_at(const std::string& id, Link entry) {
        for (int attempt = 0; attempt < most_attempts; ++attempt) {
            const auto definition = store_.catalog_.definition(entry);
            if (!definition) return;
            Thing thing{.id = id};
            try {
                const bool is_done = store_.is_array(*definition) ? look_at_array(thing, *definition, entry)
                                                                  : look_at_value(thing, entry);
                if (!is_done) continue;
            } catch (const Error& error) {
                if (error.kind() != Code::corrupt) throw;
                break;  // damage, which verify names: here it stays as it was
            }
            if (thing.version != 0) things_.push_back(std::move(thing));
            return;
        }
        // It changes faster than it can be looked at, and stays as it was too.
        const auto before = things_before().find(id);
        if (before == things_before().end()) return;
        things_.push_back({.id = id,
                           .version = before->second.version,
                           .items = before->second.items,
                           .missing_step = store_.pool_.committed_step(),
                           .is_behind = true,
                           .is_owed = true});
    }

    bool look_at_value(Thing& thing, Link entry) {
        const auto seen = store_.read_value(entry);
        if (!seen) return true;  // of a step that is not committed
        thing.version = incarnation_of(entry);
        const bool is_group = static_cast<catalog::ValueKind>(seen->record.kind) == catalog::ValueKind::group;
        if ((seen->record.flags & catalog::value_scratch) != 0 && store_.is_scratch(thing.id)) {
            thing.version = 0;
            return true;
        }
        if (is_group) {
            thing.items.add(item(ItemKind::group, thing.version), thing.id);
            thing.without_blocks.add(item(ItemKind::group, thing.version), thing.id);
        } else if (!add_value(thing, item(ItemKind::value, thing.version), thing.id, *seen)) {
            return false;
        }
        return add_origin_and_attributes(thing, entry);
    }

    /// Of what is not inline a copy is made. False when the value is gone.
    bool add_value(Thing& thing, ItemHead head, const std::string& name, const ValueSeen& seen) {
        const std::uint64_t version = seen.record.header.version;
        const std::span<const std::byte> record(seen.copy.data(), seen.copy.size());
        thing.newest_step = std::max(thing.newest_step, seen.record.step);
        if (seen.record.extent.length != 0) {
            head.number = layout::copy_bit | version;
            const Rule* rule = tiering_.rules.find_whole(thing.id);
            const Buffering mode =
                rule != nullptr ? rule->mode.value_or(tiering_.hierarchy.mode) : tiering_.hierarchy.mode;
            const bool is_copied = copied_.contains(version);
            if (!is_copied && is_copied_now(thing.id, mode)) {
                const Timing timing(copying_ns_);
                try {
                    if (!store_.flush_value(tiering_, seen)) return false;
                } catch (const layout::SourceDamage&) {
                    head.flags = layout::item_is_damaged;
                }
            } else if (!is_copied) {
                head.flags = layout::item_is_unflushed;
                thing.is_behind = true;
                if (tier::is_flushed_by_itself(mode)) owe(thing, seen.record.step);
            }
        }
        thing.items.add(head, name, record);
        thing.without_blocks.add(head, name, record);
        return true;
    }

    static void owe(Thing& thing, std::uint64_t step) {
        thing.is_owed = true;
        thing.missing_step = std::max(thing.missing_step, step);
    }

    bool add_origin_and_attributes(Thing& thing, Link entry) {
        if (const auto origin = store_.catalog_.origin_of(entry)) {
            const catalog::CreatedField created = catalog::created_field(origin->created_ns);
            std::vector<std::byte> fields(created.begin(), created.end());
            const std::vector<std::byte> creator = catalog::creator_field(*origin);
            fields.insert(fields.end(), creator.begin(), creator.end());
            thing.items.add(item(ItemKind::origin), {}, fields);
            thing.without_blocks.add(item(ItemKind::origin), {}, fields);
        }
        bool is_whole = true;
        store_.catalog_.for_each_attribute(entry, [&](const std::string& name, Link attribute) {
            if (name.starts_with(reserved_prefix)) return;
            const auto seen = store_.read_value(attribute);
            if (seen && !add_value(thing, item(ItemKind::attribute), name, *seen)) is_whole = false;
        });
        return is_whole;
    }

    bool look_at_array(Thing& thing, Link definition, Link entry) {
        heap::RecordCopy record;
        const auto directory = store_.directory_of(definition);
        if (!directory || !heap::read_record(store_.pool_, definition, heap::RecordKind::array, record))
            return false;
        const ArrayDefinition& d = directory->definition();
        if (!store_.is_committed(d.step)) return true;
        const bool is_scratch = (d.flags & catalog::array_scratch) != 0 && store_.is_scratch(thing.id);
        if (is_scratch) return true;
        std::vector<BlockRecord> blocks;
        std::vector<const BlockRecord*> missing;
        std::deque<Pin> pins;
        std::uint64_t kept_since = 0;
        {
            const std::lock_guard one_thread(directory->mutex());
            if (!directory->refresh()) return false;
            kept_since = directory->kept_since();
            for (const auto& [handle, block] : directory->blocks()) {
                const bool goes = (block.block.flags & catalog::block_scratch) != 0 &&
                                  tiering_.mode_of(thing.id, block) == Buffering::scratch;
                if (!goes && store_.is_committed(block.block.step)) blocks.push_back(block);
            }
        }
        std::sort(blocks.begin(), blocks.end(),
                  [](const BlockRecord& a, const BlockRecord& b) { return a.version < b.version; });
        for (const BlockRecord& block : blocks) {
            if (number_of(block) != 0 || block.block.extent.length == 0) continue;
            missing.push_back(&block);
            const bool is_copied = (block.block.flags & catalog::block_in_place) == 0 &&
                                   is_copied_now(thing.id, tiering_.mode_of(thing.id, block));
            if (!is_copied || pins.size() == most_pins) continue;
            if (!pins.emplace_back(store_.heap_, block.seen())) return false;  // overwritten since
        }
        thing.version = incarnation_of(entry);
        const auto head = item(ItemKind::array, thing.version, kept_since);
        const std::span<const std::byte> bytes(record.data(), record.size());
        thing.items.add(head, thing.id, bytes);
        thing.without_blocks.add(item(ItemKind::array, thing.version, kept_since, layout::item_is_unflushed),
                                 thing.id, bytes);
        thing.newest_step = d.step;
        if (!add_origin_and_attributes(thing, entry)) return false;
        if (!flush_missing(thing, missing)) return false;
        for (const BlockRecord& block : blocks) add_block(thing, block);
        return true;
    }

    /// Of its file in the flush target; 0: there is none.
    std::uint64_t number_of(const BlockRecord& block) const {
        if (block.block.extent.target == target_) return block.block.extent.offset;
        return copied_.contains(block.version) ? layout::copy_bit | block.version : 0;
    }

    /// False when one was overwritten before it could be copied.
    bool flush_missing(Thing& thing, const std::vector<const BlockRecord*>& missing) {
        std::vector<const BlockRecord*> wanted;
        for (const BlockRecord* block : missing) {
            const bool is_in_place = (block->block.flags & catalog::block_in_place) != 0;
            const Buffering mode = tiering_.mode_of(thing.id, *block);
            if (!is_in_place && is_copied_now(thing.id, mode)) {
                wanted.push_back(block);
                continue;
            }
            thing.is_behind = true;
            if (!is_in_place && tier::is_flushed_by_itself(mode)) owe(thing, block->block.step);
        }
        std::atomic<bool> is_one_gone = false;
        std::mutex mutex;
        const Timing timing(copying_ns_);
        together(writers(tiering_), wanted.size(), [&](std::size_t i) {
            const BlockRecord& block = *wanted[i];
            try {
                if (!store_.flush_block(thing.id, block, asked_.written, IfBusy::wait)) {
                    is_one_gone = true;
                    return false;
                }
                store_.drop_if_wanted(tiering_, {block.version, block.block.extent.length, thing.id, block});
                const std::lock_guard lock(mutex);
                copied_.insert(block.version);
            } catch (const layout::SourceDamage&) {
                const std::lock_guard lock(mutex);
                damaged_.insert(block.version);
            }
            return true;
        });
        return !is_one_gone || has_had_enough();
    }

    void add_block(Thing& thing, const BlockRecord& block) {
        thing.newest_step = std::max(thing.newest_step, block.block.step);
        if (block.block.extent.length == 0) return;
        const bool is_damaged = damaged_.contains(block.version);
        thing.items.add(item(ItemKind::block, block.version, number_of(block),
                             is_damaged ? std::uint32_t{layout::item_is_damaged} : 0U),
                        {}, record_of(block));
        // What was stored there and not copied was only as durable as the pool is.
        const std::uint64_t settled_before = old_ ? old_->head.version : 0;
        if (block.block.extent.target == target_ && !layout::is_copy(block.block.extent.offset) &&
            block.block.extent.offset >= settled_before)
            files_->settle(block.block.extent);
    }

    struct Before {
        std::uint64_t version = 0;
        bool was_flushed = false;
        Inventory items{};
    };
    /// What the old inventory has of each id.
    const std::unordered_map<std::string, Before>& things_before() {
        if (looked_back_ || !old_) return before_;
        looked_back_ = true;
        Before* now = nullptr;
        old_->for_each([&](const layout::Item& each) {
            if (each.head.kind == ItemKind::pool) return;
            if (is_named(each)) {
                now = &before_[std::string(each.name)];
                now->version = each.head.version;
                now->was_flushed = (each.head.flags & layout::item_is_unflushed) == 0;
            }
            if (now != nullptr) now->items.add(each.head, each.name, each.record);
        });
        return before_;
    }

    class Timing {
    public:
        explicit Timing(std::uint64_t& all_ns) : all_ns_(all_ns) {}
        ~Timing() { all_ns_ += os::monotonic_ns() - began_ns_; }
        Timing(const Timing&) = delete;
        Timing& operator=(const Timing&) = delete;

    private:
        std::uint64_t& all_ns_;
        const std::uint64_t began_ns_ = os::monotonic_ns();
    };

    Store& store_;
    Tiering& tiering_;
    const Asked asked_;
    const std::optional<Inventory>& old_;
    const std::uint32_t target_;
    const std::shared_ptr<layout::PayloadFiles> files_;
    std::unordered_set<std::uint64_t> copied_;
    std::unordered_set<std::uint64_t> damaged_;
    std::vector<Thing> things_;
    std::uint64_t copying_ns_ = 0;
    bool looked_back_ = false;
    std::unordered_map<std::string, Before> before_;
};

layout::CopyMark Store::mark_of(const ValueSeen& value) {
    const catalog::Value& v = value.record;
    return {v.header.version, v.bytes, v.written_ns, v.crc, (v.flags & catalog::value_has_crc) != 0};
}

bool Store::flush_value(const Tiering& t, const ValueSeen& value) {
    const Pin pin(heap_, value.seen());
    if (!pin) return false;
    const heap::Bytes source = heap_.bytes(value.record.extent);
    const std::uint32_t target = t.numbers[t.flush_level];
    const auto pace = [&](std::uint64_t bytes) {
        targets_.pace(target, layout::Throttle::Way::write, bytes);
        return true;
    };
    return source.data != nullptr &&
           targets_.files_of(target)->make_copy(mark_of(value), source.data, pace, IfBusy::wait,
                                                tier::write_bytes(t.hierarchy.targets[t.flush_level]));
}

// What was given up since the last inventory, or while it was made, and is not in it.
void Store::drop_kept(const Tiering& t) const {
    const auto files = targets_.files_of(t.numbers[t.flush_level]);
    if (!files->has_kept()) return;
    const pool::Pool::InventoryLock one_at_a_time(pool_);
    if (const auto inventory = files->inventory()) files->drop_kept(inventory->numbers());
}

bool Store::take_inventory(std::string_view id, bool for_modes,
                           const std::function<bool(std::uint64_t)>& written) {
    const auto t = tiering();
    if (!t || t->flush_level == 0 || in_step()) return false;
    const std::uint32_t target = t->numbers[t->flush_level];
    const pool::Pool::InventoryLock one_at_a_time(pool_);
    const std::uint64_t began_ns = os::monotonic_ns();
    std::uint64_t copying_ns = 0;
    const auto files = targets_.files_of(target);
    const auto old = files->inventory();
    const std::uint64_t version = pool_.versions_drawn();
    const std::uint64_t recoveries = persist::Medium::load(&pool_.state().recovery_count.value);
    // What nobody had to flush then may have been flushed since, by who asks now: so it is not enough that nothing was stored since.
    const auto is_asked_for_more = [&] { return !for_modes && has_unflushed(*old, id.empty() ? "/" : id); };
    if (old && old->head.version == version && old->head.recoveries == recoveries &&
        old->head.is_complete != 0 && !is_asked_for_more()) {
        return true;
    }
    Keeping all_that_is_seen(*files, old ? old->number() : 0);
    for (int attempt = 0; attempt < most_attempts; ++attempt) {
        const std::uint64_t step = pool_.committed_step();
        Stocktaking look(*this, *t, {id, for_modes, written}, old);
        const bool is_whole = look.look();
        copying_ns += look.copying_ns();
        if (!is_whole) return false;
        if (pool_.committed_step() != step) continue;  // half of it may have been seen
        Inventory fresh = look.finish(step);
        fresh.head.uuid = pool_.super().uuid;
        fresh.head.version = version;
        fresh.head.recoveries = recoveries;
        fresh.head.max_bytes = pool_.super().max_bytes;
        fresh.head.chunk_bytes = pool_.super().chunk_bytes;
        fresh.put_into(files->directory(), newest_version(), pool_.file().mode_bits(), files->needs_sync());
        all_that_is_seen.end_with(fresh);
        targets_.pace(target, layout::Throttle::Way::write, fresh.head.item_bytes);
        for (std::size_t level = 1; level < t->numbers.size(); ++level) {
            if (level != t->flush_level && !targets_.is_away(t->numbers[level]))
                targets_.files_of(t->numbers[level])->forget_inventories();
        }
        inventory_took_ns_ = os::monotonic_ns() - began_ns - copying_ns;
        return true;
    }
    return false;
}

}  // namespace pmemcpy::store
