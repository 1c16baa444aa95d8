// Blocks that are compressed, or decompressed, where they are: as a move, with other bytes that mean the same elements. A block stays as
// old as it was, so nobody takes it for a new one.

#include "catalog/directory.hpp"
#include "codec/blosc.hpp"
#include "os/guard.hpp"
#include "store/pin.hpp"
#include "store/store.hpp"

#include <cstring>

namespace pmemcpy::store {

using catalog::Block;
using heap::RecordKind;

// False when it stays as it is, or somebody else was faster.
bool Store::recode_block(const std::string& id, Directory& directory, const BlockRecord& from,
                         const Codec& codec) {
    const Block& b = from.block;
    if (b.extent.length == 0 || is_below(from) || (b.flags & catalog::block_in_place) != 0) return false;
    if (b.codec == static_cast<std::uint8_t>(codec.kind) || !is_committed(b.step)) return false;
    const Pin pin(heap_, from.seen());
    if (!pin) return false;
    check_block(id, from);  // no damage gets a fresh checksum
    // All of it, as it lies: one row.
    const std::uint64_t elements = b.raw_bytes / directory.definition().type.size();
    std::vector<std::byte> raw(b.raw_bytes);
    BlockRecord flat = from;
    flat.box = Selection(Box{{0}, {elements}});
    copy_part(id, directory.definition(), flat, flat.box, flat.box, raw.data());
    Block block = b;
    block.codec = static_cast<std::uint8_t>(codec.kind);
    block.flags = static_cast<std::uint8_t>(b.flags & catalog::block_strided);
    const std::uint64_t length = catalog::write_block(block, from.box, from.version).length();
    catalog::Draft draft(heap_, length);
    draft.write_header(RecordKind::block, 0, length, directory.definition().incarnation, 0,
                       catalog::write_block(block, from.box, from.version).fields);
    fill_block(directory.definition(), raw.data(), codec, draft, block, b.extent.target);
    if (codec.kind != Codec::Kind::none && block.stored_bytes >= b.stored_bytes) return false;
    if (!put_in_place(directory, from, block, draft)) return false;
    const auto t = tiering();
    if (!t || t->flush_level == 0) return true;
    const std::uint32_t target = t->numbers[t->flush_level];
    if (!targets_.trouble_of(target).empty()) return true;
    // A copy below the pool is of the bytes as they were; unless somebody has made another one meanwhile, which may be the block's place by now.
    BlockRecord fresh = from;
    fresh.block = block;
    const pool::Pool::CopiesLock lock(pool_);
    if (!targets_.files_of(target)->has_copy(mark_of(fresh)))
        targets_.files_of(target)->remove_copy(from.version);
    return true;
}

void Store::recode(std::string_view id, const Codec& codec) {
    check_writable();
    const std::string name(id);
    const auto directory = array(name);
    if ((directory->definition().flags & catalog::array_contiguous) != 0)
        throw Error(
            Code::unsupported,
            "array '" + name + "' is contiguous; such a one can be mapped, so it cannot be compressed");
    if (!is_available(codec.kind))
        throw Error(Code::unsupported, "this build of pMEMCPY has no codec " + to_string(codec) +
                                           "; build it with Blosc (libblosc-dev)");
    std::vector<BlockRecord> blocks;
    {
        const std::lock_guard one_thread(directory->mutex());
        if (!directory->refresh()) return;
        for (const auto& [handle, block] : directory->blocks()) blocks.push_back(block);
    }
    bool any = false;
    for (const BlockRecord& block : blocks) {
        any = with_space([&] { return recode_block(name, *directory, block, codec); }) || any;
        heap_.reclaim();
    }
    if (any) name_changed(id);
}

}  // namespace pmemcpy::store
