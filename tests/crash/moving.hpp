#pragma once

#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

#include "layout/inventory.hpp"
#include "os/map.hpp"
#include "pmem/sides.hpp"

namespace pmemcpy::store {

/// Moves blocks from the pool to the pool, which is as from target to target for all that the explorer sees of it; and it has no other.
/// What is restored comes from there too.
class MoveWithin {
public:
    static void all_of(const PMEM& pmem, const std::string& id) {
        Store& store = *pmem::Sides::of(pmem).shared();
        const auto directory = store.directory_of(id);
        std::vector<BlockRecord> blocks;
        {
            const std::lock_guard one_thread(directory->mutex());
            directory->refresh();
            for (const auto& [handle, block] : directory->blocks()) blocks.push_back(block);
        }
        for (const BlockRecord& block : blocks) store.move_block(id, *directory, block, 0);
        store.heap_.reclaim();
    }

    /// Makes an array as from an inventory that tells of `from` what it is, and that blocks are missing at steps before `kept_since`.
    static void restore_array(const PMEM& pmem, const std::string& from, const std::string& to,
                              std::uint64_t kept_since) {
        Store& store = *pmem::Sides::of(pmem).shared();
        const std::uint64_t record = store.directory_of(from)->definition().link.offset();
        const std::size_t length = store.pool_.as<heap::RecordHeader>(record).length;
        layout::Inventory inventory;
        inventory.add({layout::ItemKind::array, 0, 0, 0, 0, kept_since}, to,
                      {store.pool_.at(record), length});
        Rebuilt result;
        store.restore(inventory, os::File(), result, [] {});
        if (!result.damages.empty()) throw std::logic_error(result.damages.front().what);
    }
    /// And its newest block, whose bytes lie where a page begins, as from a file of the flush target.
    static void restore_newest_block(const PMEM& pmem, const std::string& from, const std::string& to) {
        Store& store = *pmem::Sides::of(pmem).shared();
        const auto source = store.directory_of(from);
        BlockRecord newest;
        {
            const std::lock_guard one_thread(source->mutex());
            source->refresh();
            for (const auto& [handle, block] : source->blocks()) {
                if (block.version >= newest.version) newest = block;
            }
        }
        const os::Mapping stored(store.pool_.file(), newest.block.stored_bytes,
                                 {.access = os::Access::read, .offset = newest.block.extent.offset});
        store.restore_block(to, *store.directory_of(to), newest, stored);
    }
};

}  // namespace pmemcpy::store
