#include "array/cover.hpp"
#include "array/selection.hpp"
#include "store/store.hpp"

#include <unordered_set>

namespace pmemcpy::store {

void Store::prepare(std::uint64_t bytes) {
    check_writable();
    if (directory_layout_) directory_layout_->check_room(bytes);
    heap_.prepare(bytes);
}

std::uint64_t Store::trim() {
    check_writable();
    take_back_space();
    return heap_.trim();
}

void Store::start_wiping() {
    check_writable();
    if (heap_.wipes()) return;
    take_back_space();
    heap_.start_wiping();
}

bool Store::is_wiped() {
    check_writable();
    take_back_space();
    if (!heap_.wipes() || heap_.usage().retired_records != 0) return false;
    if (pool_.probe().needs_sync) pool_.sync();  // the zeros too
    return true;
}

// Blocks from which no element is read any more, because newer ones cover them together.
void Store::compact() {
    check_writable();
    for (const std::string& id : ids("", false)) {
        const auto named = defined(id);
        if (!named) continue;
        if (is_array(named->definition)) {
            if (const auto directory = directory_of(named->definition)) {
                compact_array(*directory);
                collect_all(id, *directory);
            }
            announce(named->entry);
            name_changed(id);
        } else {
            const auto seen = read_value_record(named->definition);
            if (seen && is_committed(seen->record.step) && seen->record.previous.is_record())
                catalog_.retire_versions_before(named->definition);
        }
    }
    take_back_space();
}

void Store::compact_array(Directory& directory) {
    const std::lock_guard one_thread(directory.mutex());
    if (!directory.refresh()) return;
    const Dimensions dims = dims_now(directory);
    const ArrayDefinition& d = directory.definition();
    const Selection whole = Box::whole(d.order == Order::fortran ? array::reversed(dims) : dims);
    array::Cover cover(whole);
    std::unordered_set<std::uint64_t> idle;
    std::uint64_t newest_step = 0;
    for (const auto& [handle, block] : directory.blocks()) {
        if (!is_committed(block.block.step)) continue;  // not seen yet, so it covers nothing yet
        cover.add(block.box, block.version, handle);
        idle.insert(handle);
        newest_step = std::max(newest_step, block.block.step);
    }
    cover.plan([&](std::uint64_t handle, const Selection&) { idle.erase(handle); }, [](const Selection&) {});
    for (const std::uint64_t handle : idle) directory.retire(handle, newest_step);
}

}  // namespace pmemcpy::store
