// Erasing: one CAS flags the entry's word dead, and that is the erase. What follows only gives space back, step
// by step, each of which another process can repeat when this one dies.
// Modelled in tests/model/erase.hpp.

#include "catalog/catalog.hpp"
#include "catalog/follow.hpp"
#include "heap/hops.hpp"

#include <pmemcpy/error.hpp>

#include <atomic>

namespace pmemcpy::catalog {

using heap::mark_empty;
using heap::mark_sealed;
using persist::Medium;

void Catalog::erase(const Named& named, std::string_view id) { erase(named.entry, id, named.name); }
void Catalog::erase(Link entry, std::string_view id) { erase(entry, id, Link{}); }

// `name`: the entry that named it when it was found; none: whatever its name is.
void Catalog::erase(Link entry, std::string_view id, Link name) {
    const std::lock_guard one_verb(verb_mutex_);
    finish_verb(pool_.slot_index());
    const auto defined = definition(entry);
    if (!defined) throw Error(Code::not_found, "there is no '" + std::string(id) + "' to erase");
    const bool erased = is_group(pool_, *defined)
                            ? erase_group(entry, *defined, id)
                            : take_away(entry, [&] { return flag_dead(entry, defined->word, name); });
    heap_.reclaim();
    if (!erased)
        throw Error(Code::not_found,
                    "'" + std::string(id) + "' was erased by another process or thread just now");
}

bool Catalog::erase_only(Link entry, Link definition) {
    const std::lock_guard one_verb(verb_mutex_);
    finish_verb(pool_.slot_index());
    const bool erased = take_away(entry, [&] {
        std::uint64_t expected = definition.word;
        return pool_.medium().compare_exchange(value_word(entry), expected, definition.dead().word);
    });
    heap_.reclaim();
    return erased;
}

// Caller has the verb's mutex, and no verb of this process is unfinished.
bool Catalog::take_away(Link entry, const std::function<bool()>& flag) {
    const Medium& m = pool_.medium();
    pool::Slot& slot = pool_.slot();
    m.store(&slot.intent_a, entry.word);
    m.store(&slot.intent_b, 0);
    m.store(&slot.intent, static_cast<std::uint64_t>(pool::Intent::erase));
    bool flagged = false;
    const pool::Pool::NamesChange change(pool_);
    try {
        flagged = flag();
    } catch (...) {
        m.store(&slot.intent, 0);
        throw;
    }
    if (!flagged) {
        m.store(&slot.intent, 0);
        return false;
    }
    // The erase is acknowledged when this word is durable; recovery believes it (law 1).
    m.persist(value_word(entry), 8);
    try {
        clean_up_erased(entry, slot);
        m.store(&slot.intent, 0);
    } catch (const Error&) {
        // Another is stopped with the lock, or the kernel gives none. It is erased all the same; the intent stays, and the next verb
        // goes on from there.
    }
    return true;
}

// What has no value in it goes first: a verb has failed there and could not take it away, or one is just about to give it a value. That
// one finds it erased, and makes another one and the groups of that. A group in which something is made again and again is in use: else
// eraser and maker could make each other begin anew for ever.
// Modelled in tests/model/group.hpp.
bool Catalog::erase_group(Link entry, Link defined, std::string_view id) {
    constexpr int most_rounds = 2;
    for (int rounds = 0;; ++rounds) {
        std::vector<Link> undefined;
        const bool erased = take_away(entry, [&] {
            const pool::Pool::GroupLock lock(pool_);
            const pool::Pool::GroupErasure announced(pool_);  // to processes that store in it (create.cpp)
            undefined = undefined_children(id);
            return undefined.empty() &&
                   pool_.medium().compare_exchange(value_word(entry), defined.word, defined.dead().word);
        });
        if (undefined.empty()) return erased;
        if (rounds == most_rounds)
            throw Error(Code::busy, "something is being stored in group '" + std::string(id) + "'");
        for (const Link child : undefined) {
            take_away(child, [&] { return flag_undefined(child); });
            finish_verb(pool_.slot_index());
        }
    }
}

// A rename in between has taken the name away; and one that is under way has the lock. An overwrite in between is erased too; but not
// what has come into the place of an entry that is gone.
bool Catalog::flag_dead(Link entry, std::uint64_t expected, Link name) {
    std::optional<pool::Pool::NameLock> lock;
    if (name.is_record()) {
        if (!persist::still(!pool_.is_being_renamed(entry.word))) lock.emplace(pool_);
        const Link alias{Medium::load(&pool_.as<Entry>(entry.offset()).moved.word)};
        if (name == entry ? alias.is_record() : alias != name) return false;
    }
    while (Link{expected}.is_live() && heap::is_still_current_unguarded(pool_, entry)) {
        if (pool_.medium().compare_exchange(value_word(entry), expected, Link{expected}.dead().word))
            return true;
    }
    return false;
}

void Catalog::erase_attribute(Link attribute, std::string_view name) { erase(attribute, name); }

// Others may be at the same, after a death; so everything here can be repeated, and nothing relies on the entry
// still being there.
void Catalog::clean_up_erased(Link entry, pool::Slot& slot) {
    const auto* erased = follow<Entry>(pool_, entry);
    if (erased == nullptr) return;
    const Link defined{Medium::load(&erased->header.word)};
    if (!heap::is_still_current_unguarded(pool_, entry)) return;
    if (defined.is_record()) retire_definition(defined.alive());
    const auto order = heap_.retiring();
    const pool::Pool::NameLock lock(pool_);
    // Read under the lock: somebody may have been renaming it until now.
    if (!heap::is_current_unguarded(pool_, entry)) return;
    Entry e;
    heap::racy_copy(&e, pool_.at(entry.offset()), sizeof e);
    clean_up_attributes(entry, e, slot);
    if (const auto* name = follow<Entry>(pool_, e.moved)) {
        finish_rename(entry, e.moved);
        take_out(bucket(name->hash), e.moved);
        heap_.retire(e.moved);
    }
    if (e.parent == 0) {
        take_out(bucket(e.hash), entry);
    } else if (owner_at_home(e) != nullptr) {
        take_out(home_word(e.header), entry);
    } else if (home_word(e.header) == nullptr) {
        return;  // damaged: it stays where it is, erased
    }
    heap_.retire(entry);
}

// One after the other, first out of the chain and then into the retire list, so that readers never meet a broken
// chain; the seal keeps others from adding more. Caller holds the name lock.
void Catalog::clean_up_attributes(Link entry, const Entry& owner, pool::Slot& slot) {
    const Medium& m = pool_.medium();
    std::uint64_t* head = attributes_word(entry);
    // Whoever died here had taken this one out of the chain, or was about to.
    const Link unfinished{slot.intent_b};
    if (follow<Entry>(pool_, unfinished) != nullptr && !is_in_chain(head, unfinished)) {
        const Link value = kill_attribute(unfinished);
        if (value.is_record()) retire_definition(value);
        heap_.retire(unfinished);
    }
    for (heap::Hops hops; heap::is_current(pool_, entry);) {
        std::uint64_t first = Medium::load(head);
        const Link link{first};
        if (!link.is_record()) {
            if (!link.is_mark(mark_empty)) return;
            if (m.compare_exchange(head, first, Link::mark(mark_sealed, link.tag()).word)) return;
            continue;
        }
        const auto* attribute = follow<Entry>(pool_, link);
        if (attribute == nullptr || attribute->parent != owner.header.incarnation) return;
        const Link value = kill_attribute(link);
        m.store(&slot.intent_b, link.word);
        const std::uint64_t next = Medium::load(&attribute->header.next.word);
        if (!m.compare_exchange(head, first, next)) continue;
        if (!hops.take(link)) return;  // a circle, in a scribbled pool
        if (value.is_record()) retire_definition(value);
        heap_.retire(link);
    }
}

// From here on nobody can set it. Returns the value it had.
Link Catalog::kill_attribute(Link attribute) {
    std::uint64_t word = Medium::load(value_word(attribute));
    for (;;) {
        // A living process that is at the same may have freed the entry: then this is the word of what has come into its place.
        if (!heap::is_still_current(pool_, attribute)) return {};
        if (Link{word}.is_dead() ||
            pool_.medium().compare_exchange(value_word(attribute), word, Link{word}.dead().word))
            break;
    }
    return Link{word}.is_record() ? Link{word}.alive() : Link{};
}

// An entry whose maker died before it had a value. False when somebody else has given it one.
bool Catalog::forget_undefined(Link entry) {
    std::uint64_t word = Medium::load(value_word(entry));
    std::uint64_t* home = home_word(pool_.as<RecordHeader>(entry.offset()));
    if (!Link{word}.alive().is_mark(mark_empty) || home == nullptr) return false;
    if (!Link{word}.is_dead() &&
        !pool_.medium().compare_exchange(value_word(entry), word, Link{word}.dead().word))
        return false;
    const pool::Pool::NameLock lock(pool_);
    take_out(home, entry);
    return true;
}

bool Catalog::flag_undefined(Link entry) {
    if (follow<Entry>(pool_, entry) == nullptr) return false;
    const Link word{Medium::load(value_word(entry))};
    if (!word.is_mark(mark_empty) || !heap::is_still_current_unguarded(pool_, entry)) return false;
    std::uint64_t expected = word.word;
    return pool_.medium().compare_exchange(value_word(entry), expected, word.dead().word);
}

// What cannot go now, because another process is stopped with the lock, stays without a value: a verb that stores under its id uses it,
// an erase of its group takes it away, and so does the process that cleans up after this one.
void Catalog::give_up(Link entry) {
    try {
        const std::lock_guard one_verb(verb_mutex_);
        finish_verb(pool_.slot_index());
        take_away(entry, [&] { return flag_undefined(entry); });
    } catch (const Error&) {
        has_left_undefined_ = true;
    }
}

void Catalog::retire_definition(Link definition) {
    if (!heap::is_current(pool_, definition)) return;
    if (follow<Array>(pool_, definition) != nullptr) return retire_array(definition);
    retire_versions_before(definition);
    heap_.retire(definition);
}

void Catalog::retire_versions_before(Link value) {
    const auto* record = follow<Value>(pool_, value);
    if (record == nullptr) return;
    const Link previous = record->previous;
    if (heap::is_still_current(pool_, value)) heap_.retire_with_older(previous);  // else another has freed it
}

// Seals every slot and the tail, so that a store that comes late fails (law 4), and retires what was there.
void Catalog::retire_array(Link array) {
    std::atomic_thread_fence(std::memory_order_seq_cst);  // pairs with the one of Directory::is_published
    const Medium& m = pool_.medium();
    std::vector<Link> segments;
    std::uint64_t* tail = &pool_.as<Array>(array.offset()).header.word;
    Link owner = array;  // of the tail
    // Others may be at the same, and free it all: then a word that is read here may be of another array. So each is looked at
    // again, behind the reading of it and before the exchange that expects it.
    for (heap::Hops hops;;) {
        std::uint64_t next = Medium::load(tail);
        if (!heap::is_still_current(pool_, owner)) return;
        if (Link{next}.is_mark(mark_empty)) {
            const Link sealed = Link::mark(mark_sealed, Link{next}.tag());
            if (!m.compare_exchange(tail, next, sealed.word)) continue;
            break;
        }
        const Link link = Link{next}.alive();
        auto* segment = follow<Segment>(pool_, link);
        if (segment == nullptr || !hops.take(link)) break;
        segments.push_back(link);
        auto* slots = reinterpret_cast<std::uint64_t*>(segment + 1);
        const std::uint32_t count = slots_of(*segment);
        for (std::uint32_t i = 0; i < count; ++i) {
            std::uint64_t word = Medium::load(&slots[i]);
            for (;;) {
                if (!heap::is_still_current(pool_, link)) return;
                const Link block{word};
                const Link after = block.is_live() ? block.dead() : Link::mark(mark_sealed, block.tag());
                if (block.is_record() ? block.is_dead() : block.is_mark(mark_sealed)) break;
                if (m.compare_exchange(&slots[i], word, after.word)) break;
            }
            if (Link{word}.is_record()) heap_.retire(Link{word}.alive());
        }
        tail = &segment->header.word;
        owner = link;
    }
    // From the end, so that whoever repeats this finds all that is left.
    for (auto link = segments.rbegin(); link != segments.rend(); ++link) heap_.retire(*link);
    heap_.retire(array);
}

// Caller holds the name lock, so nobody else takes anything out; insertions happen at the head.
void Catalog::take_out(std::uint64_t* head, Link node) {
    const Medium& m = pool_.medium();
    for (;;) {
        std::uint64_t* from = head;
        Link link{Medium::load(from)};
        for (heap::Hops hops; link.is_record() && link != node;) {
            if (!heap::is_current(pool_, link)) return;  // a chain that was freed as a whole
            if (!hops.take(link)) return;                // or a circle, in a scribbled pool
            from = &pool_.as<RecordHeader>(link.offset()).next.word;
            link = {Medium::load(from)};
        }
        if (!link.is_record() || !heap::is_current(pool_, node)) return;
        std::uint64_t expected = node.word;
        const std::uint64_t next = Medium::load(&pool_.as<Entry>(node.offset()).header.next.word);
        if (m.compare_exchange(from, expected, next)) {
            m.flush(from, sizeof *from);
            return;
        }
    }
}

// Errors: busy when something in the group has a value.
std::vector<Link> Catalog::undefined_children(std::string_view group) const {
    const std::string prefix = std::string(group) + "/";
    std::vector<Link> all;
    for (std::uint64_t i = 0; i < pool_.super().bucket_count; ++i) {
        if (Medium::load(bucket(i)) == 0) continue;
        walk(bucket(i), [&](Link link, const Entry& entry, const std::string& key) {
            if (key.compare(0, prefix.size(), prefix) != 0 || entry.moved.is_record()) return;
            const Link named = entry.alias != 0 ? Link{entry.header.word} : link;
            const auto* identity = follow<Entry>(pool_, named);
            if (identity == nullptr) return;
            const Link word{Medium::load(&identity->header.word)};
            if (word.is_dead()) return;
            if (!word.is_mark(mark_empty)) {
                throw Error(Code::busy,
                            "group '" + std::string(group) + "' is not empty; erase what is in it first");
            }
            all.push_back(named);
        });
    }
    return all;
}

}  // namespace pmemcpy::catalog
