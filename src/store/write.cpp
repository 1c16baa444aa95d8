// Storing into arrays: the data first, then the record that names it, then the slot that publishes the record.

#include "array/runs.hpp"
#include "array/selection.hpp"
#include "base/checked.hpp"
#include "base/crc32c.hpp"
#include "catalog/retry.hpp"
#include "codec/blosc.hpp"
#include "os/guard.hpp"
#include "os/process.hpp"
#include "persist/copy.hpp"
#include "store/pin.hpp"
#include "store/store.hpp"

#include <array>
#include <cstring>

namespace pmemcpy::store {

using catalog::Block;
using catalog::Retry;
using heap::RecordKind;
using persist::Medium;

namespace {

persist::Element element_of(const Type& type) {
    if (!type.is_native()) return persist::Element::none;
    switch (type.kind()) {
        case Kind::float32:
            return persist::Element::f32;
        case Kind::float64:
            return persist::Element::f64;
        case Kind::int8:
            return persist::Element::i8;
        case Kind::int16:
            return persist::Element::i16;
        case Kind::int32:
            return persist::Element::i32;
        case Kind::int64:
            return persist::Element::i64;
        case Kind::uint8:
            return persist::Element::u8;
        case Kind::uint16:
            return persist::Element::u16;
        case Kind::uint32:
            return persist::Element::u32;
        case Kind::uint64:
            return persist::Element::u64;
        default:
            return persist::Element::none;
    }
}

// Of an unlimited array. The largest length would stand for none.
void check_length(std::string_view id, const ArrayDefinition& d, pmemcpy::Extent length) {
    std::uint64_t bytes = length;
    bool fits = length != unlimited && base::checked_mul(bytes, d.type.size(), bytes);
    for (int i = 1; i < d.dims.size(); ++i) fits = fits && base::checked_mul(bytes, d.dims[i], bytes);
    if (fits) return;
    throw Error(Code::out_of_range, "'" + std::string(id) + "' cannot become " + std::to_string(length) +
                                        " long: an array has less than 2^64 bytes");
}

}  // namespace

void Store::store(std::string_view id, const Type& type, const void* data, const Selection& selection,
                  const std::optional<Codec>& codec) {
    check_writable();
    const auto directory = array(id);
    const ArrayDefinition& d = directory->definition();
    if (!compatible_for_load(type, d.type)) {
        throw Error(Code::type_mismatch, "array '" + std::string(id) + "' holds " + d.type.name() +
                                             ", cannot store " + type.name());
    }
    array::validate(selection, d.dims);
    if (selection.empty()) return;
    if ((d.flags & catalog::array_unlimited) != 0) check_length(id, d, array::end_of(selection, 0));
    // In the pool the last index runs fastest; Fortran order is that with the dimensions reversed.
    const Selection box = d.order == Order::fortran ? array::reversed(selection) : selection;
    if ((d.flags & catalog::array_contiguous) != 0) return store_in_place(id, *directory, data, box);
    const Codec chosen = codec.value_or(d.codec);
    if (!is_available(chosen.kind)) {
        throw Error(Code::unsupported, "this build of pMEMCPY has no codec " + to_string(chosen) +
                                           "; build it with Blosc (libblosc-dev)");
    }
    std::uint64_t version = 0;
    pool::Feed::UnderWay under_way(feed());
    with_space([&] {
        // Until the block is published. Where there is no hierarchy yet, it stays in the pool, also if one is made meanwhile.
        std::optional<pool::Pool::Placing> placing;
        if (Medium::load(&pool_.state().hierarchy.value) != 0) placing.emplace(pool_);
        Block block{};
        const InStep in_step(*this);
        block.step = in_step.step();
        block.raw_bytes = selection.elements() * d.type.size();
        block.written_ns = os::wall_ns();
        block.writer_pid = static_cast<std::uint32_t>(pool_.process_id());
        block.writer_rank = options_.rank;
        block.dimensions = static_cast<std::uint8_t>(box.size());
        block.codec = static_cast<std::uint8_t>(chosen.kind);
        if (!box.is_dense()) block.flags = catalog::block_strided;
        if (is_scratch(id, box)) block.flags |= catalog::block_scratch;
        const std::uint64_t length =
            sizeof block + (box.is_dense() ? 16U : 24U) * static_cast<std::uint64_t>(box.size());
        // A place whose memory turns out to be gone is held on to while another one is looked for, which is then another.
        std::array<std::optional<catalog::Draft>, places_tried> drafts;
        std::size_t place = 0;
        for (bool filled = false; !filled;) {
            catalog::Draft& draft = drafts[place].emplace(heap_, length);
            draft.write_header(RecordKind::block, 0, length, d.incarnation, 0);
            const std::uint32_t target = placing ? target_for(id, box, block.raw_bytes) : heap_.home();
            try {
                fill_block(d, data, chosen, draft, block, target);
                filled = true;
            } catch (const Error& error) {
                // Another target, or else another place in the pool.
                if (set_aside(target, error, block.raw_bytes)) continue;
                if (error.kind() != Code::io_error || ++place == places_tried) throw;
            }
        }
        const catalog::BlockBytes record = catalog::write_block(block, box);
        drafts[place]->write(sizeof(heap::RecordHeader), record.bytes.data(), record.bytes.size());
        under_way.of(catalog_.entry_of(d.link));
        publish_block(id, *directory, *drafts[place], box);
        version = drafts[place]->as<heap::RecordHeader>().version;
    });
    if ((d.flags & catalog::array_unlimited) != 0) collect_appended(id, *directory, array::bounding_box(box));
    announce(catalog_.entry_of(d.link));
    name_changed(id);
    if (Medium::load(&pool_.state().hierarchy.value) != 0) {
        note_stored(std::string(id), box, version);
        flush_through(std::string(id), *directory, box, version);
    }
    heap_.reclaim();
}

void Store::fill_block(const ArrayDefinition& d, const void* data, const Codec& codec, catalog::Draft& draft,
                       Block& block, std::uint32_t target) {
    const Medium& m = pool_.medium();
    const std::uint64_t begun_ns = target >= layout::first_target_below ? os::monotonic_ns() : 0;
    const bool packed = codec.kind != Codec::Kind::none;
    const std::uint64_t room =
        packed ? codec::compressed_bound_bytes(block.raw_bytes, d.type.size()) : block.raw_bytes;
    block.extent = heap_.allocate_extent(room, draft.offset(), target);
    draft.owns(block.extent);
    // From here on the draft's record names the extent, so that a scavenger frees both.
    m.write(&draft.as<Block>().extent, &block.extent, sizeof block.extent);
    const heap::Bytes there = heap_.bytes(block.extent, true);
    std::byte* to = there.data;
    const persist::Element element = options_.characterise ? element_of(d.type) : persist::Element::none;
    persist::Characteristic known;
    bool alive = true;
    if (packed) {
        // The codec owns things while it works, so it cannot be left where memory is gone.
        alive = os::can_write(to, room);
    }
    if (packed && alive) {
        block.stored_bytes = codec::compress(
            codec, d.type.size(), {static_cast<const std::byte*>(data), block.raw_bytes}, {to, room});
        m.written(to, block.stored_bytes);
        m.flush(to, block.stored_bytes);
        heap_.shrink_extent(block.extent, block.stored_bytes, draft.offset());
        draft.owns(block.extent);
        if (element != persist::Element::none) known = persist::characterise(data, block.raw_bytes, element);
        known.crc = base::crc32c(0, to, block.stored_bytes);
    } else if (!packed) {
        block.stored_bytes = block.raw_bytes;
        alive = persist::store(m, there.place(), data, block.raw_bytes, {element, options_.checksums}, known);
    }
    if (!alive)
        throw Error(Code::io_error,
                    "the memory of " + pool_.path() + " failed while a block was being stored");
    // Below the pool nothing is flushed line by line; and what is acknowledged is durable (law 2).
    if (target >= layout::first_target_below) {
        if (pool_.durability() == Durability::line || pool_.durability() == Durability::byte)
            heap_.outside()->settle(block.extent);
        if (const auto t = tiering())
            note_speed(*t, target, block.stored_bytes, os::monotonic_ns() - begun_ns);
        targets_.pace(target, layout::Throttle::Way::write, block.stored_bytes);
        const layout::Targets::Turn turn(targets_, target, piece_takes_s(target));
        turn.wrote(block.stored_bytes);
        if (there.file != nullptr) targets_.check_reached(target, *there.file);
    }
    block.crc = known.crc;
    if (packed || options_.checksums || element != persist::Element::none)
        block.flags |= catalog::block_has_crc;
    if (known.has_range) {
        block.flags |= catalog::block_has_min_max;
        block.minimum = known.minimum;
        block.maximum = known.maximum;
    }
}

// A block's record that is to be published in this slot, in which there is `old` or nothing.
Link Store::seal_for(catalog::Draft& draft, const std::uint64_t* slot, Link old) {
    auto& header = draft.as<heap::RecordHeader>();
    const std::uint64_t home = pool_.offset_of(slot);
    const Link replaced = old.is_record() ? old.dead() : Link{};
    pool_.medium().write(&header.home, &home, sizeof home);
    pool_.medium().write(&header.word, &replaced, sizeof replaced);
    // Drawn after the look at the slot, so that it is higher than the version it replaces (law 1).
    return draft.seal(pool_.draw_version());
}

// False when another has been faster.
bool Store::publish_in(const Directory::EmptySlot& slot, Link fresh) {
    std::uint64_t expected = slot.empty;
    if (!pool_.medium().compare_exchange(slot.word, expected, fresh.word)) return false;
    pool_.medium().persist(slot.word, sizeof *slot.word);
    return true;
}

void Store::publish_block(std::string_view id, Directory& directory, catalog::Draft& draft,
                          const Selection& box) {
    const std::lock_guard one_thread(directory.mutex());
    auto& header = draft.as<heap::RecordHeader>();
    const std::uint64_t step = draft.as<Block>().step;
    const auto throw_erased = [&] {
        throw Error(Code::not_found,
                    "array '" + std::string(id) + "' was erased while a block was being stored in it");
    };
    for (Retry retry(id);; retry.again()) {
        if (!directory.refresh()) throw_erased();
        // An older block of the same box gives up its slot, unless readers still need it because this one's
        // step is not committed.
        std::uint64_t* slot = nullptr;
        heap::Seen old{};
        for (const std::uint64_t handle : directory.same_box(box)) {
            const BlockRecord& there = directory.block(handle);
            if (there.block.step != step && (step != 0 || !is_committed(there.block.step))) continue;
            slot = directory.slot_word(handle);
            old = there.seen();
        }
        std::uint64_t expected = 0;
        if (slot == nullptr) {
            const Directory::EmptySlot empty = directory.find_empty();
            slot = empty.word;
            expected = empty.empty;
        }
        directory.vouch();
        const Link fresh = seal_for(draft, slot, old.link);
        if (old.link.is_record()) {
            if (!heap_.replace(slot, old, fresh)) continue;
        } else {
            if (!publish_in({slot, expected}, fresh)) continue;
        }
        draft.keep();
        // An erase seals the slots, but one that another was just emptying comes empty behind it. The array's word is dead
        // before; so either we see that here, or whoever erases it comes by this slot later.
        if (!directory.is_published()) {
            heap_.retire(fresh);
            throw_erased();
        }
        retire_covered(directory, box, header.version, step);
        return;
    }
}

// What this block covers whole is garbage (law 3), unless an uncommitted step stands between.
void Store::retire_covered(Directory& directory, const Selection& box, std::uint64_t version,
                           std::uint64_t step) {
    if (!box.is_dense() || !directory.refresh()) return;
    const Box mine = array::bounding_box(box);
    std::vector<std::uint64_t> covered;  // in favour of this block, or of one of the same step
    directory.index().query(mine, [&](std::uint64_t handle) {
        const BlockRecord& there = directory.block(handle);
        if (there.version >= version) return;
        const Box its = array::bounding_box(there.box);
        for (int d = 0; d < mine.size(); ++d) {
            if (its.offset[d] < mine.offset[d] || its.end(d) > mine.end(d)) return;
        }
        if (step == 0 ? is_committed(there.block.step) : there.block.step == step) covered.push_back(handle);
    });
    // Of the committed versions of this very box readers see only the newest, which need not be this one.
    const BlockRecord* newest = nullptr;
    for (const std::uint64_t handle : directory.same_box(box)) {
        const BlockRecord& there = directory.block(handle);
        if (is_committed(there.block.step) && (newest == nullptr || newest->version < there.version))
            newest = &there;
    }
    for (const std::uint64_t handle : directory.same_box(box)) {
        const BlockRecord& there = directory.block(handle);
        if (newest != nullptr && is_committed(there.block.step) && there.version < newest->version)
            directory.retire(handle, newest->block.step);
    }
    for (const std::uint64_t handle : covered) directory.retire(handle, step);
}

void Store::store_in_place(std::string_view id, Directory& directory, const void* data,
                           const Selection& box) {
    ensure_in_place(directory);
    const std::lock_guard one_thread(directory.mutex());
    directory.refresh();
    if (directory.blocks().empty())
        throw Error(Code::not_found, "array '" + std::string(id) + "' was erased meanwhile");
    const BlockRecord& block = directory.blocks().begin()->second;
    const Pin pin(heap_, block.seen());  // else the space may be another's while it is being filled
    if (!pin) throw Error(Code::not_found, "array '" + std::string(id) + "' was erased meanwhile");
    if (Medium::load(&pool_.as<heap::RecordHeader>(block.link.offset()).word) != 0) {
        throw Error(Code::invalid_argument,
                    "array '" + std::string(id) + "' is frozen and takes no more stores");
    }
    const Selection part = Box{Dimensions::filled(box.size(), 0), box.count};
    const array::CopyPlan plan(box, block.box, part, directory.definition().type.size());
    const heap::Bytes there = heap_.bytes(block.block.extent);
    std::byte* to = there.data;
    if (to == nullptr) {
        const bool is_there = heap::is_current(pool_, block.seen());
        throw Error(is_there ? Code::corrupt : Code::not_found,
                    "array '" + std::string(id) +
                        (is_there ? "' has lost its payload file" : "' was erased meanwhile"));
    }
    const auto* from = static_cast<const std::byte*>(data);
    const bool alive = os::guarded(to, block.block.extent.length, [&] {
        plan.for_each_rows([&](const array::RowSet& r) {
            // No image shows it: what is stored in place is under no promise until it is frozen, and then flushed whole.
            persist::copy_rows_to_medium(pool_.medium(), to + r.block_offset, r.block_stride,
                                         from + r.buffer_offset, r.buffer_stride, r.row_bytes, r.rows);
        });
    });
    // No image shows it: another process that is told of this store, by a message, must see it (law 2).
    pool_.medium().fence();
    if (!alive)
        throw Error(Code::io_error,
                    "the memory of array '" + std::string(id) + "' failed while it was being stored");
}

}  // namespace pmemcpy::store
