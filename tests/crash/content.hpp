#pragma once

#include <cstdint>
#include <map>
#include <string>

#include <pmemcpy/pmemcpy.hpp>

namespace pmemcpy::crash {

/// What a pool holds, as a user sees it: variables, attributes ("id@name") and groups ("id/"), each with a hash of
/// type, shape and bytes. The blocks of an array are not told apart, for what covers whom is not the user's.
using Content = std::map<std::string, std::uint64_t>;

/// What an array's content is told by: all of it, or each element (of large arrays: each row) under a key of its own.
enum class Grain { array, element };

/// Loads everything. Throws what the library throws; a pool in order throws nothing.
Content observe(const PMEM& pmem, Grain grain = Grain::array);

/// What each committed step shows of each block of each array, where it is kept. What is not kept any more is left out:
/// that may happen at any time, but what is loaded must be what the step held.
Content observe_old_steps(const PMEM& pmem);

/// Whether the key is a group: made before the first variable in it, and so a unit of its own.
inline bool is_group(const std::string& key) { return key.back() == '/'; }
/// Whether it is an element or row of an array.
inline bool is_element(const std::string& key) { return key.back() == ']'; }

/// The first difference in words; empty when there is none.
std::string difference(const Content& found, const Content& wanted);

}  // namespace pmemcpy::crash
