#pragma once

#include <cstddef>
#include <cstdint>
#include <pmemcpy/pmemcpy.hpp>
#include <string>
#include <string_view>
#include <vector>

// What is in a group, and how it goes.

namespace pmemcpy {

/// The names directly in a group, of variables and of groups, sorted; of "/" those in none. None where there is no such group.
/// Cost: grows with these names, once the pool's names are known, which they stay as long as none comes or goes.
std::vector<std::string> members(const PMEM& pool, std::string_view group = "/");
std::size_t count_members(const PMEM& pool, std::string_view group = "/");

/// Erases a variable, or a group with all that is in it. Returns how many variables and groups that were.
/// Crash: some of it is erased, the rest is whole.
/// Sharing: what others store in the group meanwhile may stay, and then the group does (busy).
/// Errors: not_found; busy; unsupported in a step.
std::uint64_t erase_all(PMEM& pool, std::string_view id);

/// Erases all that is directly in a group but the `count` members that were created last. Returns the names of what was erased.
/// For a group or variable of its own for each step, or checkpoint, of which the last few are kept.
/// Crash, Sharing, Errors: as erase_all(); not_found when there is no such group.
/// Example: pool.store("out/" + std::to_string(step) + "/T", ...); pool.commit(step); keep_newest(pool, "out", 3);
std::vector<std::string> keep_newest(PMEM& pool, std::string_view group, std::size_t count);

}  // namespace pmemcpy
