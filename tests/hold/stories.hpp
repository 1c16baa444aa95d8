#pragma once

#include <vector>

#include "scenario.hpp"

namespace pmemcpy::hold {

Scenario a_claim();
Scenario a_late_erase();
Scenario a_late_hint();
Scenario a_step_begun_anew();
Scenario an_older_version();
std::vector<Scenario> older_versions_of_the_living();
Scenario a_pin_of_the_dead();
Scenario an_erase_of_what_is_renamed();
Scenario a_rename_of_what_is_erased();
Scenario a_commit_beside_a_drop();
Scenario a_commit_of_one_left_behind();
Scenario a_commit_of_what_is_abandoned();
Scenario a_death_in_an_earlier_step();
Scenario an_erase_of_what_is_dropped();
std::vector<Scenario> renames_of_what_is_dropped();
Scenario a_session_that_is_half_rebuilt();
Scenario a_group_made_of_what_is_erased();
Scenario a_rename_to_what_is_being_stored();
std::vector<Scenario> renames_to_what_the_dead_have_left();
std::vector<Scenario> stories();

// places.cpp
Scenario a_name_of_another();
Scenario a_renamed_one_of_another();
Scenario a_chain_of_another();
Scenario a_count_along_a_chain_of_another();
Scenario a_walk_along_a_chain_of_another();
Scenario a_group_of_another();
Scenario a_number_that_looks_like_a_group();
Scenario a_version_before_that_of_another();
Scenario an_older_version_of_another();
Scenario a_store_over_another();
Scenario a_directory_of_another();
Scenario a_block_of_another();
Scenario an_array_that_is_sealed_for_another();
Scenario an_erase_that_finds_another();
Scenario an_erase_that_is_finished_for_another(const char* function);
Scenario a_flag_for_another();
Scenario an_attribute_that_is_killed_for_another();
Scenario a_step_that_is_finished_for_another();
Scenario a_unit_of_a_namesake();
Scenario a_slab_of_other_units();
std::vector<Scenario> places_used_again();

// announced.cpp
Scenario a_block_in_a_slot_that_was_passed();
Scenario a_pin_that_comes_late();
Scenario a_free_of_what_is_pinned();
Scenario a_pin_beside_a_recovery();
Scenario chunks_that_are_reserved();
Scenario a_block_behind_an_eraser();
Scenario a_store_in_a_group_that_is_erased();
Scenario rows_that_are_joined();
Scenario a_name_that_is_dropped();
Scenario a_list_beside_a_recovery();
std::vector<Scenario> announced();

// again.cpp
Scenario a_slot_that_looks_the_same();
Scenario a_block_that_looks_the_same();
std::vector<Scenario> of_tags_that_come_again();

// chunks.cpp
Scenario a_freed_unit_of_another();
Scenario a_chunk_that_is_made_usable_twice();
std::vector<Scenario> of_chunks();

}  // namespace pmemcpy::hold
