#pragma once

#include <cstdint>
#include <pmemcpy/pmemcpy.hpp>
#include <pmemcpy/query.hpp>
#include <string_view>

// What others can see of a pool that they may read. A pool has two sides. Shared objects lie in the pool.
// Private ones lie in a second pool beside it, `<pool>.private-<user's number>`, which the operating system
// opens to its owner alone. Each user who may write beside the pool has one. Its owner sees both sides as
// one, in names, queries and lists:
//
//     pmem.store("draft", data);                       // shared, as everything is
//     set_scope(pmem, "draft", Scope::own);            // no more: gone from the pool, to its last byte
//     private_side(pmem).store("notes", text);         // private from the beginning
//     share(pmem, "draft or name ~ 'final/*'");        // shared again
//
// Private objects belong to the pool that they were made beside. Another pool that takes its name has none of them;
// their file stays, and gets another name when the new pool needs this one.
//
// docs/sharing.md says what that protects.

namespace pmemcpy {

/// The visibility of an object.
enum class Scope {
    shared,  ///< readable by all users who may read the pool
    own,     ///< private: readable by its owner alone
};

/// The name of a scope: "shared", "private".
const char* name_of(Scope scope) noexcept;
/// The scope of that name. Errors: invalid_argument.
Scope parse_scope(std::string_view text);

/// Moves a variable, or a group with all its members, to one side or the other. Objects made later in a
/// private group are private, except in a group of it that was made shared. Does nothing to objects that are
/// on that side already.
///
/// An object that becomes private is copied, erased from the pool, and wiped. When the call returns, none of
/// its bytes, names and attributes is in a file that others may read: neither the pool, nor its index, nor
/// its feed. To that end the pool wipes space before it is free, from the first such call on, or from the
/// start (Options::wipe). Overwriting and erasing then take as much longer as writing zeros takes. The index
/// is made anew. Not kept: steps, versions, writer and time. Views of the object stay as they are.
///
/// Crash: each variable is on one side or the other, whole. If its process dies in between, it may be on
///     both: the private one then counts, and the next opening for writing by its owner erases and wipes the
///     other.
/// Sharing: what others store into an object while it moves may be lost, as when it is erased. Processes that
///     have loaded it keep their copies, and a view shows it until it is dropped.
/// Errors: not_found; busy when the pool does not wipe yet and others have it open for writing (once), when
///     another process moves objects or replaces this one just then, or when a view or another process holds erased data that cannot be
///     wiped yet: the object is then private already, and the same call finishes the work; busy when the pool
///     was moved or replaced while it was open; permission_denied
///     for users who may not write beside the pool; already_exists when another object has that name on the
///     other side; unsupported on a device, in a step, or for "/"; no_space; corrupt.
void set_scope(PMEM& pool, std::string_view id, Scope scope);

/// The scope of a variable or group. The nearest group that set_scope() was called for decides of a group, beginning
/// with the group itself. One that private objects made, and nothing shared, is private. In a private side that is
/// open as a pool of its own, all is private.
/// Errors: not_found.
Scope scope_of(const PMEM& pool, std::string_view id);

/// Calls set_scope() for each variable that a query finds. Returns how many were moved.
/// Errors: those of set_scope() and query().
std::uint64_t share(PMEM& pool, const Query& question, Scope scope = Scope::shared);
std::uint64_t share(PMEM& pool, std::string_view text, Scope scope = Scope::shared);

/// The private side of this user as a pool of its own, made if there is none: everything stored in it is
/// private. It stays open as long as `pool` does. Of a private side it is that side itself.
/// Errors: permission_denied for users who may not write beside the pool, or when a file of another user is
///     in its place; not_found when no private pool exists and `pool` is open for reading; busy when the pool
///     was moved or replaced while it was open, or when private objects of another pool, which had this name
///     before, are open elsewhere and cannot give way; already_exists when some have given way already;
///     unsupported on a device.
PMEM& private_side(PMEM& pool);

/// The shared side as a pool of its own, open for reading: it has what other users see, and nothing private.
/// Errors: invalid_argument for a private side; busy when the pool was moved or replaced while it was open.
PMEM shared_side(const PMEM& pool);

}  // namespace pmemcpy
