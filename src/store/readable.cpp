// Which variables other programs can read as a file of their own (directory layout): those whose bytes all lie in
// one payload, as they are.

#include "array/selection.hpp"
#include "heap/hops.hpp"
#include "store/store.hpp"

namespace pmemcpy::store {

// Of what is committed: a name shows what every reader sees.
std::optional<std::uint64_t> Store::payload_to_read(std::string_view id) const {
    const auto entry = catalog_.find(id);
    const auto definition = entry ? catalog_.definition(*entry) : std::nullopt;
    if (!definition) return std::nullopt;
    Extent extent{};
    if (!is_array(*definition)) {
        auto seen = read_value_record(*definition);
        heap::Hops hops;  // a damaged pool may lead in a circle
        while (seen && !is_committed(seen->record.step))
            seen = hops.take(seen->link) ? read_value_record(seen->record.previous) : std::nullopt;
        if (seen) extent = seen->record.extent;
    } else if (const auto directory = directory_of(*definition)) {
        const std::lock_guard one_thread(directory->mutex());
        if (!directory->refresh()) return std::nullopt;
        const BlockRecord* only = nullptr;
        for (const auto& [handle, block] : directory->blocks()) {
            if (!is_committed(block.block.step)) continue;
            if (only != nullptr) return std::nullopt;
            only = &block;
        }
        if (only == nullptr || only->block.codec != 0 || !is_committed(directory->definition().step))
            return std::nullopt;
        // A block may be smaller than the array; then its file would not be the array's bytes.
        Dimensions dims = directory->definition().dims;
        if ((directory->definition().flags & catalog::array_unlimited) != 0)
            dims[0] = array::end_of(only->box, 0);
        if (only->block.stored_bytes != dims.elements() * directory->definition().type.size())
            return std::nullopt;
        extent = only->block.extent;
    }
    if (extent.length == 0 || extent.target != layout::directory_target) return std::nullopt;
    return extent.offset;
}

void Store::name_changed(std::string_view id) {
    if (directory_layout_) directory_layout_->changed(id, step_.load());
}

void Store::settle_names() {
    if (directory_layout_ && !read_only()) directory_layout_->settle(pool_.committed_step());
}

void Store::heal_names() {
    if (directory_layout_ && !read_only()) directory_layout_->heal([this] { return ids("", false); });
}

}  // namespace pmemcpy::store
