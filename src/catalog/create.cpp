#include "array/id.hpp"
#include "catalog/catalog.hpp"
#include "catalog/retry.hpp"
#include "os/process.hpp"

#include <pmemcpy/error.hpp>

namespace pmemcpy::catalog {

using heap::mark_empty;
using heap::mark_sealed;
using heap::RecordKind;
using persist::Medium;

namespace {

std::uint64_t entry_bytes(std::string_view key, std::span<const std::byte> creator) {
    return sizeof(Entry) + key.size() + (creator.empty() ? 0 : sizeof(CreatedField) + creator.size());
}

}  // namespace

void Catalog::set_origin(const std::optional<Origin>& origin) {
    created_ns_ = origin ? origin->created_ns : 0;
    creator_ = origin ? creator_field(*origin) : std::vector<std::byte>();
}

std::optional<Origin> Catalog::origin_of(Link identity) const {
    heap::RecordCopy copy;
    if (!heap::read_record(pool_, identity, RecordKind::entry, copy)) return {};
    return read_origin({copy.data(), copy.size()});
}

// `creator`: the field of one that is created, and then the time stands before it.
void Catalog::write_entry(Draft& draft, const Key& key, std::uint64_t head_offset, std::uint64_t version,
                          Link alias_of, Link old_name, std::span<const std::byte> creator) {
    const bool is_alias = alias_of.is_record();
    const std::uint64_t incarnation =
        is_alias ? pool_.as<Entry>(alias_of.offset()).header.incarnation : version;
    const std::uint64_t end_of_key = sizeof(Entry) + key.bytes.size();
    draft.write_header(RecordKind::entry, entry_mutable_words, entry_bytes(key.bytes, creator), incarnation,
                       head_offset, creator.empty() ? 0 : end_of_key);
    Entry entry{};
    const Link empty = Link::mark(mark_empty, version);
    entry.attributes = is_alias ? old_name : empty;
    entry.moved = empty;
    entry.hash = key.hash;
    entry.parent = key.parent;
    entry.key_bytes = static_cast<std::uint32_t>(key.bytes.size());
    entry.alias = is_alias ? 1 : 0;
    draft.write(sizeof(RecordHeader), &entry.attributes, sizeof entry - sizeof(RecordHeader));
    draft.write(sizeof(Entry), key.bytes.data(), key.bytes.size());
    if (!creator.empty()) {
        const CreatedField created = created_field(created_ns_ != 0 ? created_ns_ : os::wall_ns());
        draft.write(end_of_key, created.data(), created.size());
        draft.write(end_of_key + created.size(), creator.data(), creator.size());
    }
    const Link word = is_alias ? alias_of : empty;
    draft.write(offsetof(RecordHeader, word), &word, sizeof word);
    draft.seal(version);
}

// Keys stay unique without a lock: whoever loses the CAS looks again before it tries again.
Link Catalog::insert(std::uint64_t* head, const Key& key, Draft& draft, Link owner) {
    const Medium& m = pool_.medium();
    auto& header = draft.as<RecordHeader>();
    const Link link = Link::to(draft.offset(), header.version);
    for (;;) {
        std::uint64_t first = Medium::load(head);
        if (Link{first}.is_mark(mark_sealed) || owner_is_gone(owner)) {
            throw Error(Code::not_found, "the variable was erased while its attribute '" +
                                             std::string(key.bytes) + "' was being set");
        }
        Seen seen;
        if (find_in_chain(head, key, Looking::to_create, seen, owner)) return seen.node;
        m.store(&header.next.word, first);
        m.flush(&header.next, sizeof header.next);
        if (m.compare_exchange(head, first, link.word)) {
            m.flush(head, sizeof *head);
            draft.keep();
            return link;
        }
    }
}

Link Catalog::find_or_insert(std::uint64_t* head, const Key& key, Link owner) {
    for (Retry retry(key.bytes);; retry.again()) {
        Seen seen;
        if (!find_in_chain(head, key, Looking::to_create, seen, owner)) {
            // Attributes come with what they are of, and "/" with the pool, which knows when it was created.
            const bool is_created = !owner.is_record() && key.bytes != "/";
            const std::span<const std::byte> creator = is_created ? creator_ : std::span<const std::byte>();
            Draft draft(heap_, entry_bytes(key.bytes, creator));
            write_entry(draft, key, pool_.offset_of(head), pool_.draw_version(), {}, {}, creator);
            const Link link = Link::to(draft.offset(), draft.as<RecordHeader>().version);
            if (insert(head, key, draft, owner) == link) return link;
            continue;
        }
        if (!seen.pending) return identity_to_use(seen);
        // A rename to this very id is under way, or its process has died: whoever gets the lock knows.
        const auto order = heap_.retiring();
        const pool::Pool::NameLock lock(pool_);
        static_cast<void>(is_taken(head, key));
    }
}

// Under the name lock no process renames: so a name that names nothing yet is what one has left that died, and goes.
bool Catalog::is_taken(std::uint64_t* head, const Key& key) {
    for (Retry retry(key.bytes);; retry.again()) {
        Seen seen;
        if (!find_in_chain(head, key, Looking::to_create, seen)) return false;
        if (!seen.pending) return true;
        take_out(head, seen.node);
        heap_.retire(seen.node);
        retry.doubt(pool_, seen.node);  // in a chain that makes sense it is not met again
    }
}

void Catalog::vouch_for(Link entry) const { pool_.medium().flush(pool_.at(entry.offset()), sizeof(Entry)); }

// What is stored under the name of an alias must not be found under the old one.
Link Catalog::identity_to_use(const Seen& seen) const {
    if (seen.node != seen.identity) vouch_for(seen.identity);
    return seen.identity;
}

Link Catalog::create_attribute(Link owner, std::string_view name) {
    vouch_for(owner);
    const Link attribute = find_or_insert(attributes_word(owner), attribute_key(owner, name), owner);
    if (!definition(owner)) {  // erased meanwhile: whoever cleans up after the variable takes our entry along
        throw Error(Code::not_found,
                    "the variable was erased while its attribute '" + std::string(name) + "' was being set");
    }
    return attribute;
}

// Nobody erases a group with something in it, an entry without value included. That takes no lock here: an eraser
// announces itself before he looks into the group, and whoever inserts looks for erasers afterwards, so that at least one of
// the two sees the other. Who was there at the same time as an eraser asks again under the lock that erasers hold, and
// makes the groups anew when they are gone: they were empty when they went.
Link Catalog::create(std::string_view id) {
    const Key key = key_of(id);
    std::uint64_t* head = bucket(key.hash);
    if (id.find('/') == std::string_view::npos || id == "/") return find_or_insert(head, key);
    for (Retry retry(id);; retry.again()) {
        Seen seen;
        const bool found = find_in_chain(head, key, Looking::to_use, seen);
        if (found && seen.definition.is_live()) return identity_to_use(seen);
        const std::uint64_t erasures = pool_.group_erasures();
        ensure_groups(id);
        const Link entry = found ? seen.identity : find_or_insert(head, key);
        if (erasures % 2 == 0 && persist::still(pool_.group_erasures() == erasures)) return entry;
        try {
            const pool::Pool::GroupLock lock(pool_);
            if (groups_exist(id)) return entry;
        } catch (...) {
            give_up(entry);
            throw;
        }
    }
}

std::optional<Link> Catalog::find_group(std::string_view id) const {
    const Key key = key_of(id);
    Seen seen;
    const bool is_there = find_in_chain(bucket(key.hash), key, Looking::to_use, seen) &&
                          seen.definition.is_live() && is_group(pool_, seen.definition);
    return is_there ? std::optional(seen.identity) : std::nullopt;
}

bool Catalog::groups_exist(std::string_view id) const {
    for (const std::string_view group : array::parents(id)) {
        if (!find_group(group)) return false;
    }
    return true;
}

void Catalog::ensure_groups(std::string_view id) {
    for (const std::string_view group : array::parents(id)) {
        if (const auto there = find_group(group)) {
            vouch_for(*there);
        } else {
            make_group(group);
        }
    }
}

void Catalog::make_group(std::string_view id) {
    for (Retry retry(id);; retry.again()) {
        const Link entry = create(id);
        const auto defined = definition(entry);
        if (defined) {
            if (is_group(pool_, *defined)) return vouch_for(entry);
            if (definition(entry) != defined) continue;  // erased just then
            throw Error(Code::already_exists, "'" + std::string(id) +
                                                  "' is a variable, so it cannot be a group; choose "
                                                  "another id, or erase or rename it first");
        }
        const auto there = current_word(entry);
        if (!there) {  // erased just then: the next look finds another entry
            retry.doubt(pool_, entry);
            continue;
        }
        const Link expected = *there;
        if (!expected.is_mark(mark_empty)) {
            retry.doubt(pool_,
                        expected);  // stored or erased just then, and so another word or entry the next time
            continue;
        }
        try {
            if (define_group(entry, expected)) return;
        } catch (...) {
            give_up(entry);
            throw;
        }
    }
}

// False when another process has been faster.
bool Catalog::define_group(Link entry, Link empty) {
    Draft draft(heap_, sizeof(Value));
    draft.write_header(RecordKind::value, 0, sizeof(Value),
                       pool_.as<Entry>(entry.offset()).header.incarnation,
                       pool_.offset_of(value_word(entry)));
    Value value{};
    value.kind = static_cast<std::uint8_t>(ValueKind::group);
    value.written_ns = os::wall_ns();
    draft.write(sizeof(RecordHeader), &value.extent, sizeof value - sizeof(RecordHeader));
    const Link link = draft.seal(pool_.draw_version());
    const pool::Pool::NamesChange change(pool_);
    if (!pool_.medium().compare_exchange(value_word(entry), empty.word, link.word)) return false;
    // Durable before what is put into the group: each record in it comes after a fence of its own.
    pool_.medium().flush(value_word(entry), 8);
    draft.keep();
    // It may be all that is left, when somebody looks, of what was stored in it.
    pool_.feed().append(entry.offset());
    return true;
}

}  // namespace pmemcpy::catalog
