// Loading from arrays: which block gives which elements, the copies, and the look afterwards whether the blocks
// were still there (law 5).

#include "array/byte_order.hpp"
#include "array/cover.hpp"
#include "array/id.hpp"
#include "array/runs.hpp"
#include "array/selection.hpp"
#include "base/crc32c.hpp"
#include "catalog/retry.hpp"
#include "os/guard.hpp"
#include "persist/copy.hpp"
#include "store/pin.hpp"
#include "store/reading.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <list>
#include <unordered_set>

namespace pmemcpy::store {

using catalog::Block;
using catalog::Retry;
using persist::Medium;

namespace {

constexpr std::uint64_t kept_flag = 1ULL << 63;  // of handles in a cover: it is none of the directory's

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

}  // namespace

void throw_no_memory(std::string_view id, const Selection& box) {
    throw Error(
        Code::io_error,
        "the memory of block " + to_string(box) + " of '" + std::string(id) +
            "' is damaged (SIGBUS); store it again, or make a new pool of the rest with pmemcpy repair");
}

Store::Effort Store::load(std::string_view id, const Type& type, void* data, const Selection& selection,
                          std::optional<std::uint64_t> step) const {
    check_readable();
    return load_checked(id, type, data, selection, step, nullptr);
}

Store::Effort Store::load_checked(std::string_view id, const Type& type, void* data,
                                  const Selection& selection, std::optional<std::uint64_t> step,
                                  std::vector<BlockRecord>* read) const {
    if (const std::string_view variable = array::variable_of_dims_id(id); !variable.empty()) {
        load_dims(variable, type, data, selection);
        return {};
    }
    const Wanted what{id, data, selection, step};
    Reading reading;
    // Bounded by what is missing, which only gets less once it keeps what it has read: at each look that is what others have
    // stored anew between the look and the pin. A step that is committed meanwhile may make it begin anew, where it took away
    // what the step before had.
    for (Retry retry(id);; retry.again()) {
        const auto directory = array(id);
        const ArrayDefinition& d = directory->definition();
        const bool swaps = !(d.type == type) && d.type.with_byte_order(native_order) == type;
        if (!swaps && !compatible_for_load(d.type, type)) detail::throw_type_mismatch(id, d.type, type);
        if (!try_load(*directory, what, reading, retry)) continue;
        if (swaps) {
            array::swap_bytes(d.type, {static_cast<std::byte*>(data), selection.elements() * d.type.size()});
        }
        if (read != nullptr) {
            for (const auto& piece : reading.pieces) read->push_back(piece.block);
        }
        return reading.effort;
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

bool Store::try_load(Directory& directory, const Wanted& what, Reading& reading,
                     catalog::Retry& retry) const {
    ++reading.effort.looks;
    if (!plan(directory, what, reading, retry)) return false;
    const bool is_done = reading.keeps() ? read_one_by_one(directory, what, reading, retry)
                                         : read_at_once(directory, what, reading, retry);
    if (!is_done) return false;
    const auto& pieces = reading.pieces;
    if (counts_reads_.load(std::memory_order_relaxed) && !pieces.empty())
        count_reads(what.id, directory, {&pieces.front().block, pieces.size(), sizeof(Reading::Piece)});
    return true;
}

// Which block gives which elements.
bool Store::plan(Directory& directory, const Wanted& what, Reading& reading, catalog::Retry& retry) const {
    const ArrayDefinition& d = directory.definition();
    const std::string_view id = what.id;
    const std::optional<std::uint64_t> step = what.step;
    if (step && !is_committed(*step)) {
        throw Error(Code::not_found, "step " + std::to_string(*step) + " is not committed; the newest is " +
                                         std::to_string(pool_.committed_step()));
    }
    if (reading.keeps() && reading.array == d.link) {
        reading.keep_what_is_read();
    } else {
        reading.newest = step.value_or(pool_.committed_step());
        reading.kept.clear();
        reading.pieces.clear();
    }
    reading.array = d.link;
    const std::uint64_t newest = reading.newest;
    const std::lock_guard one_thread(directory.mutex());
    if (!directory.refresh()) {
        if (!defined(id)) throw Error(Code::not_found, "array '" + std::string(id) + "' was erased");
        retry.doubt(pool_, d.link);
        return false;
    }
    // What a step replaces goes once it is committed. If one was, since we asked for the newest, our view may lack both.
    const auto begin_anew = [&] {
        reading.array = {};
        return false;
    };
    if (!step && !reading.keeps() && newest != pool_.committed_step()) return begin_anew();
    if (step && directory.kept_since() > *step) {
        throw Error(Code::not_found, "array '" + std::string(id) + "' is not kept as it was at step " +
                                         std::to_string(*step) + ": blocks of it were replaced; step " +
                                         std::to_string(directory.kept_since()) + " is the oldest left");
    }
    // The newest block of all may be the one whose record is damaged; what lies below it is old then.
    if (options_.verify_loads && directory.damaged() > 0) throw_damaged_records(id, directory.damaged());
    array::validate(what.selection, dims_now(directory));
    if (what.selection.empty()) return true;
    reading.wanted = d.order == Order::fortran ? array::reversed(what.selection) : what.selection;
    array::Cover cover(reading.wanted);
    bool is_of_later_step = false;
    const auto offer = [&](std::uint64_t handle) {
        const BlockRecord& block = directory.block(handle);
        const bool mine = !step && block.block.step != 0 && block.block.step == step_.load();
        if (block.block.step <= newest || mine) {
            cover.add(block.box, block.version, handle);
        } else {
            is_of_later_step = true;
        }
    };
    if (reading.kept.empty()) {
        directory.index().query(array::bounding_box(reading.wanted), offer);
    } else {
        for (std::size_t i = 0; i < reading.kept.size(); ++i)
            cover.add(array::compose(reading.wanted, reading.kept[i].part), reading.kept[i].block.version,
                      i | kept_flag);
        std::unordered_set<std::uint64_t> handles;
        for (const Selection& part : reading.missing())
            directory.index().query(array::bounding_box(part),
                                    [&](std::uint64_t handle) { handles.insert(handle); });
        std::for_each(handles.begin(), handles.end(), offer);
    }
    // Of a step that has not been seen so far nothing may be seen now, and what was there before it may be gone.
    if (!step && is_of_later_step && newest != pool_.committed_step() && directory.kept_since() > newest)
        return begin_anew();
    const array::Cover::Take take = [&](std::uint64_t handle, const Selection& part) {
        if ((handle & kept_flag) == 0) {
            reading.pieces.push_back({directory.block(handle), part, handle});
        } else {
            const std::size_t origin = handle & ~kept_flag;
            const Reading::Piece& piece = reading.kept[origin];
            reading.pieces.push_back({piece.block, part, piece.handle, true, origin});
        }
    };
    // What is read at once is copied in order; else each element comes once.
    if (!reading.keeps() && cover.paint(take)) return true;
    cover.plan(take, [&](const Selection& part) {
        if (directory.damaged() > 0) throw_damaged_records(id, directory.damaged());
        if (!d.fill.empty()) return fill_part(what.data, reading.wanted, part, d.fill);
        Selection missing = array::compose(reading.wanted, part);
        if (d.order == Order::fortran) missing = array::reversed(missing);
        throw Error(Code::not_found,
                    "array '" + std::string(id) + "': nothing was stored in " + to_string(missing) +
                        (step ? " by step " + std::to_string(*step) + ", or it is not kept" : "") +
                        "; give the array a fill value, or load what is there");
    });
    return true;
}

// All blocks as they are at one moment: what nearly always succeeds, and costs no pin.
bool Store::read_at_once(Directory& directory, const Wanted& what, Reading& reading,
                         catalog::Retry& retry) const {
    std::list<Pin> pins;
    for (const auto& piece : reading.pieces) {
        // A decoder follows what the bytes say, so they must not change under it.
        if (!is_packed(piece.block) && !options_.verify_loads) continue;
        if (!pins.emplace_back(heap_, piece.block.seen()))
            return doubt_if_there(directory, piece.handle, piece.block.link, retry);
    }
    for (const auto& piece : reading.pieces) {
        if (options_.verify_loads) check_block(what.id, piece.block);
        copy_part(what.id, directory.definition(), piece.block, reading.wanted, piece.part, what.data);
    }
    reading.effort.blocks += reading.pieces.size();
    // A block whose magic is still there had not been given to somebody else while we copied.
    for (const auto& piece : reading.pieces) {
        if (!heap::is_still_current(pool_, piece.block.seen()))
            return doubt_if_there(directory, piece.handle, piece.block.link, retry);
    }
    return true;
}

// Each block as it is at some moment of the load, under a pin that lasts as long as its copy: so what others store costs those
// blocks another look, and only those. One pin at a time is all that it needs, for a mere reader too.
bool Store::read_one_by_one(Directory& directory, const Wanted& what, Reading& reading,
                            catalog::Retry& retry) const {
    const ArrayDefinition& d = directory.definition();
    const auto read = [&](Reading::Piece& piece) {
        const Pin pin(heap_, piece.block.seen());
        if (!pin) return false;
        if (options_.verify_loads) check_block(what.id, piece.block);
        copy_part(what.id, d, piece.block, reading.wanted, piece.part, what.data);
        ++reading.effort.blocks;
        return piece.is_read = heap::is_current(pool_, piece.block.seen());
    };
    // A block that has come into the place of one in the same box, with nothing above it, may stand for it at once: wherever it
    // lies nothing older is seen. Where its record is gone again the slot names another one by now, and that is as good. A record
    // that makes no sense while the slot names it the next look tells of.
    const auto take_newer = [&](Reading::Piece& piece) {
        if (array::covered(reading.wanted, piece.block.box) != piece.part) return false;
        for (Link last = piece.block.link;;) {
            std::atomic_thread_fence(std::memory_order_acquire);
            Link link{};
            {
                const std::lock_guard one_thread(directory.mutex());
                link = {Medium::load(directory.slot_word(piece.handle))};
            }
            if (link == last || !link.is_live()) return false;
            last = link;
            std::optional<BlockRecord> newer;
            try {
                newer = catalog::read_block(heap_, link, d);
            } catch (const Error&) {
                continue;
            }
            if (!newer) continue;
            if (newer->block.header.incarnation != d.incarnation || newer->box != piece.block.box ||
                newer->block.step > reading.newest)
                return false;
            piece.block = std::move(*newer);
            return true;
        }
    };
    bool is_done = true;
    for (auto& piece : reading.pieces) {
        // Each time around another process has stored the block anew since the look at its slot just before.
        while (!piece.is_read && !read(piece) && take_newer(piece)) {
        }
        if (!piece.is_read) is_done = doubt_if_there(directory, piece.handle, piece.block.link, retry);
    }
    return is_done;
}

// A block that its slot still names, though it is no record in use, is damaged. Always false.
bool Store::doubt_if_there(Directory& directory, std::uint64_t handle, Link block,
                           catalog::Retry& retry) const {
    std::atomic_thread_fence(std::memory_order_acquire);
    const std::lock_guard one_thread(directory.mutex());
    if (Medium::load(directory.slot_word(handle)) == block.word) retry.doubt(pool_, block);
    return false;
}

void Store::copy_part(std::string_view id, const ArrayDefinition& array, const BlockRecord& block,
                      const Selection& wanted, const Selection& part, void* data) const {
    const Block& b = block.block;
    const heap::Bytes there = heap_.bytes(b.extent);
    if (there.data == nullptr) {
        if (!heap::is_current(pool_, block.seen()))
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
    const std::byte* const from = there.data;
    const array::CopyPlan plan(wanted, block.box, part, array.type.size());
    auto* to = static_cast<std::byte*>(data);
    const auto copy = [&] {
        plan.for_each_rows([&](const array::RowSet& r) {
            persist::copy_rows_from_medium(to + r.buffer_offset, r.buffer_stride, from + r.block_offset,
                                           r.block_stride, r.row_bytes, r.rows);
        });
    };
    if (is_packed(block)) return unpack(id, block, from, plan, to);
    if (!os::guarded(from, b.extent.length, copy)) throw_no_memory(id, block.box);
}

void Store::check_block(std::string_view id, const BlockRecord& block) const {
    const Block& b = block.block;
    const heap::Bytes there = heap_.bytes(b.extent);
    const std::byte* bytes = there.data;
    if (bytes == nullptr) {
        if (!heap::is_current(pool_, block.seen())) return;  // as in copy_part
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
