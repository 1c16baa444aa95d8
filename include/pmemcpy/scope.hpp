#pragma once

#include <cstdint>
#include <pmemcpy/pmemcpy.hpp>
#include <pmemcpy/query.hpp>
#include <string_view>

// What others may see of a pool that they may read. A pool has two sides. What is shared lies in the pool. What is private lies in a
// pool beside it, `<pool>.private-<user's number>`, which the operating system opens to nobody but its owner; each user who may write
// beside the pool has one of his own. Under their names, in queries and in lists, he sees both as one:
//
//     pmem.store("draft", data);                       // shared, as everything is
//     set_scope(pmem, "draft", Scope::own);            // no more: gone from the pool, to its last byte
//     private_side(pmem).store("notes", text);         // private from the beginning
//     share(pmem, "draft or name ~ 'final/*'");        // shared again
//
// docs/sharing.md says what that protects.

namespace pmemcpy {

enum class Scope {
    shared,  ///< whoever may read the pool may read it
    own,     ///< nobody but the user who has it
};

/// "shared", "private".
const char* name_of(Scope scope) noexcept;
/// Errors: invalid_argument.
Scope parse_scope(std::string_view text);

/// Moves a variable, or a group with all that is in it, to one side or the other. What is made later in a group that is private is
/// private. Nothing happens to what is there already.
///
/// Made private, an object is copied, erased from the pool, and wiped: when this returns, none of its bytes, names and attributes are in
/// any file that others may read: neither the pool, nor its index, nor its feed. For that the pool wipes space before it is free, from the
/// first time on, or when it was made so (Options::wipe): slower by as much as zeros take to write where something is overwritten or
/// erased. The index is made anew. Not kept: steps, versions, who wrote it and when; views of it stay as they are.
///
/// Crash: each variable is on one side or the other, whole. If it is on both, because a process died in between, the private one is the
///     variable: it is all that its owner sees, and the next time he opens the pool for writing the other one is erased and wiped.
/// Sharing: what others store into an object while it is moved may be lost, as when it is erased. Who has loaded it keeps what he has,
///     and a view shows it until it is dropped.
/// Errors: not_found; busy, when the pool does not wipe yet and others have it open for writing (once), when another process moves, or
///     when a view or another process keeps what was erased so that it could not be wiped: then it is private all the same,
///     and the same call finishes it; permission_denied for who may not write beside the pool; unsupported on a device, in
///     a step, or for "/"; no_space; corrupt.
void set_scope(PMEM& pool, std::string_view id, Scope scope);

/// Of a variable or group. A group is private if set_scope() made it, or one that it lies in, or if all that is in it is private.
/// Errors: not_found.
Scope scope_of(const PMEM& pool, std::string_view id);

/// set_scope() of each variable that a query finds. Returns how many were moved.
/// Errors: those of set_scope() and query().
std::uint64_t share(PMEM& pool, const Query& question, Scope scope = Scope::shared);
std::uint64_t share(PMEM& pool, std::string_view text, Scope scope = Scope::shared);

/// The private side of this user as a pool of its own, made if he has none: what is stored in it is private. It stays open as
/// long as `pool` does.
/// Errors: permission_denied for who may not write beside the pool, or when somebody else has put a file there; not_found for who has
///     none and has opened the pool for reading; unsupported on a device.
PMEM& private_side(PMEM& pool);

}  // namespace pmemcpy
