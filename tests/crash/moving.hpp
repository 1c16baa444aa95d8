#pragma once

#include <mutex>
#include <string>
#include <vector>

#include "pmem/sides.hpp"

namespace pmemcpy::store {

/// Moves blocks from the pool to the pool, which is as from target to target for all that the explorer sees of it; and it has no other.
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
};

}  // namespace pmemcpy::store
