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

namespace pmemcpy::store {

using catalog::Block;
using heap::RecordKind;

namespace {

std::string called(const BlockRecord& block, const std::string& id) {
    return "block " + to_string(block.box) + " of '" + id + "'";
}

}  // namespace

std::shared_ptr<Directory> Store::directory_of(const std::string& id) const {
    const auto named = defined(id);
    return named && is_array(named->definition) ? directory_of(named->definition) : nullptr;
}

// False when there is nothing to move, or somebody else was faster.
bool Store::move_block(const std::string& id, Directory& directory, const BlockRecord& from,
                       std::uint32_t target, IfBusy if_busy) {
    if (from.block.extent.length == 0) return false;
    if ((from.block.flags & catalog::block_in_place) != 0 || !is_committed(from.block.step)) return false;
    const Pin pin(heap_, from.seen());
    if (!pin) return false;
    const pool::Pool::Placing placing(pool_);
    const auto t = tiering();
    if (target != heap_.home() && (!t || !t->level_of(target))) return false;  // dropped since it was chosen
    if (t && t->flush_level > 0 && target == t->numbers[t->flush_level] &&
        (t->has_background() || targets_.files_of(target)->has_copy(mark_of(from))))
        return move_to_copy(id, directory, from, target, if_busy);
    const InTransit::Claim claim(in_transit_, from.version);
    if (!claim.is_first() && if_busy == IfBusy::leave) return false;
    Block block = from.block;
    const std::uint64_t length = catalog::write_block(block, from.box, from.version).length();
    catalog::Draft draft(heap_, length);
    draft.write_header(RecordKind::block, 0, length, directory.definition().incarnation, 0,
                       catalog::write_block(block, from.box, from.version).fields);
    block.extent = heap_.allocate_extent(block.stored_bytes, draft.offset(), target);
    draft.owns(block.extent);
    pool_.medium().write(&draft.as<Block>().extent, &block.extent, sizeof block.extent);
    const layout::Targets::Turn turn(targets_, target, piece_takes_s(target));
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
    turn.wrote(block.stored_bytes);
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
                        {persist::Element::none, true, true}, found)) {
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
    const InTransit::Claim claim(in_transit_, from.version);
    if (!claim.is_first() && if_busy == IfBusy::leave) return false;
    if (!flush_claimed(id, from, {}, if_busy)) return false;
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
        if (!flush_claimed(id, from, {}, if_busy)) return false;
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
        if (!heap_.replace(slot, from.seen(), fresh)) return false;
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

}  // namespace pmemcpy::store
