#include "pmem/move.hpp"

#include "copy/draft.hpp"
#include "index/index.hpp"

#include <pmemcpy/copy.hpp>
#include <pmemcpy/error.hpp>

#include <algorithm>
#include <random>
#include <vector>

namespace pmemcpy::pmem {
namespace {

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
    if (side.exists(group)) all.push_back(group);
    return all;
}

/// Empty groups go; others stay.
void erase_groups(store::Store& side, const std::string& group) {
    for (const std::string& id : groups_of(side, group)) {
        try {
            erase_if_there(side, id);
        } catch (const Error& error) {
            if (error.kind() != Code::busy) throw;
        }
    }
}

void wipe(store::Store& shared) {
    index::remove_files(shared);
    if (shared.is_wiped()) return;
    throw Error(Code::busy,
                shared.path() +
                    ": it is private now, but its old bytes are still kept, by a view or by another "
                    "process until that syncs; the same call again, later, wipes them");
}

}  // namespace

Move::Move(Sides& sides, bool makes_private)
    : sides_(sides),
      one_thread_(sides.moving()),
      shared_(sides.shared()),
      own_((static_cast<void>(sides.make_own()), sides.own_store())),
      one_process_(own_->hold_scopes()),
      makes_private_(makes_private) {
    if (sides.in_step())
        throw Error(Code::unsupported,
                    "in a step nothing becomes private or shared: it would be seen at once; "
                    "do it after commit");
    if (!one_process_)
        throw Error(Code::busy,
                    "another process of yours moves something between what is private and what is "
                    "shared; try again when it has finished");
    if (makes_private) shared_->start_wiping();
    shared_pool_.emplace(sides.shared_alone());
    own_pool_.emplace(sides.own_alone());
}

std::string Move::draft_in(const store::Store& target) const {
    std::random_device random;
    for (;;) {
        std::string name = ".moving-" + std::to_string(std::uint64_t{random()} << 32 | random());
        if (!target.exists(name)) return name;
    }
}

void Move::variable(const std::string& id) { makes_private_ ? take(id) : give(id); }
void Move::group(const std::string& id) { makes_private_ ? take_group(id) : give_group(id); }

// From shared to private.
void Move::take(const std::string& id) {
    own_->set_note("/", moving_note, "");
    shared_->announce_scopes();
    if (!own_->exists(id)) {
        const std::string draft = draft_in(*own_);
        try {
            copy::fill(*shared_pool_, id, *own_pool_, draft, [](std::uint64_t) {});
            own_->rename(draft, id);
        } catch (...) {
            erase_if_there(*own_, draft);
            throw;
        }
        shared_->announce_scopes();
    }
    erase_if_there(*shared_, id);
}

// From private to shared. Erasing the private one is what does it.
void Move::give(const std::string& id) {
    erase_if_there(*shared_, id);
    const std::string draft = draft_in(*shared_);
    own_->set_note("/", moving_note, draft);
    try {
        copy::fill(*own_pool_, id, *shared_pool_, draft, [](std::uint64_t) {});
        shared_->rename(draft, id);
    } catch (...) {
        erase_if_there(*shared_, draft);
        throw;
    }
    if (shared_->durability() == Durability::page) shared_->sync();
    own_->erase(id);
    shared_->announce_scopes();
}

void Move::copy_groups(const std::string& id, const PMEM& from, PMEM& to) {
    std::vector<std::string> groups = from.groups(id + "/");
    if (from.exists(id)) groups.insert(groups.begin(), id);
    for (const std::string& group : groups) {
        to.make_group(group);
        copy_attributes(from, group, to, group, false);
    }
}

void Move::take_group(const std::string& id) {
    own_->set_note("/", moving_note, "");
    own_->make_group(id);
    own_->set_note(id, private_note, "private");
    shared_->announce_scopes();
    // What others of this user were about to store when they had not heard of it yet comes with the next round.
    for (int round = 0; round < most_rounds; ++round) {
        copy_groups(id, *shared_pool_, *own_pool_);
        for (const std::string& variable : shared_->ids(id + "/", false)) take(variable);
        erase_groups(*shared_, id);
        if (!shared_->exists(id)) return;
    }
    throw Error(Code::busy, "others keep storing into '" + id +
                                "'; what was there is private, and the same call "
                                "takes the rest when they have stopped");
}

void Move::give_group(const std::string& id) {
    for (const std::string& group : groups_of(*own_, id)) own_->remove_note(group, private_note);
    shared_->announce_scopes();
    copy_groups(id, *own_pool_, *shared_pool_);
    for (const std::string& variable : own_->ids(id + "/", false)) give(variable);
    erase_groups(*own_, id);
    shared_->announce_scopes();
}

void Move::finish() {
    if (makes_private_) wipe(*shared_);
    own_->remove_note("/", moving_note);
}

void finish_moves(Sides& sides) {
    const auto own = sides.own_store();
    if (!own || own->read_only() || !own->note("/", moving_note)) return;
    const std::lock_guard one_thread(sides.moving());
    const pool::Pool::ScopeLock one_process = own->hold_scopes();
    const auto note = own->note("/", moving_note);
    if (!one_process || !note) return;  // somebody lives who is at it
    store::Store& shared = *sides.shared();
    if (!note->empty()) erase_if_there(shared, *note);
    for (const std::string& id : own->ids("", false)) erase_if_there(shared, id);
    for (const std::string& group : own->ids("", true)) {
        if (own->note(group, private_note)) erase_groups(shared, group);
    }
    try {
        wipe(shared);
        own->remove_note("/", moving_note);
    } catch (const Error& error) {
        if (error.kind() != Code::busy) throw;  // the next to open the pool goes on
    }
}

}  // namespace pmemcpy::pmem
