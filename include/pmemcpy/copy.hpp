#pragma once

#include <cstdint>
#include <functional>
#include <pmemcpy/pmemcpy.hpp>
#include <string>
#include <vector>

namespace pmemcpy {

/// Reports progress: the bytes copied since the last call. It may throw to end the copy.
using Copied = std::function<void(std::uint64_t bytes)>;

/// Copies a value or an array, with its attributes, into `target` under the id `to`. With `force` it replaces
/// a variable of that id. Open the source with Options::verify_loads, so that no damage gets a fresh
/// checksum.
///
/// Kept: type, shape, order, codec, fill value, growth, contiguity, whether the array is frozen, the boxes of
/// its blocks, each byte that a serializer made, and that it is private (scope.hpp). Also private is a copy that
/// comes into a private group of the target, or replaces something private there. Not kept: steps, versions, writer
/// and time. A block partly covered by a newer one has the newer elements in the copy; a large one is cut into pieces.
/// Crash: the copy is made under an id of its own, ".copying-" and a number, and appears under `to` whole or
///     not at all. A variable that it replaces is erased right before. A failed or interrupted copy is
///     erased; that of a killed process keeps its own id.
/// Sharing: when other processes store into the source, the copy is made anew; the third time it fails
///     (busy).
/// Errors: already_exists; not_found, when the source is erased; corrupt; busy; no_space; where the copy is to be
///     private, those of private_side().
/// Cost: memory for one piece of an array, or for one compressed block.
void copy_variable(const PMEM& source, const std::string& from, PMEM& target, const std::string& to,
                   bool force, const Copied& copied);

/// Moves a value or an array, with its attributes, into `target` under the id `to`: it copies the variable as copy_variable()
/// does, then erases the source. Inside one pool it renames the variable (rename_variable). A caller moves a group by moving its
/// members one by one.
///
/// Crash: the move copies, syncs the target, and renames the source to ".moved-", a number, "-" and the last part of its id, in
///     the same group. It compares that with the copy, and erases it. A death therefore leaves the variable whole in the
///     source, in the target or in both. The renamed source stays until give_back_moved(), which the next move of it calls.
/// Sharing: a store by another process into the source makes the move `busy`, and the source gets its name back. If a newer
///     variable has that name by then, it keeps it, and the error gives the id of the older one. The move does not notice three
///     kinds of stores: those into a contiguous array that is not frozen; those of an uncommitted step; and one by a process
///     that found the variable before the rename, and was held until the comparison was over. Of two processes that move one
///     variable at once one may be told `busy`; then each target has a copy.
/// Errors: those of copy_variable(), with nothing changed. After the copy: busy, and those of rename() and erase() in the source,
///     also for an id with no room for that longer name. The message says which of the two variables is whole.
/// Cost: that of copy_variable(), a sync of the target, and two looks at the source.
void move_variable(PMEM& source, const std::string& from, PMEM& target, const std::string& to, bool force,
                   const Copied& copied);

/// Gives variables that a move has renamed and that its process did not come to erase their names back: the variable `id`, or
/// those in the group `id`; all of them for "". Returns these names. A newer variable of that name keeps it, and the older one
/// stays as it is.
/// Sharing: a living process that moves such a variable is told `busy`, after its copy.
/// Cost: a look at each id in the pool.
std::vector<std::string> give_back_moved(PMEM& pool, const std::string& id);

/// Copies a group, without its members: makes the group `to`, private if the source is, where there is none, and copies the
/// attributes as copy_attributes() does.
/// Errors: already_exists, where `to` is a variable; those of copy_attributes() and private_side().
void copy_group(const PMEM& source, const std::string& from, PMEM& target, const std::string& to, bool force);

/// Copies the attributes of a variable or group. With `force` it also replaces attributes that exist.
/// Errors: not_found; unsupported, where the source is private and the target is not.
void copy_attributes(const PMEM& source, const std::string& from, PMEM& target, const std::string& to,
                     bool force);

/// Renames a variable, atomically. With `force` it replaces a variable of the new name, and for a moment
/// neither name exists.
void rename_variable(PMEM& pool, const std::string& from, const std::string& to, bool force);

}  // namespace pmemcpy
