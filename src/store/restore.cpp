// What an inventory names, put into a pool that nobody else knows yet. What is lost or makes no sense costs itself, and is named.

#include "array/selection.hpp"
#include "base/crc32c.hpp"
#include "layout/inventory.hpp"
#include "layout/payload_name.hpp"
#include "layout/trouble.hpp"
#include "os/directory.hpp"
#include "os/guard.hpp"
#include "os/map.hpp"
#include "persist/copy.hpp"
#include "store/store.hpp"

#include <fcntl.h>

#include <cstring>

namespace pmemcpy::store {

using catalog::Block;
using layout::Inventory;
using layout::Item;
using layout::ItemKind;

// What is lost or makes no sense costs itself, and is named; an error of the new pool ends it.
class Store::Restoring {
public:
    Restoring(Store& store, const os::File& directory, Rebuilt& result, const std::function<void()>& progress)
        : store_(store), directory_(directory), result_(result), progress_(progress) {}

    void take(const Item& item) {
        switch (item.head.kind) {
            case ItemKind::pool:
                return;
            case ItemKind::group:
            case ItemKind::value:
            case ItemKind::array:
                end_thing();
                thing_ = item;
                has_thing_ = true;
                return;
            case ItemKind::origin:
                origin_ = catalog::read_origin(with_room_for_an_entry(item.record));
                return;
            case ItemKind::attribute:
                attributes_.push_back(item);
                return;
            case ItemKind::block:
                blocks_.push_back(item);
                return;
        }
        lose({}, {}, "the inventory has an item of a kind that this version of pMEMCPY does not know");
    }

    void end_thing() {
        if (has_thing_) restore_thing();
        has_thing_ = false;
        origin_.reset();
        attributes_.clear();
        blocks_.clear();
    }

private:
    // Fields are read behind the fixed part of a record.
    static std::vector<std::byte> entry_with(std::span<const std::byte> fields) {
        catalog::Entry entry{};
        entry.header.fields = sizeof entry;
        std::vector<std::byte> record(sizeof entry);
        std::memcpy(record.data(), &entry, sizeof entry);
        record.insert(record.end(), fields.begin(), fields.end());
        return record;
    }
    std::span<const std::byte> with_room_for_an_entry(std::span<const std::byte> fields) {
        entry_ = entry_with(fields);
        return entry_;
    }

    void lose(const std::string& id, const Selection& box, const std::string& what) {
        result_.damages.push_back({id, box, what});
    }

    /// False when it is lost.
    template <class F>
    bool attempt(const std::string& id, const Selection& box, F&& f) {
        try {
            f();
            return true;
        } catch (const layout::SourceDamage& error) {
            lose(id, box, error.what());
        } catch (const Error& error) {
            if (error.kind() == Code::no_space || error.kind() == Code::io_error) throw;
            lose(id, box, error.what());
        }
        return false;
    }

    void restore_thing() {
        const std::string id(thing_.name);
        store_.catalog_.set_origin(origin_);
        const bool is_there = attempt(id, {}, [&] {
            if (thing_.head.kind == ItemKind::array) return restore_array(id);
            if (thing_.head.kind == ItemKind::value) {
                if (restore_value(thing_,
                                  [&](const Type& type, SerializerType serializer, const Encoder& encoder) {
                                      store_.store_value(id, type, serializer, encoder);
                                  }))
                    ++result_.variables;
            } else if (id != "/" && store_.is_group(id) != true) {
                store_.make_group(id);
            }
        });
        if (!is_there || (id != "/" && !store_.exists(id) && store_.is_group(id) != true)) return;
        for (const Item& each : attributes_) {
            const std::string name(each.name);
            attempt(id, {}, [&] {
                static_cast<void>(restore_value(
                    each, [&](const Type& type, SerializerType serializer, const Encoder& encoder) {
                        store_.set_attribute(id, name, type, serializer, encoder);
                    }));
            });
        }
    }

    /// The file of an item, mapped: under its name, or that which it has since the pool needed it no more. `fits` says whether it is that one.
    template <class Fits>
    std::vector<os::Mapping> find(std::uint64_t number, std::uint64_t bytes, Fits&& fits) {
        std::vector<os::Mapping> found;
        for (const std::string& name : {layout::name_of_payload(number), layout::kept_name_of(number)}) {
            const auto named = os::look_in(directory_, name);
            if (!named || named->what != os::Named::regular || named->size < bytes || bytes == 0) continue;
            try {
                if (!fits(name)) continue;
                const auto file = os::File::open_in(directory_, name, O_RDONLY);
                if (file) found.emplace_back(*file, bytes, os::MapRequest{.access = os::Access::read});
            } catch (const Error&) {
                continue;  // cannot be read, which is as good as missing
            }
        }
        return found;
    }
    std::vector<os::Mapping> find_copy(const layout::CopyMark& mark) {
        return find(layout::copy_bit | mark.version, mark.bytes,
                    [&](const std::string& name) { return layout::is_copy_with(mark, directory_, name); });
    }

    static std::string missing(std::uint64_t number) {
        return "its file " + layout::name_of_payload(number) +
               " in the flush target is missing, or is another one than was copied";
    }

    template <class Put>
    bool restore_value(const Item& item, Put&& put) {
        ValueSeen seen;
        const std::span<const std::byte> record = item.record;
        if (record.size() < sizeof seen.record)
            throw Error(Code::corrupt, "its record in the inventory is too short");
        std::memcpy(&seen.record, record.data(), sizeof seen.record);
        const catalog::Value& v = seen.record;
        const auto rest = record.subspan(sizeof v);
        const bool is_inline = v.extent.length == 0;
        if (rest.size() < v.type_bytes || (is_inline && rest.size() - v.type_bytes < v.bytes))
            throw Error(Code::corrupt, "its record in the inventory is too short");
        const Type type = v.type_bytes > 0 ? Type::decode(rest.first(v.type_bytes)) : Type();
        const auto serializer = static_cast<SerializerType>(v.serializer);
        if (is_inline) {
            put(type, serializer, BytesEncoder(rest.subspan(v.type_bytes, v.bytes)));
            return true;
        }
        const std::string what = item.head.kind == ItemKind::attribute
                                     ? "attribute '" + std::string(item.name) + "': "
                                     : std::string();
        if ((item.head.flags & layout::item_is_unflushed) != 0)
            throw Error(Code::corrupt, what + "its bytes were never flushed");
        if ((item.head.flags & layout::item_is_damaged) != 0)
            throw Error(Code::corrupt, what + "it was damaged before it could be flushed");
        for (const os::Mapping& stored : find_copy(mark_of(seen))) {
            std::vector<std::byte> bytes(v.bytes);
            if (!os::guarded(stored.base(), v.bytes,
                             [&] { std::memcpy(bytes.data(), stored.base(), v.bytes); }))
                continue;
            if ((v.flags & catalog::value_has_crc) != 0 &&
                base::crc32c(0, bytes.data(), bytes.size()) != v.crc)
                continue;
            put(type, serializer, BytesEncoder(bytes));
            return true;
        }
        throw Error(Code::corrupt, what + missing(item.head.number));
    }

    void restore_array(const std::string& id) {
        const ArrayDefinition d = catalog::decode_array(thing_.record);
        ArrayOptions options;
        options.serializer = d.serializer;
        options.codec = d.codec;
        options.order = d.order;
        options.contiguous = (d.flags & catalog::array_contiguous) != 0;
        options.fill_value = d.fill;
        store_.alloc(id, d.type, d.dims, options);
        ++result_.variables;
        const auto directory = store_.directory_of(id);
        if (thing_.head.number != 0) {  // at older steps blocks are missing here as they were there
            auto& record = store_.pool_.as<catalog::Array>(directory->definition().link.offset());
            store_.pool_.medium().store(&record.kept_since, thing_.head.number);
            // In order before any block of it: the sealing of each has a fence.
            store_.pool_.medium().flush(&record.kept_since, sizeof record.kept_since);
        }
        if ((thing_.head.flags & layout::item_is_unflushed) != 0)
            lose(id, {}, "what was stored in it was never flushed");
        for (const Item& each : blocks_) restore_block_of(id, *directory, each);
    }

    void restore_block_of(const std::string& id, Directory& directory, const Item& item) {
        const ArrayDefinition& d = directory.definition();
        BlockRecord block;
        if (!attempt(id, {}, [&] { block = catalog::decode_block(item.record, d); })) return;
        block.version = item.head.version;
        const Selection box = d.order == Order::fortran ? array::reversed(block.box) : block.box;
        attempt(id, box, [&] {
            if ((item.head.flags & layout::item_is_damaged) != 0)
                throw Error(Code::corrupt, "it was damaged before it could be flushed");
            const auto files = layout::is_copy(item.head.number)
                                   ? find_copy(mark_of(block))
                                   : find(item.head.number, block.block.stored_bytes,
                                          [](const std::string&) { return true; });
            std::string why = missing(item.head.number);
            for (const os::Mapping& stored : files) {
                try {
                    store_.restore_block(id, directory, block, stored);
                    ++result_.blocks;
                    result_.bytes += block.block.stored_bytes;
                    return progress_();
                } catch (const layout::SourceDamage& error) {
                    why = error.what();
                }
            }
            throw layout::SourceDamage(Code::corrupt, why);
        });
    }

    Store& store_;
    const os::File& directory_;
    Rebuilt& result_;
    const std::function<void()>& progress_;
    bool has_thing_ = false;
    Item thing_{};
    std::optional<catalog::Origin> origin_;
    std::vector<std::byte> entry_;
    std::vector<Item> attributes_;
    std::vector<Item> blocks_;
};

// As it was stored: step, time, writer, codec and checksum are the old ones. The version is new, but higher than those of the blocks before it.
void Store::restore_block(const std::string& id, Directory& directory, const BlockRecord& from,
                          const os::Mapping& stored) {
    constexpr unsigned flags_kept =
        catalog::block_strided | catalog::block_has_min_max | catalog::block_has_crc;
    with_space([&] {
        for (;;) {
            Block block = from.block;
            block.flags = static_cast<std::uint8_t>(block.flags & flags_kept);
            const std::uint64_t length = catalog::write_block(block, from.box).length();
            catalog::Draft draft(heap_, length);
            draft.write_header(heap::RecordKind::block, 0, length, directory.definition().incarnation, 0);
            const std::uint32_t target = target_for(id, from.box, block.stored_bytes);
            try {
                block.extent = heap_.allocate_extent(block.stored_bytes, draft.offset(), target);
                draft.owns(block.extent);
                pool_.medium().write(&draft.as<Block>().extent, &block.extent, sizeof block.extent);
                const heap::Bytes there = heap_.bytes(block.extent, true);
                persist::Characteristic found;
                if (!persist::store(pool_.medium(), there.place(), stored.base(), block.stored_bytes,
                                    {persist::Element::none, true, true}, found))
                    throw layout::SourceDamage(Code::io_error, "its file in the flush target cannot be read");
                if ((block.flags & catalog::block_has_crc) != 0 && found.crc != block.crc)
                    throw layout::SourceDamage(
                        Code::corrupt, "its file in the flush target has another checksum than the block");
                if (target >= layout::first_target_below) heap_.outside()->settle(block.extent);
            } catch (const layout::SourceDamage&) {
                throw;
            } catch (const Error& error) {
                if (set_aside(target, error, block.stored_bytes)) continue;
                throw;
            }
            const catalog::BlockBytes record = catalog::write_block(block, from.box);
            draft.write(sizeof(heap::RecordHeader), record.bytes.data(), record.bytes.size());
            return publish_restored(directory, draft);
        }
    });
    heap_.reclaim();
}

// Nothing gives way to it: what lay there side by side, as blocks of several steps do, lies side by side again.
void Store::publish_restored(Directory& directory, catalog::Draft& draft) {
    const std::lock_guard one_thread(directory.mutex());
    directory.refresh();
    const Directory::EmptySlot empty = directory.find_empty();
    directory.vouch();
    const Link fresh = seal_for(draft, empty.word, {});
    std::uint64_t expected = empty.empty;
    if (!pool_.medium().compare_exchange(empty.word, expected, fresh.word))
        throw Error(Code::busy, path() + " is being stored into while it is rebuilt");
    pool_.medium().persist(empty.word, sizeof *empty.word);
    draft.keep();
}

void Store::restore(const Inventory& inventory, const os::File& directory, Rebuilt& result,
                    const std::function<void()>& progress) {
    // Before there is a block of it, so that blocks may be moved at once where the pool is small.
    if (const std::uint64_t step = inventory.head.committed_step; step != 0) {
        begin(step);
        commit(step);
    }
    Restoring restoring(*this, directory, result, progress);
    inventory.for_each([&](const Item& item) { restoring.take(item); });
    restoring.end_thing();
}

}  // namespace pmemcpy::store
