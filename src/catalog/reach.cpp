// What a dead process left: finishing its verbs, and telling which of its records are part of the catalog. Each
// record knows its home, the word that publishes it; so nothing has to be searched.

#include "catalog/catalog.hpp"
#include "catalog/follow.hpp"
#include "heap/hops.hpp"

namespace pmemcpy::catalog {

using heap::RecordKind;
using persist::Medium;

Extent Catalog::extent_of(const heap::RecordHeader& header) {
    switch (static_cast<RecordKind>(header.kind)) {
        case RecordKind::value:
            return header.length < sizeof(Value) ? Extent{} : reinterpret_cast<const Value&>(header).extent;
        case RecordKind::block:
            return header.length < sizeof(Block) ? Extent{} : reinterpret_cast<const Block&>(header).extent;
        default:
            return {};
    }
}

std::optional<Link> Catalog::older_of(const heap::RecordHeader& header) {
    if (static_cast<RecordKind>(header.kind) != RecordKind::value || header.length < sizeof(Value))
        return std::nullopt;
    return Link{Medium::load(&reinterpret_cast<const Value&>(header).previous.word)};
}

std::uint64_t Catalog::used_bytes_of(const heap::RecordHeader& header) {
    switch (static_cast<RecordKind>(header.kind)) {
        case RecordKind::value:
            return header.length < sizeof(Value) ? 0 : reinterpret_cast<const Value&>(header).bytes;
        case RecordKind::block:
            return header.length < sizeof(Block) ? 0 : reinterpret_cast<const Block&>(header).stored_bytes;
        default:
            return 0;
    }
}

// A record's home is derived and covered by no checksum; so it is looked at before it is believed.
std::uint64_t* Catalog::home_word(const RecordHeader& header) const {
    const std::uint64_t table = pool_.super().bucket_offset;
    const bool is_bucket = header.home >= table && header.home - table < 8 * pool_.super().bucket_count;
    if (header.home % 8 != 0 || (!is_bucket && !pool_.contains(header.home, 8))) return nullptr;
    return &pool_.as<std::uint64_t>(header.home);
}

const Entry* Catalog::owner_at_home(const Entry& attribute) const {
    const std::uint64_t offset = attribute.header.home - offsetof(Entry, attributes);
    if (offset % 64 != 0 || !pool_.contains(offset, sizeof(Entry))) return nullptr;
    const auto& owner = pool_.as<Entry>(offset);
    const bool is_its =
        owner.header.magic == heap::record_magic && owner.header.incarnation == attribute.parent;
    return is_its ? &owner : nullptr;
}

// Others rename and erase meanwhile. What is in use is theirs to take out of its chain and to retire; but that something
// is not, or not any more, only the lock tells under which they do both.
bool Catalog::is_entry_reachable(Link record) {
    if (!is_entry_in_use(record)) {
        const pool::Pool::NameLock lock(pool_);
        if (!is_entry_in_use(record)) {
            const auto* entry = follow<Entry>(pool_, record);
            if (entry != nullptr && entry->alias != 0) take_out(bucket(entry->hash), record);
            return false;
        }
    }
    const auto* entry = follow<Entry>(pool_, record);
    const Entry* owner = entry != nullptr && entry->parent != 0 ? owner_at_home(*entry) : nullptr;
    // Whoever erases the owner takes the whole chain along.
    if (owner != nullptr && Link{Medium::load(&owner->header.word)}.is_dead()) return true;
    return !forget_undefined(record);
}

bool Catalog::is_entry_in_use(Link record) const {
    const auto* entry = follow<Entry>(pool_, record);
    if (entry == nullptr) return false;
    if (entry->alias != 0) {
        const auto* identity = follow<Entry>(pool_, Link{entry->header.word});
        return identity != nullptr && Medium::load(&identity->moved.word) == record.word;
    }
    if (const Link moved{Medium::load(&entry->moved.word)}; moved.is_record())
        return heap::is_current(pool_, moved);
    const std::uint64_t* home = home_word(entry->header);
    return home != nullptr && (entry->parent == 0 || owner_at_home(*entry) != nullptr) &&
           is_in_chain(home, record);
}

bool Catalog::is_reachable(Link record) {
    if (!heap::is_current(pool_, record)) return false;
    const auto& header = pool_.as<RecordHeader>(record.offset());
    const auto kind = static_cast<RecordKind>(header.kind);
    const std::uint64_t* home = home_word(header);
    if (home == nullptr) return false;
    const Link published{Medium::load(home)};
    switch (kind) {
        case RecordKind::entry:
            return is_entry_reachable(record);
        case RecordKind::value:
            for (Link newest = published;; newest = {Medium::load(home)}) {
                if (newest.alive() == record || is_previous(newest.alive(), record)) return true;
                // Others store, and drop abandoned steps, meanwhile; so only what was published all along tells.
                if (Medium::load(home) == newest.word) return false;
            }
        case RecordKind::array:
        case RecordKind::segment:
            return published.alive() == record;
        case RecordKind::block:
            return published == record;
        case RecordKind::none:
            return false;
    }
    return false;
}

// Whether `record` is one of the older versions that steps keep behind `newer`.
bool Catalog::is_previous(Link newer, Link record) const {
    for (heap::Hops hops; hops.take(newer);) {
        const auto* value = follow<Value>(pool_, newer);
        if (value == nullptr) return false;
        if (value->previous == record) return true;
        newer = value->previous;
    }
    return false;
}

bool Catalog::scavenge(std::uint64_t slot) {
    heap_.finish_step(slot, *this);
    finish_verb(slot);
    return heap_.scavenge(slot, *this);
}

// A dead process's verb, or this one's own that the kernel did not let it finish.
void Catalog::finish_verb(std::uint64_t slot_index) {
    pool::Slot& slot = pool_.runtime().slot(slot_index);
    if (Medium::load(&slot.intent) == 0) return;
    const heap::Heap::InName in_its_name(heap_, slot_index);
    const Link entry{slot.intent_a};
    switch (static_cast<pool::Intent>(Medium::load(&slot.intent))) {
        case pool::Intent::erase:
            if (auto* erased = follow<Entry>(pool_, entry);
                erased != nullptr && Link{Medium::load(&erased->header.word)}.is_dead()) {
                // Killed before this was durable: a power loss must not bring it back without what is freed now.
                pool_.medium().persist(&erased->header.word, 8);
                clean_up_erased(entry, slot);
            }
            break;
        case pool::Intent::rename: {
            const pool::Pool::NameLock lock(pool_);
            // Killed before this was durable: the old name must not be all that a power loss leaves of it. No fence is needed before the
            // old name is freed: where that one is gone and this word is not durable, recovery elects the new name, which is.
            if (const auto* renamed = follow<Entry>(pool_, entry); renamed != nullptr) vouch_for(entry);
            finish_rename(entry, Link{slot.intent_b});
            break;
        }
        default:
            break;
    }
    pool_.medium().store(&slot.intent, 0);
}

bool Catalog::leave() {
    bool is_finished = true;
    try {
        finish_verb(pool_.slot_index());
    } catch (const Error&) {
        is_finished = false;  // another is stopped with the lock: as after a death, somebody goes on with it
    }
    // The process that goes on with it looks at all that lies in the slabs, also for what got no value.
    if (has_left_undefined_) return heap_.reclaim(heap::Heap::Effort::thorough), false;
    heap_.release_slabs();
    return heap_.reclaim(heap::Heap::Effort::thorough) && is_finished;
}

}  // namespace pmemcpy::catalog
