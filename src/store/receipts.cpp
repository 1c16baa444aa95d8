// Where the blocks of an array are, what they survive there, and when they are where they are to go.

#include "array/selection.hpp"
#include "layout/handed.hpp"
#include "layout/payload_name.hpp"
#include "store/store.hpp"

#include <pmemcpy/error.hpp>

#include <algorithm>

namespace pmemcpy::store {

FlushProgress Store::unflushed() const {
    check_readable();
    FlushProgress left;
    const auto t = tiering();
    if (!t) return left;
    for (const Resident& each : unflushed_in(*t, "/", {.for_modes = true})) {
        ++left.of_blocks;
        left.of_bytes += each.block.block.stored_bytes;
    }
    return left;
}

// Of a block that is to be flushed and is not. `waiting`: all such, once somebody has looked.
void Store::tell_when(const Tiering& t, const BlockRecord& block, Receipt& receipt,
                      std::optional<std::vector<Resident>>& waiting) const {
    for (const Trigger trigger : {Trigger::store, Trigger::period, Trigger::close, Trigger::exit}) {
        if (!receipt.waits_for && t.flushes_on(trigger)) receipt.waits_for = trigger;
    }
    const bool is_for_closing = receipt.waits_for == Trigger::close || receipt.waits_for == Trigger::exit;
    // What those have left who were here before is copied now.
    const bool is_left = !read_only() && block.version < pool_.session_began_at();
    if (is_for_closing && !is_left) return;
    if (!waiting) waiting = unflushed_in(t, "/", {.for_modes = true});
    std::uint64_t before = 0;
    for (const Resident& each : *waiting) {
        before += each.block.block.stored_bytes;
        if (each.block.version == block.version) break;
    }
    double bandwidth = t.hierarchy.targets[t.flush_level].write.bytes_per_second;
    if (const double most = t.hierarchy.flush.bytes_per_second; most > 0)
        bandwidth = std::min(bandwidth, most);
    const double pause = receipt.waits_for == Trigger::period ? t.hierarchy.flush.period_s : 0;
    receipt.flushed_in_s = pause + static_cast<double>(before) / bandwidth;
}

std::vector<Receipt> Store::receipts(std::string_view id) const {
    check_readable();
    const auto t = tiering();
    if (!t)
        throw Error(Code::invalid_argument,
                    path() + " has no targets below it, so there is nothing to wait for");
    const auto directory = array(id);
    const bool can_be_flushed = t->flush_level > 0 && targets_.is_reached(t->numbers[t->flush_level]);
    const auto files = can_be_flushed ? targets_.files_of(t->numbers[t->flush_level]) : nullptr;
    const Target& lowest = t->hierarchy.targets[t->flush_level];
    const bool is_kept_on_power_loss = durability() != Durability::none;
    std::vector<BlockRecord> blocks;
    {
        const std::lock_guard one_thread(directory->mutex());
        directory->refresh();
        for (const auto& [handle, block] : directory->blocks()) {
            if (is_visible(block.block.step)) blocks.push_back(block);
        }
    }
    std::optional<std::vector<Resident>> waiting;
    std::optional<layout::Handed> handed;
    if (files && !t->hierarchy.flush.command.empty()) handed.emplace(files->directory());
    std::vector<Receipt> all;
    for (const BlockRecord& block : blocks) {
        Receipt receipt;
        receipt.box =
            directory->definition().order == Order::fortran ? array::reversed(block.box) : block.box;
        if (const auto level = t->level_of(block.block.extent.target))
            receipt.target = t->hierarchy.targets[*level].name;
        receipt.is_flushed = files && (block.block.extent.target == t->numbers[t->flush_level] ||
                                       files->has_copy(mark_of(block)));
        if (receipt.is_flushed && handed) {
            const bool lies_there = block.block.extent.target == t->numbers[t->flush_level];
            const std::uint64_t number =
                lies_there ? block.block.extent.offset : layout::copy_bit | block.version;
            receipt.is_staged = handed->has(layout::name_of_payload(number), block.block.crc);
        }
        if (is_kept_on_power_loss) receipt.survives = Receipt::Survives::power;
        if (receipt.is_flushed && is_kept_on_power_loss && lowest.kind == TargetKind::shared)
            receipt.survives = Receipt::Survives::node;
        receipt.mode = t->mode_of(std::string(id), block);
        if (receipt.mode == Buffering::scratch) {
            // Wherever it lies, whoever opens the pool after a power loss erases it.
            receipt.is_flushed = false;
            receipt.survives = Receipt::Survives::process;
        }
        if (files && !receipt.is_flushed && tier::is_flushed_by_itself(receipt.mode))
            tell_when(*t, block, receipt, waiting);
        all.push_back(std::move(receipt));
    }
    return all;
}

}  // namespace pmemcpy::store
