// Copies and their blocks: a copy goes when its block is gone. Nobody who frees a block looks for copies, so somebody looks now and then.

#include "layout/handed.hpp"
#include "store/store.hpp"

#include <cstring>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace pmemcpy::store {

// A copy lives as long as its block, wherever that is; who frees a block does not look for copies. While the lock is held no copy becomes
// a block's place, so a block that is nowhere in the pool now will not be again.
bool Store::sweep_copies(bool also_odd) {
    const auto t = tiering();
    if (!t) return false;
    bool are_left = false;
    for (std::size_t level = 1; level < t->numbers.size(); ++level) {
        if (targets_.is_away(t->numbers[level])) continue;
        const auto files = targets_.files_of(t->numbers[level]);
        if (also_odd) files->remove_torn_copies();
        const pool::Pool::CopiesLock lock(pool_);
        const std::vector<std::uint64_t> copies = files->copies();
        if (copies.empty()) continue;
        std::unordered_map<std::uint64_t, layout::CopyMark> live;
        std::unordered_set<std::uint64_t>
            stay;  // of these versions there is a record that nobody has retired
        bool is_damaged = false;
        heap_.for_each_unit([&](std::uint64_t offset, std::uint64_t room) {
            heap::RecordHeader header;
            if (room < sizeof header) return;
            pool_.guarded([&] { heap::racy_copy(&header, pool_.at(offset), sizeof header); });
            const auto kind = static_cast<heap::RecordKind>(header.kind);
            if (header.magic != heap::record_magic ||
                (kind != heap::RecordKind::block && kind != heap::RecordKind::value))
                return;
            heap::RecordCopy copy;
            const Link link = Link::to(offset, header.version);
            if (!heap::read_record(pool_, link, kind, copy)) {
                is_damaged = is_damaged || heap::is_current(pool_, link);
                return;
            }
            std::uint64_t version = header.version;
            if (kind == heap::RecordKind::block) {
                BlockRecord block;
                std::memcpy(&block.block, copy.data(), sizeof block.block);
                version = block.version = catalog::version_of(copy);
                live.emplace(version, mark_of(block));
            } else {
                ValueSeen value;
                std::memcpy(&value.record, copy.data(), sizeof value.record);
                if (value.record.extent.length == 0) return;
                live.emplace(version, mark_of(value));
            }
            if (heap::UnitState{header.state}.kind() != heap::UnitState::retired) stay.insert(version);
        });
        // A copy may be all that is left of a block whose record says nothing any more.
        if (is_damaged) return false;
        for (const std::uint64_t version : copies) {
            const auto found = live.find(version);
            if (found != live.end() && (!also_odd || files->has_copy(found->second))) {
                are_left = are_left || !stay.contains(version);
            } else {
                files->remove_copy(version);
            }
        }
    }
    if (t->flush_level > 0 && !targets_.is_away(t->numbers[t->flush_level])) drop_kept(*t);
    return are_left;
}

void Store::forget_copies(std::uint32_t target) {
    if (targets_.is_away(target)) return;
    const auto files = targets_.files_of(target);
    files->forget_inventories();
    layout::Handed::forget(files->directory());
    for (const std::uint64_t version : files->copies()) files->remove_copy(version);
    files->remove_torn_copies();
}

}  // namespace pmemcpy::store
