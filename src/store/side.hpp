#pragma once

// Which pool a pool of private objects belongs to. Its name says only whose it is: the pool that it lies beside may be another one since.

#include "store/store.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace pmemcpy::store {

/// Whether the private objects at `path` belong to this pool. What cannot be read does, so that its opening says why.
bool is_side_of(const std::string& path, const Store& shared);

/// Where private objects of another pool lie when they have given way: the place and the origin of their pool.
std::string place_aside(const std::string& place, const std::array<std::uint8_t, 16>& origin);

/// Gives private objects of another pool that name: nobody's data is removed because a new pool has taken the name of theirs.
/// Errors: busy when a process has them open, already_exists.
void move_side_aside(const std::string& place, const Store& shared);

/// What follows the path of a pool in that of the file with this user's private objects.
std::string private_ending();

/// The files beside a pool that hold private objects of its users, by their names alone. In a directory that cannot be listed only
/// this user's file is looked for.
std::vector<std::string> sides_beside(const std::string& path);

}  // namespace pmemcpy::store
