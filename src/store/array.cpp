#include "array/id.hpp"
#include "array/selection.hpp"
#include "catalog/follow.hpp"
#include "catalog/retry.hpp"
#include "os/guard.hpp"
#include "os/process.hpp"
#include "persist/copy.hpp"
#include "store/store.hpp"

#include <algorithm>

namespace pmemcpy::store {

using catalog::Retry;
using heap::mark_empty;
using heap::RecordKind;
using persist::Medium;

namespace {

constexpr std::size_t most_directories = 4096;  // followed at once; more are followed anew when needed

std::string describe(const ArrayDefinition& d) { return d.type.name() + " " + to_string(d.dims); }

// Whether it goes when the job ends makes no other array.
std::uint8_t kind_flags(const ArrayDefinition& d) {
    return static_cast<std::uint8_t>(d.flags & ~unsigned{catalog::array_scratch});
}

// The options that make a different array, for the message when somebody asks for another one.
std::string differences(const ArrayDefinition& there, const ArrayDefinition& asked) {
    std::string text = describe(there) + " and not " + describe(asked);
    if (there.order != asked.order) text += "; it has the other element order";
    if (kind_flags(there) != kind_flags(asked))
        text += "; it differs in being contiguous or in having a fill value";
    if (there.fill != asked.fill) text += "; its fill value is another one";
    return text;
}

bool is_same(const ArrayDefinition& a, const ArrayDefinition& b) {
    return a.type == b.type && a.dims == b.dims && a.order == b.order && kind_flags(a) == kind_flags(b) &&
           a.fill == b.fill;
}

ArrayDefinition definition_of(const Type& type, const Dimensions& dims, const ArrayOptions& options,
                              SerializerType pool_default) {
    ArrayDefinition d;
    d.type = type;
    d.dims = dims;
    d.order = options.order;
    d.codec = options.codec;
    d.fill = options.fill_value;
    d.serializer = options.serializer == SerializerType::Default ? pool_default : options.serializer;
    if (d.serializer != SerializerType::bp4 && d.serializer != SerializerType::none) {
        d.serializer = SerializerType::bp4;  // elements of fixed size are their own encoding
    }
    const bool grows = !dims.empty() && dims[0] == unlimited;
    d.flags = static_cast<std::uint8_t>((options.contiguous ? catalog::array_contiguous : 0) |
                                        (grows ? catalog::array_unlimited : 0) |
                                        (d.fill.empty() ? 0 : catalog::array_has_fill));
    return d;
}

void check(std::string_view id, const ArrayDefinition& d) {
    const std::string name = "array '" + std::string(id) + "'";
    if (!d.type.is_fixed_size()) {
        throw Error(Code::invalid_argument,
                    name + ": elements of type " + d.type.name() +
                        " have no fixed size; store them as a value, or as a serialized object");
    }
    for (int i = 0; i < d.dims.size(); ++i) {
        if (d.dims[i] == unlimited && (i != 0 || d.order == Order::fortran)) {
            throw Error(Code::invalid_argument,
                        name + ": only the first dimension of an array in C order may be unlimited");
        }
    }
    const bool grows = (d.flags & catalog::array_unlimited) != 0;
    if (!grows) {
        std::uint64_t bytes = 0;
        if (__builtin_mul_overflow(d.dims.elements(), d.type.size(), &bytes)) {
            throw Error(Code::invalid_argument, name + " of " + describe(d) + " exceeds 2^64 bytes");
        }
    }
    if ((d.flags & catalog::array_contiguous) != 0 && (grows || d.codec.kind != Codec::Kind::none)) {
        throw Error(Code::invalid_argument,
                    name + ": a contiguous array can neither be unlimited nor compressed");
    }
    if (!d.fill.empty() && d.fill.size() != d.type.size()) {
        throw Error(Code::invalid_argument, name + ": the fill value has " + std::to_string(d.fill.size()) +
                                                " bytes, an element " + std::to_string(d.type.size()));
    }
    if (!is_available(d.codec.kind)) {
        throw Error(Code::unsupported, name + ": this build of pMEMCPY has no codec " + to_string(d.codec) +
                                           "; build it with Blosc (libblosc-dev)");
    }
}

}  // namespace

void Store::alloc(std::string_view id, const Type& type, const Dimensions& dims,
                  const ArrayOptions& options) {
    check_writable();
    array::validate_new_id(id);
    ArrayDefinition asked = definition_of(type, dims, options, default_serializer());
    check(id, asked);
    const InStep in_step(*this);
    asked.step = in_step.step();
    if (is_scratch(id)) asked.flags |= catalog::array_scratch;
    pool::Feed::UnderWay under_way(feed());
    bool made = false;
    announce(with_space([&] {
        for (Retry retry(id);; retry.again()) {
            const Link entry = catalog_.create(id);
            under_way.of(entry.offset());
            const auto word = catalog_.current_word(entry);
            if (!word) {  // erased just then: the next look finds another entry
                retry.doubt(pool_, entry);
                continue;
            }
            const Link there = *word;
            if (there.is_live()) {
                if (!is_array(there)) {
                    if (catalog_.definition(entry) != there) continue;  // erased just then
                    throw Error(Code::already_exists,
                                "'" + std::string(id) + "' exists and is no array; erase it first");
                }
                if (options.must_be_new && !made)
                    throw Error(Code::already_exists, "there is an array '" + std::string(id) + "' already");
                const auto directory = directory_of(there);
                if (!directory) {
                    retry.doubt(pool_, there);
                    continue;
                }
                if (const std::uint64_t step = directory->definition().step; !is_visible(step)) {
                    throw Error(Code::busy, "array '" + std::string(id) + "' is being made in step " +
                                                std::to_string(step) + ", which is not committed; begin(" +
                                                std::to_string(step) + ") first, or wait for its commit");
                }
                if (!is_same(directory->definition(), asked)) {
                    throw Error(Code::already_exists, "array '" + std::string(id) + "' exists as " +
                                                          differences(directory->definition(), asked));
                }
                try {
                    if (options.contiguous) ensure_in_place(*directory);
                } catch (...) {
                    if (made) made = !take_back(entry, id, *directory);
                    throw;
                }
                catalog_.vouch_for(entry);  // whether another has made it or this call, just now
                pool_.medium().fence();
                return entry;
            }
            if (!there.is_mark(mark_empty)) {
                retry.doubt(pool_, there);  // being erased: the next look finds another entry
                continue;
            }
            try {
                made = define_array(entry, there, asked);
            } catch (...) {
                catalog_.give_up(entry);
                throw;
            }
        }
    }));
    if (options.contiguous) name_changed(id);
}

// Of an array that this call has made and has no space for. Another may have been told that it is there, and give it the space: beside others
// it stays, as an array without elements, which a later store gives its space.
bool Store::take_back(Link entry, std::string_view id, Directory& directory) {
    const pool::Pool::Alone alone(pool_, std::try_to_lock);
    const std::lock_guard one_thread(directory.mutex());
    if (!alone || !directory.refresh() || !directory.blocks().empty()) return false;
    catalog_.erase(entry, id);
    return true;
}

// False when somebody else has given the entry a definition, or erased it.
bool Store::define_array(Link entry, Link empty_word, const ArrayDefinition& asked) {
    std::uint64_t* word = catalog_.value_word(entry);
    const std::vector<std::byte> bytes = catalog::write_array(asked, os::wall_ns());
    const std::uint64_t length = sizeof(heap::RecordHeader) + bytes.size();
    catalog::Draft draft(heap_, length);
    const std::uint64_t version = pool_.draw_version();
    draft.write_header(RecordKind::array, catalog::array_mutable_words, length,
                       pool_.as<catalog::Entry>(entry.offset()).header.incarnation, pool_.offset_of(word));
    draft.write(sizeof(heap::RecordHeader), bytes.data(), bytes.size());
    const Link empty = Link::mark(mark_empty, version);
    draft.write(offsetof(heap::RecordHeader, word), &empty, sizeof empty);
    const Link fresh = draft.seal(version);
    const pool::Pool::NamesChange change(pool_);
    std::uint64_t expected = empty_word.word;
    if (!pool_.medium().compare_exchange(word, expected, fresh.word)) return false;
    draft.keep();
    return true;
}

// The one block of a contiguous array is always in the first slot, so that one CAS decides whose it is.
void Store::ensure_in_place(Directory& directory) {
    const std::lock_guard one_thread(directory.mutex());
    const ArrayDefinition& d = directory.definition();
    const std::uint64_t bytes = d.dims.elements() * d.type.size();
    for (Retry retry("a contiguous array");; retry.again()) {
        if (!directory.refresh()) throw Error(Code::not_found, "the array was erased meanwhile");
        if (!directory.blocks().empty() || bytes == 0) return;
        directory.find_empty();  // makes the first segment
        std::uint64_t* slot = directory.slot_word(0);
        std::uint64_t expected = directory.empty_word(0);
        if (const Link there{Medium::load(slot)}; there.word != expected) {
            // Only what discards a damaged block takes it out; behind the page cache its slot is free after a sync.
            if (there.is_record() && there.is_dead())
                throw Error(Code::busy,
                            "the contiguous array has lost its block, which is kept until the next sync()");
            retry.doubt(pool_, there);
            continue;
        }
        const Selection whole = Box::whole(d.order == Order::fortran ? array::reversed(d.dims) : d.dims);
        catalog::Block block{};
        const std::uint64_t length = sizeof block + 16 * static_cast<std::uint64_t>(d.dims.size());
        catalog::Draft draft(heap_, length);
        draft.write_header(RecordKind::block, 0, length, d.incarnation, pool_.offset_of(slot));
        block.extent = heap_.allocate_extent(bytes, draft.offset());
        draft.owns(block.extent);
        block.step = d.step;
        block.raw_bytes = block.stored_bytes = bytes;
        block.written_ns = os::wall_ns();
        block.writer_pid = static_cast<std::uint32_t>(pool_.process_id());
        block.writer_rank = options_.rank;
        block.dimensions = static_cast<std::uint8_t>(d.dims.size());
        block.flags = catalog::block_in_place;
        const catalog::BlockBytes record = catalog::write_block(block, whole);
        draft.write(sizeof(heap::RecordHeader), record.bytes.data(), record.bytes.size());
        const heap::Bytes there = heap_.bytes(block.extent, true);
        const bool alive = os::guarded(there.data, bytes, [&] {
            // No image shows it: what is filled in place is under no promise until it is frozen, and then flushed whole.
            persist::fill_medium(pool_.medium(), there.data, 0, bytes);
        });
        if (!alive)
            throw Error(Code::io_error,
                        "the memory of " + pool_.path() + " failed while an array was being made");
        const Link fresh = draft.seal(pool_.draw_version());
        if (!pool_.medium().compare_exchange(slot, expected, fresh.word)) continue;
        draft.keep();
    }
}

bool Store::is_array(Link definition) const {
    if (!heap::is_plausible(pool_, definition))
        throw Error(Code::corrupt, "a variable's link leads out of the pool; run pmemcpy verify");
    return catalog::follow<catalog::Array>(pool_, definition) != nullptr;
}

std::optional<catalog::Catalog::Named> Store::defined(std::string_view id) const {
    const auto named = catalog_.find_named(id);
    if (!named) return std::nullopt;
    if (const auto seen = read_value_record(named->definition); seen && is_visible(seen->record.step))
        return named;
    if (is_array(named->definition)) {
        const auto directory = directory_of(named->definition);
        return directory && is_visible(directory->definition().step) ? named : std::nullopt;
    }
    return visible_value(*named) ? named : std::nullopt;
}

std::shared_ptr<Directory> Store::directory_of(Link definition) const {
    {
        const std::lock_guard lock(directories_mutex_);
        if (const auto found = directories_.find(definition.word); found != directories_.end()) {
            if (heap::is_current(pool_, definition)) return found->second;
            directories_.erase(found);
            return nullptr;
        }
    }
    auto record = catalog::read_array(pool_, definition);
    if (!record) return nullptr;
    auto directory = std::make_shared<Directory>(pool_, heap_, std::move(*record));
    const std::lock_guard lock(directories_mutex_);
    if (directories_.size() >= most_directories) directories_.clear();
    return directories_.try_emplace(definition.word, std::move(directory)).first->second;
}

std::shared_ptr<Directory> Store::array(std::string_view id) const {
    for (Retry retry(id);; retry.again()) {
        if (const auto named = catalog_.find_named(id)) {
            auto directory = directory_of(named->definition);
            if (directory && is_visible(directory->definition().step)) return directory;
        }
        const auto there = defined(id);
        // What is no array may have been one until just now: then something else has the name, or it is gone.
        if (!there) throw_no_array(id, std::nullopt);
        if (!is_array(there->definition) && defined(id) == there) throw_no_array(id, there->definition);
    }
}

void Store::throw_no_array(std::string_view id, std::optional<Link> definition) const {
    if (!definition) {
        throw Error(Code::not_found,
                    "there is no array '" + std::string(id) + "' in " + pool_.path() + "; alloc it first");
    }
    const auto seen = read_value_record(*definition);
    const bool is_group = catalog::Catalog::is_group(pool_, *definition);
    throw Error(Code::type_mismatch,
                "'" + std::string(id) + "' is " +
                    (is_group ? "a group" : "a value of type " + (seen ? seen->type().name() : "?")) +
                    " and no array");
}

// Of an unlimited array: as long as the furthest block that readers see.
Dimensions Store::dims_now(const Directory& directory) const {
    Dimensions dims = directory.definition().dims;
    if ((directory.definition().flags & catalog::array_unlimited) == 0) return dims;
    dims[0] = 0;
    if (directory.totals(pool_.committed_step(), step_.load()).blocks == directory.blocks().size()) {
        dims[0] = directory.index().greatest_end();
        return dims;
    }
    for (const auto& [handle, block] : directory.blocks()) {
        if (is_visible(block.block.step)) dims[0] = std::max(dims[0], array::end_of(block.box, 0));
    }
    return dims;
}

Dimensions Store::dims(std::string_view id) const {
    check_readable();
    const std::string_view variable = array::variable_of_dims_id(id);
    if (!variable.empty()) id = variable;
    const auto directory = array(id);
    if ((directory->definition().flags & catalog::array_unlimited) == 0) return directory->definition().dims;
    const std::lock_guard one_thread(directory->mutex());
    directory->refresh();
    return dims_now(*directory);
}

}  // namespace pmemcpy::store
