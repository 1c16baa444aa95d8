// Values: scalars, strings, structs, objects. A value is one record, replaced as a whole by one CAS.
// Modelled in tests/model/publish.hpp.

#include "base/crc32c.hpp"
#include "catalog/retry.hpp"
#include "heap/hops.hpp"
#include "os/guard.hpp"
#include "os/process.hpp"
#include "persist/copy.hpp"
#include "store/pin.hpp"
#include "store/store.hpp"

#include "array/id.hpp"

#include <array>
#include <cstring>
#include <functional>
#include <optional>

namespace pmemcpy::store {

using catalog::Retry;
using catalog::Value;
using heap::mark_empty;
using heap::RecordKind;
using persist::Medium;

namespace {

constexpr std::size_t copied_to_decode_bytes = 4096;

}  // namespace

void Store::store_value(std::string_view id, const Type& type, SerializerType serializer,
                        const Encoder& encoder, bool must_be_new) {
    check_writable();
    array::validate_new_id(id);
    pool::Feed::UnderWay under_way(feed());
    const auto entry_of = [&] {
        const Link entry = catalog_.create(id);
        under_way.of(entry.offset());
        return entry;
    };
    announce(with_space([&] {
        // By reference, which needs no memory.
        return put_value(std::cref(entry_of), id, type, serializer, encoder, must_be_new,
                         is_scratch(id) ? catalog::value_scratch : 0U);
    }));
    name_changed(id);
    heap_.reclaim();
}

Link Store::put_value(const std::function<Link()>& entry_of, std::string_view id, const Type& type,
                      SerializerType serializer, const Encoder& encoder, bool must_be_new,
                      std::uint32_t flags) {
    const std::vector<std::byte> type_bytes = type.encode();
    Value value{};
    const InStep in_step(*this);
    value.step = in_step.step();
    value.bytes = encoder.size_bytes();
    value.written_ns = os::wall_ns();
    value.writer_pid = static_cast<std::uint32_t>(pool_.process_id());
    value.type_bytes = static_cast<std::uint16_t>(type_bytes.size());
    value.serializer = static_cast<std::uint8_t>(serializer);
    value.flags = options_.checksums ? std::uint32_t{catalog::value_has_crc} : 0U;
    value.flags |= flags;
    if (type_bytes.size() > UINT16_MAX) {
        throw Error(Code::invalid_argument,
                    "the description of type " + type.name().substr(0, 80) + "... exceeds 64 KiB");
    }
    const std::uint64_t head = sizeof value + type_bytes.size();
    const bool is_inline =
        value.bytes <= catalog::largest_inline_bytes && head + value.bytes <= heap_.largest_record();
    const std::uint64_t length = head + (is_inline ? value.bytes : 0);
    Link entry = entry_of();
    try {
        // A place whose memory turns out to be gone is held on to while another one is looked for, which is then another.
        std::array<std::optional<catalog::Draft>, places_tried> drafts;
        std::size_t place = 0;
        for (bool filled = false; !filled;) {
            catalog::Draft& draft = drafts[place].emplace(heap_, length);
            draft.write_header(RecordKind::value, 0, length, 0, 0);
            try {
                fill_value(draft, value, type_bytes, is_inline, encoder);
                filled = true;
            } catch (const Error& error) {
                if (error.kind() != Code::io_error || ++place == places_tried) throw;
            }
        }
        for (Retry retry(id); !publish_value(entry, id, *drafts[place], must_be_new); retry.again()) {
            entry = entry_of();
            // Erased, and so another one each time; the word of one that is gone again is no evidence.
            if (const auto word = catalog_.current_word(entry)) retry.doubt(pool_, *word);
        }
        return entry;
    } catch (...) {
        catalog_.give_up(entry);
        throw;
    }
}

void Store::fill_value(catalog::Draft& draft, Value& value, const std::vector<std::byte>& type_bytes,
                       bool is_inline, const Encoder& encoder) {
    const std::uint64_t head = sizeof value + type_bytes.size();
    std::array<std::byte, catalog::largest_inline_bytes> small;
    if (is_inline) {
        const std::span<std::byte> bytes(small.data(), value.bytes);
        encoder.encode(bytes);
        if (options_.checksums) value.crc = base::crc32c(0, bytes.data(), bytes.size());
        draft.write(head, bytes.data(), bytes.size());
    } else {
        value.extent = heap_.allocate_extent(value.bytes, draft.offset());
        draft.owns(value.extent);
        // From here on the draft's record names the extent, so that a scavenger frees both.
        draft.write(offsetof(Value, extent), &value.extent, sizeof value.extent);
        encode_into(value.extent, encoder, value);
    }
    draft.write(sizeof(heap::RecordHeader), &value.extent, sizeof value - sizeof(heap::RecordHeader));
    draft.write(sizeof value, type_bytes.data(), type_bytes.size());
}

void Store::encode_into(const Extent& extent, const Encoder& encoder, Value& value) {
    const heap::Bytes there = heap_.bytes(extent, true);
    std::byte* to = there.data;
    const std::span<const std::byte> bytes = encoder.in_one_piece();
    bool alive = true;
    if (bytes.size() == value.bytes) {
        persist::Characteristic known;
        alive = persist::store(pool_.medium(), there.place(), bytes.data(), bytes.size(),
                               {persist::Element::none, options_.checksums}, known);
        value.crc = known.crc;
    } else {
        // The encoder owns things while it works, so it cannot be left where memory is gone.
        alive = os::can_write(to, value.bytes);
        if (alive) {
            encoder.encode({to, value.bytes});
            pool_.medium().written(to, value.bytes);
            pool_.medium().flush(to, value.bytes);
            if (options_.checksums) value.crc = base::crc32c(0, to, value.bytes);
        }
    }
    if (!alive)
        throw Error(Code::io_error,
                    "the memory of " + pool_.path() + " failed while a value was being stored");
}

// False when the entry was erased meanwhile and another one is needed.
bool Store::publish_value(Link entry, std::string_view id, catalog::Draft& draft, bool must_be_new) {
    const Medium& m = pool_.medium();
    std::uint64_t* word = catalog_.value_word(entry);
    auto& header = draft.as<heap::RecordHeader>();
    auto& value = draft.as<Value>();
    const auto& there = pool_.as<catalog::Entry>(entry.offset());
    const std::uint64_t incarnation = there.header.incarnation;
    const bool is_attribute = there.parent != 0;
    const std::uint64_t home = pool_.offset_of(word);
    m.write(&header.incarnation, &incarnation, sizeof incarnation);
    m.write(&header.home, &home, sizeof home);
    for (Retry retry(id);; retry.again()) {
        const Link old{Medium::load(word)};
        if (old.is_dead() || !heap::is_still_current(pool_, entry)) return false;
        Link previous{};
        bool keeps_old = false;
        std::optional<ValueSeen> seen;
        if (old.is_record()) {
            seen = read_value_record(old);
            if (!seen && is_array(old)) {
                throw Error(
                    Code::already_exists,
                    "'" + std::string(id) + "' is an array; store into a box of it, or erase it first");
            }
            if (!seen) {
                retry.doubt(pool_, old);
                continue;
            }
            if (static_cast<catalog::ValueKind>(seen->record.kind) == catalog::ValueKind::group) {
                throw Error(Code::already_exists,
                            "'" + std::string(id) + "' is a group, so it cannot be a variable");
            }
            if (must_be_new)
                throw Error(Code::already_exists, "there is a '" + std::string(id) + "' already");
            if (value.step != 0) {
                keeps_old = seen->record.step != value.step;
                previous = keeps_old ? old : seen->record.previous;
            }
        } else if (!old.is_mark(mark_empty)) {
            return false;
        }
        const Link replaced = old.is_record() && !keeps_old ? old.dead() : Link{};
        const bool takes_all = replaced.is_record() && value.step == 0 && seen->record.previous.is_record();
        // Once a version is committed nobody needs those before it. A rank may be in the next step already while
        // another one is about to commit this one; then readers still need them.
        const bool retires_older = (takes_all || keeps_old) && is_committed(seen->record.step);
        // Another thread may free them as soon as they are retired: the fence of the sealing below comes before that.
        if (retires_older) pool_.vouch_for_committed_step();
        m.write(&value.previous, &previous, sizeof previous);
        m.write(&header.word, &replaced, sizeof replaced);
        // Drawn after the look at the word, so that it is higher than the version it replaces (law 1).
        const Link fresh = draft.seal(pool_.draw_version());
        if (retires_older) catalog_.retire_versions_before(old);
        // For others a name is new with its first version, and with the first behind one of a step that is not committed.
        const bool is_new_to_others =
            !old.is_record() || (value.step == 0 && !is_committed(seen->record.step));
        std::optional<pool::Pool::NamesChange> change;
        if (is_new_to_others && !is_attribute) change.emplace(pool_);
        if (replaced.is_record()) {
            if (!heap_.replace(word, seen->seen(), fresh, takes_all ? seen->record.previous : Link{}))
                continue;
        } else {
            std::uint64_t expected = old.word;
            if (!m.compare_exchange(word, expected, fresh.word)) continue;
            m.persist(word, sizeof *word);
        }
        draft.keep();
        return true;
    }
}

std::optional<Store::ValueSeen> Store::read_value_record(Link link) const {
    std::optional<ValueSeen> seen(std::in_place);  // the only thing returned, so that it is never copied
    if (!heap::read_record(pool_, link, RecordKind::value, seen->copy) || seen->copy.size() < sizeof(Value)) {
        seen.reset();
        return seen;
    }
    seen->link = link;
    std::memcpy(&seen->record, seen->copy.data(), sizeof seen->record);
    const Value& v = seen->record;
    const std::size_t rest = seen->copy.size() - sizeof v;
    const bool is_inline = v.extent.length == 0;
    if (rest < v.type_bytes || (is_inline && rest - v.type_bytes < v.bytes) ||
        (!is_inline && v.bytes > v.extent.length) || !heap_.is_sane(v.extent)) {
        throw Error(Code::corrupt, "a value's record says more than it holds; run pmemcpy verify");
    }
    return seen;
}

Type Store::ValueSeen::type() const {
    return record.type_bytes > 0 ? Type::decode({copy.data() + sizeof record, record.type_bytes}) : Type();
}

// The newest version that this process may see: its own step's, or the newest committed one.
std::optional<Store::ValueSeen> Store::read_value(Link entry) const {
    for (Retry retry("a variable");; retry.again()) {
        const auto definition = catalog_.definition(entry);
        if (!definition) return std::nullopt;
        Link link = *definition;
        auto seen = read_value_record(link);
        if (!seen && is_array(link)) return std::nullopt;
        heap::Hops hops;
        while (seen && !is_visible(seen->record.step)) {
            if (!seen->record.previous.is_record()) return std::nullopt;
            if (!hops.take(seen->link))
                throw Error(Code::corrupt, "a value's older versions lead to each other");
            link = seen->record.previous;
            seen = read_value_record(link);
        }
        if (seen) return seen;
        retry.doubt(pool_, link);
    }
}

// Most loads are of a value of which there is one version: that takes one look at the catalog and one at the record.
std::optional<Store::ValueSeen> Store::find_value(std::string_view id) const {
    const auto named = catalog_.find_named(id);
    return named ? visible_value(*named) : std::nullopt;
}

std::optional<Store::ValueSeen> Store::visible_value(const catalog::Catalog::Named& named) const {
    auto seen = read_value_record(named.definition);
    if (!seen || !is_visible(seen->record.step)) seen = read_value(named.entry);
    return seen;
}

bool Store::load_raw(std::string_view id, const Type& type, void* value, std::size_t bytes) const {
    check_readable();
    const auto seen = find_value(id);
    if (!seen || seen->record.bytes != bytes || seen->record.extent.length != 0) return false;
    const auto serializer = static_cast<SerializerType>(seen->record.serializer);
    if ((serializer != SerializerType::bp4 && serializer != SerializerType::none) || !(seen->type() == type))
        return false;
    if (type.kind() == Kind::boolean) return false;  // any byte but 0 and 1 in a bool is undefined: decode it
    std::memcpy(value, seen->inline_bytes().data(), bytes);
    return true;
}

void Store::load_value(std::string_view id, const PMEM::Decode& decode) const {
    check_readable();
    if (const std::string_view variable = array::variable_of_dims_id(id); !variable.empty()) {
        const Dimensions d = dims(variable);
        const auto bytes = std::as_bytes(std::span(d.data(), static_cast<std::size_t>(d.size())));
        return decode(Type::sequence(Type::scalar(Kind::uint64)), SerializerType::none, bytes);
    }
    for (Retry retry(id);; retry.again()) {
        const auto seen = find_value(id);
        if (!seen) {
            const auto named = defined(id);
            if (!named)
                throw Error(Code::not_found, "there is no '" + std::string(id) + "' in " + pool_.path());
            if (is_array(named->definition)) {
                throw Error(Code::type_mismatch, "'" + std::string(id) + "' is an array of " +
                                                     array(id)->definition().type.name() +
                                                     "; load it with a box");
            }
            continue;  // stored just now
        }
        if (static_cast<catalog::ValueKind>(seen->record.kind) == catalog::ValueKind::group) {
            throw Error(Code::type_mismatch, "'" + std::string(id) + "' is a group and has no value");
        }
        if (decode_value(id, *seen, decode)) return;
        retry.doubt(pool_, seen->link);
    }
}

// Decoders follow what the bytes say, so the bytes must not change under them: the extent is pinned first. False when the value
// was replaced before that.
bool Store::decode_value(std::string_view id, const ValueSeen& seen, const PMEM::Decode& decode) const {
    const auto serializer = static_cast<SerializerType>(seen.record.serializer);
    if (seen.record.extent.length == 0) {
        decode(seen.type(), serializer, seen.inline_bytes());
        return true;
    }
    const Pin pin(heap_, seen.seen());
    if (!pin) return false;
    const heap::Bytes there = heap_.bytes(seen.record.extent);
    if (there.data == nullptr)
        throw Error(Code::corrupt, "'" + std::string(id) +
                                       "' has lost its payload file; restore it from a copy, or erase it");
    std::span<const std::byte> bytes(there.data, seen.record.bytes);
    const bool checks = options_.verify_loads && (seen.record.flags & catalog::value_has_crc) != 0;
    // A decoder cannot be left where memory is gone, for it owns what it makes. It gets a copy, or, of what is too long to
    // be copied in passing, pages that were there just now.
    std::array<std::byte, copied_to_decode_bytes> copy;
    std::uint32_t crc = seen.record.crc;
    bool alive = true;
    if (bytes.size() <= copied_to_decode_bytes) {
        alive = os::guarded(bytes.data(), bytes.size(),
                            [&] { std::memcpy(copy.data(), bytes.data(), bytes.size()); });
        bytes = std::span(copy).first(bytes.size());
    } else {
        alive = os::can_read(bytes.data(), bytes.size());
    }
    if (alive && checks)
        alive = os::guarded(bytes.data(), bytes.size(),
                            [&] { crc = base::crc32c(0, bytes.data(), bytes.size()); });
    if (!alive) {
        throw Error(Code::io_error,
                    "the memory of '" + std::string(id) +
                        "' is damaged (SIGBUS); store it again, or make a new pool of the rest with "
                        "pmemcpy repair");
    }
    if (crc != seen.record.crc) {
        throw Error(Code::corrupt, "the checksum of '" + std::string(id) +
                                       "' does not hold: its medium or some process has damaged it");
    }
    decode(seen.type(), serializer, bytes);
    return true;
}

Pinned Store::view_value(std::string_view id) const {
    check_readable();
    for (Retry retry(id);; retry.again()) {
        const auto seen = find_value(id);
        if (!seen)
            throw Error(Code::not_found, "there is no value '" + std::string(id) + "' in " + pool_.path());
        if (seen->record.extent.length == 0) {  // so small that a copy is the view
            const auto bytes = seen->inline_bytes();
            auto copy = std::make_shared<std::vector<std::byte>>(bytes.begin(), bytes.end());
            std::byte* data = copy->data();
            return {std::move(copy), data, bytes.size()};
        }
        auto pin =
            std::make_shared<HeldPin>(const_cast<Store*>(this)->shared_from_this(), heap_, seen->seen());
        if (!pin->holds()) {
            retry.doubt(pool_, seen->link);
            continue;
        }
        pin->bytes = heap_.bytes(seen->record.extent);
        if (pin->bytes.data == nullptr)
            throw Error(Code::corrupt, "'" + std::string(id) + "' has lost its payload file");
        std::byte* data = pin->bytes.data;
        return {std::move(pin), data, seen->record.bytes};
    }
}

}  // namespace pmemcpy::store
