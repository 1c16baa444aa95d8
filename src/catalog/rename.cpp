// Renaming: an alias entry with the new id is put into its chain, still meaning nothing; one CAS on the
// identity's `moved` word takes the old name away and gives the new one at once. Blocks, attributes and oids
// belong to the identity and never move.

#include "array/id.hpp"
#include "catalog/catalog.hpp"
#include "catalog/follow.hpp"

#include <pmemcpy/error.hpp>

namespace pmemcpy::catalog {

using persist::Medium;

// An entry without a value that has the new name goes first, as before the erase of a group: a verb is about to store under that name, which
// then finds the renamed variable, or has died. A name under which something is stored again and again is in use.
void Catalog::rename(std::string_view from, std::string_view to, pool::Feed::UnderWay& under_way) {
    constexpr int most_rounds = 2;
    ensure_groups(to);
    const std::lock_guard one_verb(verb_mutex_);
    finish_verb(pool_.slot_index());
    for (int rounds = 0;; ++rounds) {
        const auto undefined = try_rename(from, to, under_way);
        heap_.reclaim();
        if (!undefined) return;
        if (rounds == most_rounds)
            throw Error(Code::busy, "'" + std::string(to) + "' is being stored by another process");
        take_away(*undefined, [&] { return flag_undefined(*undefined); });
        finish_verb(pool_.slot_index());
    }
}

// Returns the entry without a value that has the new name, if there is one; nothing has changed then.
std::optional<Link> Catalog::try_rename(std::string_view from, std::string_view to,
                                        pool::Feed::UnderWay& under_way) {
    const Medium& m = pool_.medium();
    const Key key = key_of(to);
    std::uint64_t* head = bucket(key.hash);
    const auto identity = find(from);
    const auto defined = identity ? definition(*identity) : std::nullopt;
    if (!defined) throw Error(Code::not_found, "there is no '" + std::string(from) + "' to rename");
    if (is_group(pool_, *defined)) {
        throw Error(Code::unsupported,
                    "'" + std::string(from) + "' is a group: rename the variables in it one by one");
    }
    auto& entry = pool_.as<Entry>(identity->offset());
    Draft draft(heap_, sizeof(Entry) + to.size());
    pool::Slot& slot = pool_.slot();
    // Nobody erases the groups that it is to be in.
    std::optional<pool::Pool::GroupLock> groups;
    if (to.find('/') != std::string_view::npos) groups.emplace(pool_);
    const auto order = heap_.retiring();
    const pool::Pool::NameLock lock(pool_);
    if (!groups_exist(to))
        throw Error(Code::busy, "a group of '" + std::string(to) + "' was erased meanwhile; try again");
    // Looked at again: what was found may have been renamed, or erased and its place be another's by now. Under the lock it stays.
    if (find(from) != identity || !definition(*identity))
        throw Error(Code::not_found,
                    "'" + std::string(from) + "' was renamed or erased while it was being renamed");
    std::uint64_t old_name = Medium::load(&entry.moved.word);
    under_way.of(identity->offset());
    finish_rename(*identity, Link{old_name});
    vouch_for(*identity);
    write_entry(draft, key, pool_.offset_of(head), pool_.draw_version(), *identity, Link{old_name});
    const Link alias = Link::to(draft.offset(), draft.as<RecordHeader>().version);
    m.store(&slot.intent_a, identity->word);
    m.store(&slot.intent_b, alias.word);
    m.store(&slot.intent, static_cast<std::uint64_t>(pool::Intent::rename));
    if (is_taken(head, key) || insert(head, key, draft) != alias) {
        m.store(&slot.intent, 0);
        Seen seen;
        if (find_in_chain(head, key, Looking::to_create, seen) && !definition(seen.identity))
            return seen.identity;
        throw Error(Code::already_exists, "'" + std::string(to) + "' exists already; erase it first");
    }
    const pool::Pool::NamesChange change(pool_);
    const pool::Pool::Renaming announced(pool_, identity->word);
    const bool is_being_erased = !persist::still(!announced.is_being_erased());
    const bool renamed = !is_being_erased && !Link{Medium::load(&entry.header.word)}.is_dead() &&
                         m.compare_exchange(&entry.moved.word, old_name, alias.word);
    if (renamed) m.persist(&entry.moved.word, 8);
    finish_rename(*identity, alias);
    m.store(&slot.intent, 0);
    if (is_being_erased)
        throw Error(Code::busy, "'" + std::string(from) + "' is being erased by another process");
    if (!renamed)
        throw Error(Code::not_found, "'" + std::string(from) + "' was erased while it was being renamed");
    return std::nullopt;
}

// Takes the name that lost out of its chain: the old one, or the new one when the rename did not happen. Also before the
// variable is renamed again or goes: whoever died here leaves a name that only the one after it leads to.
// Caller holds the name lock.
void Catalog::finish_rename(Link identity, Link alias) {
    const auto* new_name = follow<Entry>(pool_, alias);
    if (new_name == nullptr) return;
    const auto* renamed = follow<Entry>(pool_, identity);
    if (renamed == nullptr || Medium::load(&renamed->moved.word) != alias.word) {
        take_out(bucket(new_name->hash), alias);
        heap_.retire(alias);
        return;
    }
    const Link old_link = new_name->attributes;
    if (old_link.is_record()) {
        const auto* old_name = follow<Entry>(pool_, old_link);
        // Gone long since, as a rule; and what has come into its place may, once in 2^23 times, carry its tag.
        if (old_name == nullptr || old_name->alias == 0 ||
            Medium::load(&old_name->header.word) != identity.word)
            return;
        take_out(bucket(old_name->hash), old_link);
        heap_.retire(old_link);
    } else {
        take_out(bucket(renamed->hash), identity);
    }
}

}  // namespace pmemcpy::catalog
