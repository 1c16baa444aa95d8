#include "pmem/move.hpp"

#include "array/id.hpp"
#include "copy/draft.hpp"
#include "index/index.hpp"
#include "operate/hints.hpp"

#include <pmemcpy/error.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <iterator>
#include <sstream>
#include <vector>

namespace pmemcpy::pmem {
namespace {

const std::string draft_prefix = ".moving-";
constexpr int most_rounds = 16;  // in each of which others have stored something into the group that is moved

void erase_if_there(store::Store& side, const std::string& id) {
    try {
        side.erase(id);
    } catch (const Error& error) {
        if (error.kind() != Code::not_found) throw;
    }
}

/// A group and those in it, the innermost first.
std::vector<std::string> groups_of(const store::Store& side, const std::string& group) {
    std::vector<std::string> all = side.ids(group + "/", true);
    std::reverse(all.begin(), all.end());
    if (side.is_group(group) == true) all.push_back(group);
    return all;
}

// By what it is and not by its name, which may be another's by now.
void erase_if_empty(store::Store& side, const std::string& group) {
    try {
        const Oid there = side.oid(group);
        if (side.is_group(group) == true) static_cast<void>(side.erase_if(group, there));
    } catch (const Error& error) {
        if (error.kind() != Code::busy && error.kind() != Code::not_found) throw;
    }
}

/// Empty groups go; others stay.
void erase_groups(store::Store& side, const std::string& group) {
    for (const std::string& id : groups_of(side, group)) erase_if_empty(side, id);
}

void sync(store::Store& side) {
    if (side.durability() == Durability::page) side.sync();
}

void wipe(store::Store& shared) {
    index::begin_anew(shared);
    if (shared.is_wiped()) return;
    throw Error(Code::busy,
                shared.path() +
                    ": it is private now, but its old bytes are still kept, by a view or by another "
                    "process until that syncs; the same call again, later, wipes them");
}

constexpr std::string_view verbs[] = {"take", "give", "take-group"};

bool has_variable(const store::Store& side, const std::string& id) { return side.is_group(id) == false; }

[[noreturn]] void throw_changed(const std::string& id) {
    throw Error(Code::busy, "'" + id + "' was erased or replaced meanwhile; try again");
}

std::string pool_of(const store::Store& shared) {
    const auto halves = std::bit_cast<std::array<std::uint64_t, 2>>(shared.uuid());
    return std::to_string(halves[0]) + "-" + std::to_string(halves[1]);
}

}  // namespace

// "VERB POOL PLACE INCARNATION DRAFT ID", of which only the id may have blanks in it.
void Moving::note_in(store::Store& own, const store::Store& shared) const {
    own.set_note("/", moving_note,
                 std::string(verbs[static_cast<int>(verb)]) + " " + pool_of(shared) + " " +
                     std::to_string(there.place) + " " + std::to_string(there.incarnation) + " " +
                     (draft.empty() ? "-" : draft) + " " + id);
}

std::optional<Moving> Moving::noted_in(const store::Store& own, const store::Store& shared) {
    std::istringstream text(own.note("/", moving_note).value_or(""));
    std::string verb, uuid;
    Moving moving;
    text >> verb >> uuid >> moving.there.place >> moving.there.incarnation >> moving.draft;
    text.ignore(1);
    std::getline(text, moving.id, '\0');
    const auto known = std::find(std::begin(verbs), std::end(verbs), verb);
    if (moving.id.empty() || known == std::end(verbs) || uuid != pool_of(shared)) return std::nullopt;
    moving.verb = static_cast<Verb>(known - std::begin(verbs));
    return moving;
}

Move::Move(Sides& sides, Scope to)
    : sides_(sides),
      one_thread_(sides.moving()),
      shared_(sides.shared()),
      own_((static_cast<void>(sides.make_own()), sides.own_store())),
      one_process_(own_->hold_scopes()),
      to_(to),
      shared_pool_(sides.alone(*shared_, Mode::update)),
      own_pool_(sides.alone(*own_, Mode::update)) {
    if (!one_process_)
        throw Error(Code::busy,
                    "another process of yours moves something between what is private and what is "
                    "shared; try again when it has finished");
    if (own_->note("/", moving_note)) resume();
}

// A second look, under the lock: another process of this user may have moved the variable since the caller looked. What another user has
// stored under its name by then stays.
void Move::variable(const std::string& id) {
    const auto& side = sides_.of(id);
    if (!has_variable(*side, id)) throw_changed(id);
    if (side == (to_ == Scope::own ? own_ : shared_)) return;
    if (to_ == Scope::shared) {
        keep_way_to(id);
        return give(id);
    }
    const Oid there = shared_->oid(id);
    note({Moving::Verb::take, id, there});
    take(id, there);
    erase_way_to(id);
}

void Move::group(const std::string& id) {
    if (sides_.of(id)->is_group(id) != true) throw_changed(id);
    to_ == Scope::own ? take_group(id) : give_group(id);
}

// Before anything is where it should not stay, and durably: whoever opens the pool next has to know.
void Move::note(const Moving& moving) {
    moving.note_in(*own_, *shared_);
    sync(*own_);
    shared_->announce_scopes();
}

// From shared to private.
void Move::take(const std::string& id, const Oid& there) {
    const std::string draft = copy::name_of_ones_own(own_pool_, draft_prefix);
    Sides::store_of(own_pool_).create_as(id, *shared_);
    try {
        copy::fill(shared_pool_, id, own_pool_, draft, [](std::uint64_t) {});
        operate::carry_hint(*shared_, id, *own_, draft);
        own_->rename(draft, id);
    } catch (...) {
        erase_if_there(*own_, draft);
        throw;
    }
    sync(*own_);
    shared_->announce_scopes();
    shared_->erase_this(there);
}

// From private to shared. Erasing the private one is what does it.
void Move::give(const std::string& id) {
    const std::string draft = copy::name_of_ones_own(shared_pool_, draft_prefix);
    Moving moving{Moving::Verb::give, id, {}, draft};
    note(moving);
    Sides::store_of(shared_pool_).create_as(id, *own_);
    try {
        copy::fill(own_pool_, id, shared_pool_, draft, [](std::uint64_t) {});
        moving.there = shared_->oid(draft);
        note(moving);  // before it has the name by which others find it
        operate::carry_hint(*own_, id, *shared_, draft);
        shared_->rename(draft, id);
    } catch (...) {
        erase_if_there(*shared_, draft);
        throw;
    }
    sync(*shared_);
    own_->erase(id);
    shared_->announce_scopes();
}

// A shared object has the groups around it in the shared pool; those that were private stay so.
void Move::keep_way_to(const std::string& id) {
    for (const std::string_view group : array::parents(id)) {
        if (own_->exists(group) && !shared_->exists(group) && !own_->note(group, scope_note))
            own_->set_note(group, scope_note, name_of(Scope::own));
    }
}

// Private groups are in the shared pool only as long as they lead to something shared.
void Move::erase_way_to(const std::string& id) {
    const std::vector<std::string_view> groups = array::parents(id);
    for (auto group = groups.rbegin(); group != groups.rend(); ++group) {
        if (sides_.of(*group) == own_) erase_if_empty(*shared_, std::string(*group));
    }
}

// For a group with all groups in it. Only a shared group in a private one has to be said to be shared.
void Move::say_scope(const std::string& id, std::optional<Scope> scope) {
    if (scope) {
        Sides::store_of(own_pool_).create_as(id, *shared_);
        own_pool_.make_group(id);
        own_->set_note(id, scope_note, name_of(*scope));
    }
    for (const std::string& group : groups_of(*own_, id)) {
        if (!scope || group != id) own_->remove_note(group, scope_note);
    }
}

// A group of both sides has the attributes that the private one has.
void Move::copy_groups(const std::string& id, const PMEM& from, PMEM& to) {
    std::vector<std::string> groups = from.groups(id + "/");
    if (from.exists(id)) groups.insert(groups.begin(), id);
    for (const std::string& group : groups) {
        Sides::store_of(to).create_as(group, Sides::store_of(from));
        to.make_group(group);
        copy::fill_attributes(from, group, to, group, &from == &own_pool_);
    }
}

// A member that is private already is another user's on the shared side, and stays. One that a death left on both sides has its oid in the
// note, by which resume() has erased it. Whether nothing but those is left.
bool Move::take_members(const std::string& id) {
    bool has_others = false;
    for (const std::string& variable : shared_->ids(id + "/", false)) {
        if (own_->exists(variable)) {
            has_others = true;
            continue;
        }
        try {
            const Oid there = shared_->oid(variable);
            note({Moving::Verb::take_group, id, there});
            take(variable, there);
        } catch (const Error& error) {
            if (error.kind() != Code::not_found || shared_->exists(variable)) throw;  // another has erased it
        }
    }
    const std::vector<std::string> left = shared_->ids(id + "/", false);
    return has_others && std::all_of(left.begin(), left.end(),
                                     [&](const std::string& variable) { return own_->exists(variable); });
}

void Move::take_group(const std::string& id) {
    note({Moving::Verb::take_group, id});
    say_scope(id, Scope::own);
    shared_->announce_scopes();
    // What others of this user were about to store when they had not heard of it yet comes with the next round.
    for (int round = 0; round < most_rounds; ++round) {
        copy_groups(id, shared_pool_, own_pool_);
        const bool are_all_taken = take_members(id);
        sync(*own_);  // also the groups' attributes, where there is no member that would have done it
        erase_groups(*shared_, id);
        if (are_all_taken || !shared_->exists(id)) return erase_way_to(id);
    }
    throw Error(Code::busy, "others keep storing into '" + id +
                                "'; what was there is private, and the same call "
                                "takes the rest when they have stopped");
}

void Move::give_group(const std::string& id) {
    keep_way_to(id);
    const auto said =
        sides_.scope_around(id) == Scope::own ? std::optional(Scope::shared) : std::optional<Scope>();
    say_scope(id, said);
    shared_->announce_scopes();
    copy_groups(id, own_pool_, shared_pool_);
    for (const std::string& variable : own_->ids(id + "/", false)) give(variable);
    sync(*shared_);
    if (said) {
        empty_group(id);
    } else {
        erase_groups(*own_, id);
    }
    shared_->announce_scopes();
}

// The group itself stays, with the note by which this user's processes know at every moment that it is shared.
void Move::empty_group(const std::string& id) {
    for (const std::string& group : groups_of(*own_, id)) {
        if (group != id) erase_if_empty(*own_, group);
    }
    for (const std::string& name : own_pool_.attributes(id)) own_pool_.remove_attribute(id, name);
}

void Move::finish() {
    if (to_ == Scope::own) wipe(*shared_);
    own_->remove_note("/", moving_note);
}

void Move::erase_if_copied(const Oid& there) {
    try {
        if (has_variable(*own_, shared_->name_of(there))) shared_->erase_this(there);
    } catch (const Error& error) {
        if (error.kind() != Code::not_found) throw;
    }
}

// From what a process has left that died: what is private is not shared any more, and of a group that was to be private nothing.
void Move::resume() {
    shared_->start_wiping();
    for (const std::string& draft : own_->ids(draft_prefix, false)) erase_if_there(*own_, draft);
    if (const auto left = Moving::noted_in(*own_, *shared_)) {
        if (left->verb == Moving::Verb::take_group) {
            erase_if_copied(left->there);
            // Else nothing of it was taken yet, and this user has something else of its name since.
            if (!has_variable(*own_, left->id)) take_group(left->id);
        } else {
            if (left->verb == Moving::Verb::give) erase_if_there(*shared_, left->draft);
            if (has_variable(*own_, left->id)) shared_->erase_this(left->there);
        }
    }
    wipe(*shared_);
    own_->remove_note("/", moving_note);
}

void finish_moves(Sides& sides) {
    const auto own = sides.own_store();
    if (!own || own->read_only() || !own->note("/", moving_note)) return;
    try {
        const Move move(sides, Scope::shared);
    } catch (const Error& error) {
        // Somebody lives who is at it, or keeps something: the next goes on.
        if (error.kind() != Code::busy) throw;
    }
}

}  // namespace pmemcpy::pmem
