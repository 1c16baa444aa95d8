#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_set>
#include <vector>

#include "footprint.hpp"
#include "node.hpp"
#include "scenario.hpp"
#include "tests/crash/content.hpp"

namespace pmemcpy::hold {

struct Found {
    std::uint64_t runs = 0;       ///< schedules that were run
    std::uint64_t schedules = 0;  ///< for which they stand
    std::uint64_t judged = 0;     ///< runs that ended in a state that no other had ended in
    std::vector<std::string> wrong;
    std::set<std::string> waited;  ///< calls that waited for a process that was held
    void add(const Found& other);
};

struct Part;  // an actor in a run

/// Runs a scenario's turns with every choice of the accesses before which processes are held.
///
/// Two choices of which one is an access later than the other come to the same if that access and all that others do while the
/// process is held touch no word in common, or only read it: of such choices one is run (the persistent sets of partial order
/// reduction). So this is exhaustive within the scenario's turns.
///
/// The judge is the library itself, undisturbed: what the callers have been told, and what the pool holds, must be what some order
/// of the same calls, one after the other, comes to. A call whose process died in it may have been made or not.
class Explorer {
public:
    explicit Explorer(const Scenario& scenario);
    ~Explorer();
    Found explore();
    /// At most so many runs that are wrong are told.
    static constexpr std::size_t most_wrong = 3;

private:
    struct Cast;     // the processes of one run
    struct Outcome;  // what a run came to
    struct Order;    // a sequence of calls, and what it came to

    std::uint64_t explore_from(std::size_t choice);
    std::uint64_t left_out(std::size_t choice, std::uint64_t access) const;
    void enter(Cast& cast);
    void take_turn(Cast& cast, std::size_t turn);
    void leave(Cast& cast);
    std::vector<Access> probe(std::size_t last);
    const std::vector<std::uint64_t>& accesses_in(std::size_t choice);
    static std::uint64_t next_of(const std::vector<std::uint64_t>& wanted, std::uint64_t from);
    void run();
    void tell_the_held(Cast& cast, Part& part);
    void advance(Cast& cast, std::size_t actor, std::uint64_t hold_before);
    std::string judge(Cast& cast);
    std::string judge_left_behind(const Outcome& outcome);
    std::string judge_space(PMEM& pmem);
    bool renames() const;
    crash::Content readable() const;
    void find_orders();
    void go_through_each(std::vector<std::size_t> calls, std::size_t from);
    void go_through(const std::vector<std::size_t>& calls);
    std::vector<std::size_t> without_refused(const Outcome& outcome, std::vector<std::size_t> calls) const;
    static bool is_in_time(const Outcome& outcome, const std::vector<std::size_t>& calls);
    std::string difference(const Outcome& outcome, const crash::Content& content, const Order& order) const;
    std::string match(const Outcome& outcome, const crash::Content& content, const std::string& when);
    std::string story(const Cast& cast) const;

    Scenario scenario_;
    Node node_;
    Node::Image start_;
    std::vector<std::size_t> choices_;  // the turns that end before an access
    std::vector<std::uint64_t> cuts_;   // before which access each ends
    std::vector<Footprint> meanwhile_;  // what others have done in it
    std::vector<std::uint64_t> reached_;
    std::uint64_t tried_ = 0;                    // runs, also those that ended in an error
    std::vector<std::vector<Access>> accesses_;  // of each actor in the last run
    // By the cuts of the choices before: the accesses that a choice's function makes.
    std::map<std::vector<std::uint64_t>, std::vector<std::uint64_t>> accesses_in_;
    std::map<const void*, std::string> names_;  // of places
    std::map<std::vector<std::size_t>, std::unique_ptr<Order>> orders_;
    std::unordered_set<std::uint64_t> seen_;
    Found found_;
};

/// "Heap::claim retire.cpp:106"
std::string name_of_place(const void* place);
/// The same of each, which takes the time of one.
std::map<const void*, std::string> names_of_places(const std::set<const void*>& places);

}  // namespace pmemcpy::hold
