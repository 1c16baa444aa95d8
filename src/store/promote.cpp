// Blocks that come back into the pool because somebody reads them.

#include "array/selection.hpp"
#include "store/store.hpp"

#include <algorithm>

namespace pmemcpy::store {

void Store::set_on_read(std::function<void(Read)> f) {
    const std::lock_guard lock(on_read_mutex_);
    tells_of_reads_ = f != nullptr;
    on_read_ = std::move(f);
}

void Store::tell_of_read(std::string_view id, const BlockRecord& block) const {
    const std::lock_guard lock(on_read_mutex_);
    if (on_read_) on_read_({std::string(id), block});
}

Promotion Store::promotion() const {
    const auto t = tiering();
    return t ? t->hierarchy.promotion : Promotion::never;
}

std::vector<Store::Read> Store::blocks_below(const std::string& id, const std::vector<Box>& boxes) const {
    std::vector<Read> found;
    const auto directory = directory_of(id);
    if (!directory) return found;
    const std::lock_guard one_thread(directory->mutex());
    if (!directory->refresh()) return found;
    for (const Box& box : boxes) {
        for (const std::uint64_t handle : directory->same_box(box)) {
            const BlockRecord& block = directory->block(handle);
            if (is_below(block) && is_committed(block.block.step)) found.push_back({id, block});
        }
    }
    return found;
}

bool Store::bring_up(const Read& read) {
    const auto t = tiering();
    if (!t || !is_below(read.block) || t->hierarchy.promotion == Promotion::never) return false;
    const Rule* rule =
        t->rules.find(read.id, array::bounding_box(read.block.box), read.block.block.writer_rank);
    if (rule != nullptr && (!rule->pin.empty() || rule->drop_after_flush)) return false;
    if (t->mode_of(read.id, read.block) == Buffering::bypass) return false;
    const auto directory = directory_of(read.id);
    if (!directory) return false;
    const std::uint64_t bytes = read.block.block.stored_bytes;
    const tier::Level top = ledger_of(*t)[0];
    // As far as the high watermark, behind which it would only be brought down again.
    const auto most =
        static_cast<std::uint64_t>(t->hierarchy.watermarks.high * static_cast<double>(top.capacity));
    if (bytes > most) return false;
    const std::uint64_t kept_free = top.capacity - most + bytes;
    if (top.remaining < kept_free) make_room(*t, 0, kept_free);
    try {
        return move_block(read.id, *directory, read.block, t->numbers[0]);
    } catch (const Error& error) {
        if (error.kind() != Code::no_space) throw;
        return false;  // who stores is before who might read
    }
}

}  // namespace pmemcpy::store
