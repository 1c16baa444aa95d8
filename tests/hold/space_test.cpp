// Chunks are claimed and freed without a lock (decision 0022): processes that take whole chunks and give them back, of which one or two are
// held, or die, at each access. A sample without PMEMCPY_LONG, but of one hold.

#include <gtest/gtest.h>

#include <string>

#include "calls.hpp"
#include "choices.hpp"
#include "drawn.hpp"
#include "runner.hpp"

namespace pmemcpy::hold {
namespace {

using crash::Model;

// Runs of two to four chunks, slabs of several sizes, free chunks between them, and a hole where chunks were given back.
void set_up_runs(PMEM& pmem) {
    pmem.store("gap", std::string(9000, 'g'));
    pmem.store("a", std::string(9000, 'a'));
    pmem.store("hole", std::string(5000, 'h'));
    pmem.store("b", std::string(9000, 'b'));
    pmem.store("u", std::string(700, 'u'));
    pmem.erase("hole");
    pmem.trim();
    pmem.erase("gap");
}

std::vector<std::vector<Call>> verbs_of_space() {
    return {{store_text("n", 9000, 'n')},
            {store_text("m", 14000, 'm')},
            {store_text("a", 13000, '1')},
            {store_text("a", 5000, '2')},
            {erase("a")},
            {erase("b"), store_text("k", 9000, 'k')},
            {store_text("l", 700, 'l'), store_text("o", 1900, 'o')},
            {erase("u"), trim()},
            {trim()},
            {compact()},
            {{"prepare",
              [](PMEM& pmem) {
                  pmem.prepare(65536);
                  return std::string("ok");
              }}},
            {{"verify", [](PMEM& pmem) { return std::to_string(pmem.verify().size()); }}},
            {open_pool(), store_text("p", 9000, 'p')},
            {open_pool(), store_text("q", 700, 'q')},
            {close_pool()}};
}

std::vector<Scenario> at_space(std::size_t actors, const std::vector<Turn>& turns, std::size_t one_in) {
    return choices({verbs_of_space(), set_up_runs}, actors, turns, Model::line, one_in);
}

const std::vector<Turn> one_hold = {held(0), ends(1), ends(0)};
const std::vector<Turn> two_holds = {held(0), held(1), ends(0), ends(1)};
const std::vector<Turn> three_holds = {held(0), held(1), held(0), ends(1), ends(0)};
const std::vector<Turn> held_and_killed = {held(0), ends(1), dies(0)};
const std::vector<Turn> killed_first = {held(0), dies(0), ends(1)};
const std::vector<Turn> other_killed = {held(0), held(1), dies(1), ends(0)};
const std::vector<Turn> one_dead_one_held = {held(0), dies(0), held(1), ends(2), ends(1)};

TEST(HeldSpace, of_two_that_take_and_give_chunks_neither_loses_any) {
    tell("one hold, chunks", explore_all(at_space(2, one_hold, 1)), 2'000);
    tell("two holds, chunks", explore_all(at_space(2, two_holds, 20)), 1'000);
    tell("three holds, chunks", explore_all(at_space(2, three_holds, 160)), 300);
}

TEST(HeldSpace, of_the_dead_is_taken_back_beside_those_that_take_more) {
    tell("one hold and a death, chunks", explore_all(at_space(2, held_and_killed, 24)), 1'000);
    tell("a death and then another, chunks", explore_all(at_space(2, killed_first, 8)), 500);
    if (!is_long()) return;
    tell("one hold, the other dies, chunks", explore_all(at_space(2, other_killed, 1)), 1'000'000);
    tell("one dead, one held, chunks", explore_all(at_space(3, one_dead_one_held, 8)), 1'000'000);
}

}  // namespace
}  // namespace pmemcpy::hold
