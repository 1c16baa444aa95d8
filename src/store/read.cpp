// Loading from arrays: which block gives which elements, the copies, and the look afterwards whether the blocks
// were still there (law 5).

#include "array/byte_order.hpp"
#include "array/cover.hpp"
#include "array/id.hpp"
#include "array/runs.hpp"
#include "array/selection.hpp"
#include "base/crc32c.hpp"
#include "catalog/retry.hpp"
#include "codec/blosc.hpp"
#include "os/guard.hpp"
#include "persist/copy.hpp"
#include "store/pin.hpp"
#include "store/store.hpp"

#include <atomic>
#include <cstring>
#include <list>

namespace pmemcpy::store {

using catalog::Block;
using catalog::Retry;
using persist::Medium;

namespace {

constexpr int tries_before_pins = 3;

bool is_packed(const BlockRecord& block) { return block.block.codec != 0; }

void fill_part(void* data, const Selection& wanted, const Selection& part,
               const std::vector<std::byte>& fill) {
    const Selection buffer(Dimensions::filled(wanted.size(), 0), wanted.count);
    const array::CopyPlan plan(buffer, buffer, part, fill.size());
    plan.for_each_run([&](std::uint64_t, std::uint64_t offset, std::uint64_t bytes) {
        for (std::uint64_t i = 0; i < bytes; i += fill.size()) {
            std::memcpy(static_cast<std::byte*>(data) + offset + i, fill.data(), fill.size());
        }
    });
}

[[noreturn]] void throw_damaged_records(std::string_view id, std::size_t count) {
    throw Error(Code::corrupt, "array '" + std::string(id) + "': the records of " + std::to_string(count) +
                                   " blocks are damaged, so elements may be missing; run pmemcpy verify");
}

[[noreturn]] void throw_no_memory(std::string_view id, const Selection& box) {
    throw Error(
        Code::io_error,
        "the memory of block " + to_string(box) + " of '" + std::string(id) +
            "' is damaged (SIGBUS); store it again, or make a new pool of the rest with pmemcpy repair");
}

}  // namespace

void Store::load(std::string_view id, const Type& type, void* data, const Selection& selection,
                 std::optional<std::uint64_t> step) const {
    check_readable();
    load_checked(id, type, data, selection, step, nullptr);
}

void Store::load_checked(std::string_view id, const Type& type, void* data, const Selection& selection,
                         std::optional<std::uint64_t> step, std::vector<BlockRecord>* read) const {
    if (const std::string_view variable = array::variable_of_dims_id(id); !variable.empty()) {
        return load_dims(variable, type, data, selection);
    }
    Retry retry(id);
    for (int attempt = 0;; ++attempt, retry.again()) {
        const auto directory = array(id);
        const ArrayDefinition& d = directory->definition();
        const bool swaps = !(d.type == type) && d.type.with_byte_order(native_order) == type;
        if (!swaps && !compatible_for_load(d.type, type)) detail::throw_type_mismatch(id, d.type, type);
        if (try_load(id, *directory, data, selection, step, attempt >= tries_before_pins, read)) {
            if (swaps) {
                array::swap_bytes(d.type,
                                  {static_cast<std::byte*>(data), selection.elements() * d.type.size()});
            }
            return;
        }
    }
}

// The paper's `A#dims`: the dimensions as a one-dimensional array of 64-bit integers.
void Store::load_dims(std::string_view variable, const Type& type, void* data,
                      const Selection& selection) const {
    const Type stored = Type::scalar(Kind::uint64);
    if (!compatible_for_load(stored, type))
        detail::throw_type_mismatch(std::string(variable) + "#dims", stored, type);
    const Dimensions d = dims(variable);
    array::validate(selection, Dimensions{static_cast<pmemcpy::Extent>(d.size())});
    for (pmemcpy::Extent i = 0; i < selection.count[0]; ++i) {
        static_cast<std::uint64_t*>(data)[i] =
            d[static_cast<int>(selection.offset[0] + i * selection.stride[0])];
    }
}

bool Store::try_load(std::string_view id, Directory& directory, void* data, const Selection& selection,
                     std::optional<std::uint64_t> step, bool pin_first,
                     std::vector<BlockRecord>* read) const {
    const ArrayDefinition& d = directory.definition();
    const std::uint64_t newest = step.value_or(pool_.committed_step());
    if (step && !is_committed(*step)) {
        throw Error(Code::not_found, "step " + std::to_string(*step) + " is not committed; the newest is " +
                                         std::to_string(pool_.committed_step()));
    }
    struct Piece {
        BlockRecord block;
        Selection part;
    };
    std::vector<Piece> pieces;
    Selection wanted;
    {
        const std::lock_guard one_thread(directory.mutex());
        if (!directory.refresh()) {
            if (!defined(id)) throw Error(Code::not_found, "array '" + std::string(id) + "' was erased");
            return false;
        }
        // What a step replaces goes once it is committed. If one was, since we asked for the newest, our view may lack both.
        if (!step && newest != pool_.committed_step()) return false;
        if (step && directory.kept_since() > *step) {
            throw Error(Code::not_found, "array '" + std::string(id) + "' is not kept as it was at step " +
                                             std::to_string(*step) + ": blocks of it were replaced; step " +
                                             std::to_string(directory.kept_since()) + " is the oldest left");
        }
        // The newest block of all may be the one whose record is damaged; what lies below it is old then.
        if (options_.verify_loads && directory.damaged() > 0) throw_damaged_records(id, directory.damaged());
        array::validate(selection, dims_now(directory));
        if (selection.empty()) return true;
        wanted = d.order == Order::fortran ? array::reversed(selection) : selection;
        array::Cover cover(wanted);
        directory.index().query(array::bounding_box(wanted), [&](std::uint64_t handle) {
            const BlockRecord& block = directory.block(handle);
            const bool mine = !step && block.block.step != 0 && block.block.step == step_.load();
            if (block.block.step <= newest || mine) cover.add(block.box, block.version, handle);
        });
        cover.plan(
            [&](std::uint64_t handle, const Selection& part) {
                pieces.push_back({directory.block(handle), part});
            },
            [&](const Selection& part) {
                if (directory.damaged() > 0) throw_damaged_records(id, directory.damaged());
                if (!d.fill.empty()) return fill_part(data, wanted, part, d.fill);
                Selection missing = array::compose(wanted, part);
                if (d.order == Order::fortran) missing = array::reversed(missing);
                throw Error(Code::not_found,
                            "array '" + std::string(id) + "': nothing was stored in " + to_string(missing) +
                                (step ? " by step " + std::to_string(*step) + ", or it is not kept" : "") +
                                "; give the array a fill value, or load what is there");
            });
    }
    std::list<Pin> pins;
    for (const Piece& piece : pieces) {
        // A decoder follows what the bytes say, so they must not change under it.
        if (!pin_first && !is_packed(piece.block) && !options_.verify_loads) continue;
        if (!pins.emplace_back(heap_, piece.block.link)) return false;
    }
    for (const Piece& piece : pieces) {
        if (options_.verify_loads) check_block(id, piece.block);
        copy_part(id, d, piece.block, wanted, piece.part, data);
    }
    // A block whose magic is still there had not been given to somebody else while we copied.
    std::atomic_thread_fence(std::memory_order_acquire);
    for (const Piece& piece : pieces) {
        if (!heap::is_current(pool_, piece.block.link)) return false;
    }
    if (counts_reads_.load(std::memory_order_relaxed) && !pieces.empty())
        count_reads(id, directory, {&pieces.front().block, pieces.size(), sizeof(Piece)});
    if (read != nullptr) {
        for (const Piece& piece : pieces) read->push_back(piece.block);
    }
    return true;
}

void Store::copy_part(std::string_view id, const ArrayDefinition& array, const BlockRecord& block,
                      const Selection& wanted, const Selection& part, void* data) const {
    const Block& b = block.block;
    const heap::Bytes there = heap_.bytes(b.extent);
    if (there.data == nullptr) {
        if (!heap::is_current(pool_, block.link))
            return;  // gone with its record, which the look afterwards notices
        throw Error(Code::corrupt, "block " + to_string(block.box) + " of '" + std::string(id) +
                                       "' has lost its payload file; "
                                       "restore it from a copy, or erase '" +
                                       std::string(id) + "'");
    }
    if (b.extent.target != 0) {
        const std::uint64_t bytes = is_packed(block) ? b.stored_bytes : part.elements() * array.type.size();
        targets_.pace(b.extent.target, layout::Throttle::Way::read, bytes);
    }
    const std::byte* from = there.data;
    std::vector<std::byte> packed;
    std::vector<std::byte> unpacked;
    const array::CopyPlan plan(wanted, block.box, part, array.type.size());
    auto* to = static_cast<std::byte*>(data);
    const auto copy = [&] {
        plan.for_each_rows([&](const array::RowSet& r) {
            persist::copy_rows_from_medium(to + r.buffer_offset, r.buffer_stride, from + r.block_offset,
                                           r.block_stride, r.row_bytes, r.rows);
        });
    };
    if (is_packed(block)) {
        // The decoder owns things while it works, so it cannot be left where memory is gone: it gets a copy.
        packed.resize(b.stored_bytes);
        if (!os::guarded(from, b.stored_bytes, [&] { std::memcpy(packed.data(), from, b.stored_bytes); }))
            throw_no_memory(id, block.box);
        // Asked before there is room for them: the record says how many there should be, and not that there are.
        if (codec::inspect_compressed(packed).raw_size_bytes != b.raw_bytes) {
            throw Error(Code::corrupt, "block " + to_string(block.box) + " of '" + std::string(id) +
                                           "' unpacks to another number of bytes than it has");
        }
        unpacked.resize(b.raw_bytes);
        codec::decompress(packed, unpacked);
        from = unpacked.data();
        return copy();
    }
    if (!os::guarded(from, b.extent.length, copy)) throw_no_memory(id, block.box);
}

void Store::check_block(std::string_view id, const BlockRecord& block) const {
    const Block& b = block.block;
    const heap::Bytes there = heap_.bytes(b.extent);
    const std::byte* bytes = there.data;
    if (bytes == nullptr) {
        if (!heap::is_current(pool_, block.link)) return;  // as in copy_part
        throw Error(Code::corrupt, "block " + to_string(block.box) + " of '" + std::string(id) +
                                       "' has lost its payload file");
    }
    std::uint32_t expected = b.crc;
    if ((b.flags & catalog::block_in_place) != 0) {
        const std::uint64_t frozen = Medium::load(&pool_.as<heap::RecordHeader>(block.link.offset()).word);
        if (frozen == 0) return;  // filled in place: no promise yet
        if ((frozen & ~UINT64_C(0xffffffff)) != catalog::frozen_mark) {
            throw Error(Code::corrupt, "block " + to_string(block.box) + " of '" + std::string(id) +
                                           "' has a damaged checksum");
        }
        expected = static_cast<std::uint32_t>(frozen);
    } else if ((b.flags & catalog::block_has_crc) == 0) {
        return;
    }
    std::uint32_t found = 0;
    if (!os::guarded(bytes, b.stored_bytes, [&] { found = base::crc32c(0, bytes, b.stored_bytes); })) {
        throw_no_memory(id, block.box);
    }
    if (found != expected) {
        throw Error(Code::corrupt, "block " + to_string(block.box) + " of '" + std::string(id) +
                                       "' has another checksum than when it was stored");
    }
}

}  // namespace pmemcpy::store
