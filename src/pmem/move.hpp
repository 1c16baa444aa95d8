#pragma once

#include "pmem/sides.hpp"

#include <optional>
#include <pmemcpy/info.hpp>
#include <pmemcpy/scope.hpp>
#include <string>
#include <string_view>

namespace pmemcpy::pmem {

/// What is being moved, noted in the private side before anything is where it should not stay: after a death that, and nothing else, goes from
/// the shared side. The same name may be another user's there.
struct Moving {
    enum class Verb { take, give, take_group };
    Verb verb = Verb::take;
    std::string id;
    Oid there{};  ///< what is of it in the shared side: what is to go from there, or has come there; of a group, one of its members
    std::string draft{};  ///< of one that is given: its name before it has its own

    void note_in(store::Store& own, const store::Store& shared) const;
    /// Nothing where nothing is noted, or of another pool than this one.
    static std::optional<Moving> noted_in(const store::Store& own, const store::Store& shared);
};

/// Moves objects from one side of a pool to the other, as long as it lives alone of all processes of this user. What is on both sides
/// is private; so the private one comes first and goes last, and whatever a death leaves is put right by finish_moves().
class Move {
public:
    /// Finishes first what a process has left that died.
    /// Errors: busy, when another process moves, or when that could not be finished; those of make_own().
    Move(Sides& sides, Scope to);

    void variable(const std::string& id);
    void group(const std::string& id);
    /// What was made private is nowhere else any more. Errors: busy, when something keeps it.
    void finish();

private:
    void note(const Moving& moving);
    void take(const std::string& id, const Oid& there);
    void give(const std::string& id);
    void take_group(const std::string& id);
    bool take_members(const std::string& id);
    void give_group(const std::string& id);
    void empty_group(const std::string& id);
    void keep_way_to(const std::string& id);
    void erase_way_to(const std::string& id);
    void say_scope(const std::string& id, std::optional<Scope> scope);
    void copy_groups(const std::string& id, const PMEM& from, PMEM& to);
    void resume();
    void erase_if_copied(const Oid& there);
    Sides& sides_;
    std::lock_guard<std::mutex> one_thread_;
    std::shared_ptr<store::Store> shared_;
    std::shared_ptr<store::Store> own_;
    pool::Pool::ScopeLock one_process_;
    Scope to_;
    PMEM shared_pool_;
    PMEM own_pool_;
};

}  // namespace pmemcpy::pmem
