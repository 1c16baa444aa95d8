#include "array/cover.hpp"
#include "array/selection.hpp"
#include "base/crc32c.hpp"
#include "catalog/retry.hpp"
#include "os/guard.hpp"
#include "store/pin.hpp"
#include "store/store.hpp"

#include <algorithm>

namespace pmemcpy::store {

using catalog::Retry;
using persist::Medium;

namespace {

// How far apart, in elements of the block, neighbours of the selection lie along each dimension.
Dimensions strides_in_block(const Selection& wanted, const Selection& block) {
    Dimensions strides = Dimensions::filled(wanted.size(), 1);
    std::uint64_t row = 1;
    for (int d = wanted.size(); d-- > 0;) {
        strides[d] = row * (wanted.stride[d] / block.stride[d]);
        row *= block.count[d];
    }
    return strides;
}

std::uint64_t place_in_block(const Selection& wanted, const Selection& block) {
    std::uint64_t place = 0;
    for (int d = 0; d < wanted.size(); ++d) {
        place = place * block.count[d] + (wanted.offset[d] - block.offset[d]) / block.stride[d];
    }
    return place;
}

}  // namespace

PMEM::RawView Store::view(std::string_view id, const Type& type, const Selection& selection, bool writable) {
    writable ? check_writable() : check_readable();
    for (Retry retry(id);; retry.again()) {
        const auto directory = array(id);
        const ArrayDefinition& d = directory->definition();
        if (!compatible_for_load(d.type, type)) detail::throw_type_mismatch(id, d.type, type);
        const bool contiguous = (d.flags & catalog::array_contiguous) != 0;
        if (writable && !contiguous) {
            throw Error(Code::invalid_argument,
                        "array '" + std::string(id) +
                            "' is not contiguous, so it cannot be updated in "
                            "place; store into a box of it, or make a new array that is contiguous");
        }
        if (contiguous && !pool_.read_only()) ensure_in_place(*directory);
        BlockRecord found;
        std::uint64_t slot = 0;
        Selection wanted;
        {
            const std::lock_guard one_thread(directory->mutex());
            if (!directory->refresh()) {
                retry.doubt(pool_, d.link);
                continue;
            }
            array::validate(selection, dims_now(*directory));
            wanted = d.order == Order::fortran ? array::reversed(selection) : selection;
            if (selection.empty()) return {{}, nullptr, Dimensions::filled(selection.size(), 1)};
            array::Cover cover(wanted);
            directory->index().query(array::bounding_box(wanted), [&](std::uint64_t handle) {
                const BlockRecord& block = directory->block(handle);
                if (is_visible(block.block.step)) cover.add(block.box, block.version, handle);
            });
            std::size_t pieces = 0;
            bool covered = true;
            cover.plan([&](std::uint64_t handle,
                           const Selection&) { ++pieces, found = directory->block(handle), slot = handle; },
                       [&](const Selection&) { covered = false; });
            if (!covered) {
                throw Error(Code::not_found, "array '" + std::string(id) +
                                                 "': nothing was stored in part of " + to_string(selection) +
                                                 "; store it first, or view a part that is there");
            }
            if (pieces > 1) {
                throw Error(Code::unsupported, "array '" + std::string(id) + "': " + to_string(selection) +
                                                   " lies in " + std::to_string(pieces) +
                                                   " blocks, and a view needs one; view each of "
                                                   "blocks(), load() a copy, or make the array contiguous");
            }
        }
        if (found.block.codec != 0) {
            throw Error(Code::unsupported, "array '" + std::string(id) + "': " + to_string(selection) +
                                               " lies in a compressed block; load() a copy");
        }
        if (writable && Medium::load(&pool_.as<heap::RecordHeader>(found.link.offset()).word) != 0) {
            throw Error(Code::invalid_argument,
                        "array '" + std::string(id) + "' is frozen and takes no more updates");
        }
        auto pin = std::make_shared<HeldPin>(shared_from_this(), heap_, found.seen());
        if (!pin->holds()) {
            doubt_if_there(*directory, slot, found.link, retry);
            continue;
        }
        pin->bytes = heap_.bytes(found.block.extent);
        targets_.pace(found.block.extent.target, layout::Throttle::Way::read, found.block.stored_bytes);
        std::byte* begin = pin->bytes.data;
        if (begin == nullptr && !heap::is_current(pool_, found.seen())) {  // erased before it was pinned
            doubt_if_there(*directory, slot, found.link, retry);
            continue;
        }
        if (begin == nullptr)
            throw Error(Code::corrupt, "block " + to_string(found.box) + " of '" + std::string(id) +
                                           "' has lost its payload");
        if (counts_reads_.load(std::memory_order_relaxed))
            count_reads(id, *directory, {&found, 1, sizeof found});
        Dimensions strides = strides_in_block(wanted, found.box);
        if (d.order == Order::fortran) strides = array::reversed(strides);
        std::byte* data = begin + place_in_block(wanted, found.box) * d.type.size();
        return {{std::move(pin), begin, found.block.stored_bytes}, data, strides};
    }
}

void Store::freeze(std::string_view id) {
    check_writable();
    const auto directory = array(id);
    const ArrayDefinition& d = directory->definition();
    if ((d.flags & catalog::array_contiguous) == 0) {
        throw Error(Code::invalid_argument,
                    "array '" + std::string(id) +
                        "' is not contiguous, so there is nothing to freeze: its blocks are complete");
    }
    ensure_in_place(*directory);
    const std::lock_guard one_thread(directory->mutex());
    directory->refresh();
    if (directory->blocks().empty()) return;  // an array without elements
    const BlockRecord& block = directory->blocks().begin()->second;
    const Pin pin(heap_, block.seen());
    if (!pin) throw Error(Code::not_found, "array '" + std::string(id) + "' was erased meanwhile");
    std::uint64_t* word = &pool_.as<heap::RecordHeader>(block.link.offset()).word;
    std::uint64_t expected = 0;
    const heap::Bytes there = heap_.bytes(block.block.extent);
    std::byte* bytes = there.data;
    if (bytes == nullptr) throw Error(Code::corrupt, "array '" + std::string(id) + "' has lost its payload");
    const auto throw_no_memory = [&] {
        throw Error(Code::io_error,
                    "the memory of array '" + std::string(id) + "' is damaged (SIGBUS); store it anew");
    };
    if (!os::can_read(bytes, block.block.stored_bytes)) throw_no_memory();
    const Medium& m = pool_.medium();
    m.written(bytes, block.block.stored_bytes);
    m.flush(bytes, block.block.stored_bytes);
    directory->vouch();
    const std::uint64_t* slot = directory->slot_word(directory->blocks().begin()->first);
    m.flush(slot, sizeof *slot);
    m.fence();
    // The mark promises the bytes, and could reach the medium before them.
    pool_.sync();
    std::uint64_t frozen = catalog::frozen_mark;
    if (!os::guarded(bytes, block.block.stored_bytes,
                     [&] { frozen |= base::crc32c(0, bytes, block.block.stored_bytes); }))
        throw_no_memory();
    if (m.compare_exchange(word, expected, frozen)) m.persist(word, sizeof *word);
    announce(catalog_.entry_of(d.link));
}

}  // namespace pmemcpy::store
