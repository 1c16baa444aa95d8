// The stories of stories.cpp, each with a test of its own.

#include <gtest/gtest.h>

#include "runner.hpp"
#include "stories.hpp"

namespace pmemcpy::hold {
namespace {

TEST(HeldStory, a_claim_follows_no_record_that_has_come_into_the_place) {
    tell("a claim", explore_all({a_claim()}), 1'000);
}

TEST(HeldStory, a_late_erase_seals_no_array_but_its_own) {
    tell("a late erase", explore_all({a_late_erase()}), 500);
}

TEST(HeldStory, a_late_hint_changes_no_data) { tell("a late hint", explore_all({a_late_hint()}), 20); }

TEST(HeldStory, a_store_in_a_step_that_is_begun_anew_is_not_dropped) {
    tell("a step begun anew", explore_all({a_step_begun_anew()}), 200);
}

TEST(HeldStory, a_store_over_an_uncommitted_version_leaves_no_older_one_behind) {
    tell("an older version", explore_all({an_older_version()}), 20);
    tell("an older version of the living", explore_all(older_versions_of_the_living()), 200);
}

TEST(HeldStory, a_pin_of_the_dead_keeps_nothing_from_who_recovers) {
    tell("a pin of the dead", explore_all({a_pin_of_the_dead()}), 5);
}

TEST(HeldStory, a_rename_and_an_erase_of_one_name_do_not_both_succeed) {
    tell("erase / rename", explore_all({an_erase_of_what_is_renamed()}), 5);
    tell("rename / erase", explore_all({a_rename_of_what_is_erased()}), 5);
}

TEST(HeldStory, a_commit_shows_no_half_of_a_step_that_is_being_dropped) {
    tell("a commit beside a drop", explore_all({a_commit_beside_a_drop()}), 50);
    tell("a commit of one left behind", explore_all({a_commit_of_one_left_behind()}), 20);
}

TEST(HeldStory, a_commit_shows_nothing_that_is_abandoned) {
    tell("a commit of what is abandoned", explore_all({a_commit_of_what_is_abandoned()}), 3);
}

TEST(HeldStory, a_death_in_an_earlier_step_is_not_forgotten) {
    tell("a death in an earlier step", explore_all({a_death_in_an_earlier_step()}), 10);
}

TEST(HeldStory, an_erase_gives_back_what_is_dropped_meanwhile) {
    tell("an erase of what is dropped", explore_all({an_erase_of_what_is_dropped()}), 20);
}

TEST(HeldStory, a_rename_keeps_nothing_from_being_dropped) {
    tell("a rename of what is dropped", explore_all(renames_of_what_is_dropped()), 50);
}

TEST(HeldStory, a_session_that_is_half_rebuilt_is_not_joined) {
    tell("a session that is half rebuilt", explore_all({a_session_that_is_half_rebuilt()}), 20);
}

TEST(HeldStory, a_group_is_not_made_of_an_entry_that_is_erased) {
    tell("a group made of what is erased", explore_all({a_group_made_of_what_is_erased()}), 1);
}

TEST(HeldStory, a_rename_is_refused_by_nothing_that_is_not_there) {
    tell("a rename to what is being stored", explore_all({a_rename_to_what_is_being_stored()}), 5);
    tell("a rename to what the dead have left", explore_all(renames_to_what_the_dead_have_left()), 50);
}

// Of each the accesses of one function are gone through; that they are the right ones the gate shows.
TEST(HeldStory, a_look_at_a_name_gives_no_value_of_what_has_come_into_the_place) {
    tell("a name of another", explore_all({a_name_of_another()}), 3);
    tell("a renamed one of another", explore_all({a_renamed_one_of_another()}), 3);
}

TEST(HeldStory, a_walk_leads_along_no_chain_but_its_own) {
    tell("a chain of another", explore_all({a_chain_of_another()}), 3);
    tell("a count along a chain of another", explore_all({a_count_along_a_chain_of_another()}), 3);
    tell("a walk along a chain of another", explore_all({a_walk_along_a_chain_of_another()}), 3);
}

TEST(HeldStory, nothing_is_taken_for_a_group_that_has_come_into_the_place) {
    tell("a group of another", explore_all({a_group_of_another()}), 1);
    tell("a number that looks like a group", explore_all({a_number_that_looks_like_a_group()}), 10);
}

TEST(HeldStory, of_an_older_version_only_its_own_are_retired) {
    tell("a version before that of another", explore_all({a_version_before_that_of_another()}), 1);
    tell("an older version of another", explore_all({an_older_version_of_another()}), 3);
}

TEST(HeldStory, a_late_store_replaces_no_value_but_its_own) {
    tell("a store over another", explore_all({a_store_over_another()}), 3);
}

TEST(HeldStory, a_reader_takes_no_slots_of_another_array) {
    tell("a directory of another", explore_all({a_directory_of_another()}), 3);
    tell("a block of another", explore_all({a_block_of_another()}), 20);
}

TEST(HeldStory, a_late_erase_closes_no_array_but_its_own) {
    tell("an array that is sealed for another", explore_all({an_array_that_is_sealed_for_another()}), 2);
}

TEST(HeldStory, a_late_erase_takes_no_variable_but_its_own) {
    tell("an erase that finds another", explore_all({an_erase_that_finds_another()}), 1);
    tell("an erase that is finished for another",
         explore_all({an_erase_that_is_finished_for_another("Catalog::clean_up_erased"),
                      an_erase_that_is_finished_for_another("copy_current")}),
         2);
    tell("a flag for another", explore_all({a_flag_for_another()}), 1);
}

TEST(HeldStory, an_erase_that_is_finished_late_takes_no_attribute_of_another) {
    tell("an attribute that is killed for another", explore_all({an_attribute_that_is_killed_for_another()}),
         1);
}

TEST(HeldStory, a_step_that_is_finished_late_retires_nothing_of_a_draft) {
    tell("a step that is finished for another", explore_all({a_step_that_is_finished_for_another()}), 20);
}

TEST(HeldStory, a_late_claim_takes_no_record_of_one_with_the_same_name) {
    tell("a unit of a namesake", explore_all({a_unit_of_a_namesake()}), 5);
}

TEST(HeldStory, a_late_adoption_takes_no_slab_of_other_units) {
    tell("a slab of other units", explore_all({a_slab_of_other_units()}), 5);
}

// Of two that mind each other one is held.
TEST(HeldStory, a_reader_sees_a_block_that_goes_into_a_slot_that_was_passed) {
    tell("a block in a slot that was passed", explore_all({a_block_in_a_slot_that_was_passed()}), 3);
}

TEST(HeldStory, what_looks_the_same_is_not_taken_for_it) {
    tell("a slot that looks the same", explore_all({a_slot_that_looks_the_same()}), 20);
    tell("a block that looks the same", explore_all({a_block_that_looks_the_same()}), 20);
}

TEST(HeldStory, nobody_comes_beside_one_that_is_alone) {
    tell("rows that are joined", explore_all({rows_that_are_joined()}), 10);
}

TEST(HeldStory, a_drop_of_a_step_takes_nothing_that_is_in_none) {
    tell("a name that is dropped", explore_all({a_name_that_is_dropped()}), 20);
}

TEST(HeldStory, a_list_beside_a_recovery_is_whole_or_an_error) {
    tell("a list beside a recovery", explore_all({a_list_beside_a_recovery()}), 5);
}

TEST(HeldStory, a_pin_and_a_free_see_each_other) {
    tell("a pin that comes late", explore_all({a_pin_that_comes_late()}), 1);
    tell("a free of what is pinned", explore_all({a_free_of_what_is_pinned()}), 1);
}

TEST(HeldStory, a_mere_reader_pins_nothing_that_a_recovery_frees) {
    tell("a pin beside a recovery", explore_all({a_pin_beside_a_recovery()}), 1);
}

TEST(HeldStory, a_thread_takes_no_freed_unit_of_a_slab_that_is_cut_anew) {
    tell("a freed unit of another", explore_all({a_freed_unit_of_another()}), 1);
}

TEST(HeldStory, a_chunk_is_made_usable_once) {
    tell("a chunk that is made usable twice", explore_all({a_chunk_that_is_made_usable_twice()}), 5);
}

TEST(HeldStory, chunks_that_are_reserved_are_nobody_elses) {
    tell("chunks that are reserved", explore_all({chunks_that_are_reserved()}), 1);
}

TEST(HeldStory, a_store_in_a_group_and_its_erase_do_not_both_succeed) {
    tell("a store in a group that is erased", explore_all({a_store_in_a_group_that_is_erased()}), 30);
}

TEST(HeldStory, a_block_that_comes_behind_an_eraser_is_taken_back) {
    tell("a block behind an eraser", explore_all({a_block_behind_an_eraser()}), 5);
}

}  // namespace
}  // namespace pmemcpy::hold
