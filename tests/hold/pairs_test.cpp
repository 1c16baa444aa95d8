// A process is held before each of its accesses in one verb while others do theirs: every pair of verbs, and three processes at one
// name. A sample without PMEMCPY_LONG, another one each day, but of one hold in the usual layout, which is short: that is whole.

#include <gtest/gtest.h>

#include "calls.hpp"
#include "choices.hpp"
#include "drawn.hpp"
#include "runner.hpp"

namespace pmemcpy::hold {
namespace {

using crash::Model;

const std::vector<Turn> one_hold = {held(0), ends(1), ends(0)};
const std::vector<Turn> held_and_killed = {held(0), ends(1), dies(0)};
const std::vector<Turn> other_killed = {held(0), held(1), dies(1), ends(0)};
const std::vector<Turn> two_holds = {held(0), held(1), ends(0), ends(1)};
const std::vector<Turn> three_holds = {held(0), held(1), held(0), ends(1), ends(0)};

void thin_out(std::vector<Scenario>& scenarios, std::uint64_t one_choice_in) {
    for (Scenario& scenario : scenarios) scenario.one_choice_in = one_choice_in;
}

TEST(HeldPair, comes_to_what_some_order_of_the_calls_comes_to) {
    tell("one hold, line", explore_all(choices({all_verbs()}, 2, one_hold, Model::line, 1)), 15'000);
}

TEST(HeldPair, behind_the_page_cache_comes_to_the_same) {
    tell("one hold, page", explore_all(choices({all_verbs()}, 2, one_hold, Model::page, 4)), 3'000);
}

// Payloads in files of their own, whose making, names and removal are calls to the kernel, before each of which a process is held too.
std::vector<Scenario> in_a_directory(const std::vector<Turn>& turns, Model model, std::size_t one_in) {
    return choices({all_verbs()}, 2, turns, model, one_in, Layout::directory);
}

TEST(HeldPair, in_a_directory_comes_to_the_same) {
    tell("one hold in a directory, line", explore_all(in_a_directory(one_hold, Model::line, 8)), 1'500);
    tell("one hold in a directory, page", explore_all(in_a_directory(one_hold, Model::page, 64)), 100);
}

TEST(HeldPair, in_a_directory_of_which_the_one_that_is_held_is_killed_loses_nothing) {
    tell("one hold and a death in a directory, line",
         explore_all(in_a_directory(held_and_killed, Model::line, 64)), 500);
    tell("one hold and a death in a directory, page",
         explore_all(in_a_directory(held_and_killed, Model::page, 256)), 50);
}

TEST(HeldPair, in_a_directory_of_which_the_other_is_killed_meanwhile_loses_nothing) {
    std::vector<Scenario> pairs = in_a_directory(other_killed, Model::line, 100);
    if (!is_long()) thin_out(pairs, 6);
    tell("one hold in a directory, the other dies", explore_all(pairs), 100);
}

TEST(HeldPair, of_which_the_one_that_is_held_is_killed_loses_nothing) {
    tell("one hold and a death, line",
         explore_all(choices({all_verbs()}, 2, held_and_killed, Model::line, 32)), 2'500);
    tell("one hold and a death, page",
         explore_all(choices({all_verbs()}, 2, held_and_killed, Model::page, 128)), 500);
}

TEST(HeldPair, of_which_the_other_is_killed_meanwhile_loses_nothing) {
    std::vector<Scenario> pairs = choices({all_verbs()}, 2, other_killed, Model::line, 50);
    if (!is_long()) thin_out(pairs, 4);
    tell("one hold, the other dies", explore_all(pairs), 500);
}

TEST(HeldPair, of_which_both_are_held_comes_to_what_some_order_of_the_calls_comes_to) {
    tell("two holds", explore_all(choices({all_verbs()}, 2, two_holds, Model::line, 80)), 1'000);
    std::vector<Scenario> three = choices({verbs_on_one_name()}, 2, three_holds, Model::line, 2);
    thin_out(three, 4);
    tell("three holds", explore_all(three), 1'000);
}

TEST(HeldPair, at_one_group_comes_to_what_some_order_of_the_calls_comes_to) {
    const auto pairs = [](const std::vector<Turn>& turns, std::size_t one_in) {
        return explore_all(choices({verbs_on_one_group()}, 2, turns, Model::line, one_in));
    };
    tell("one hold at a group", pairs(one_hold, 1), 1'000);
    tell("one hold and a death at a group", pairs(held_and_killed, 4), 500);
    tell("two holds at a group", pairs(two_holds, 4), 500);
}

// The other makes new things in the places of those that the first one is looking at.
TEST(HeldPair, of_which_one_finds_other_things_in_the_place_comes_to_what_some_order_of_the_calls_comes_to) {
    tell("places used again", explore_all(reuses(Model::line)), 1'000);
}

TEST(HeldTriple, at_one_name_comes_to_what_some_order_of_the_calls_comes_to) {
    const std::vector<Turn> others_one_by_one = {held(0), ends(1), ends(2), ends(0)};
    const std::vector<Turn> others_beside = {held(0), held(1), ends(2), ends(0), ends(1)};
    tell("three processes",
         explore_all(choices({verbs_on_one_name()}, 3, others_one_by_one, Model::line, 40)), 500);
    std::vector<Scenario> two_held = choices({verbs_on_one_name()}, 3, others_beside, Model::line, 20);
    thin_out(two_held, 5);
    tell("three processes, two held", explore_all(two_held), 500);
}

}  // namespace
}  // namespace pmemcpy::hold
