#pragma once

#include <cstdint>
#include <optional>
#include <pmemcpy/options.hpp>
#include <string>
#include <vector>

// Pools that people share. A namespace is a directory with pools in it. All namespaces lie below one
// directory, the root:
//
//     create_namespace("climate");
//     pmem.mmap("climate:");                                  // its pool shared.pmem; "climate:x" is x.pmem
//     grant("climate", {Grantee::user, "li"}, Permission::read);
//
// The operating system alone enforces who may do what: the files belong to users, and access control lists
// let others in. docs/sharing.md says what that protects.
//
// `root`, everywhere below: a directory; if empty, the one named by PMEMCPY_ROOT in the environment.

namespace pmemcpy {

/// The rights that a grant gives for the pools of a namespace.
enum class Permission {
    read,   ///< open the pools for reading
    write,  ///< change them too, make new ones, and remove any
};

/// A user or a group that can get access.
struct Grantee {
    enum Kind { user, group };
    Kind kind = user;
    std::string name;  ///< the name on this machine, or a number in digits
    friend bool operator==(const Grantee&, const Grantee&) = default;
};

/// A right that a user or group has.
struct Grant {
    Grantee to;
    Permission permission = Permission::read;
    friend bool operator==(const Grant&, const Grant&) = default;
};

/// A pool in a namespace.
struct NamespacePool {
    std::string name;  ///< "shared", for shared.pmem
    std::string path;
    std::string owner;
    std::uint64_t max_bytes = 0;  ///< the size that it may grow to
};

/// The size that the pools of a namespace may grow to, together. Advisory: the library checks it when it
/// makes a pool. The operating system does not, and a user who may write the namespace can get around it.
struct Quota {
    std::uint64_t limit_bytes = 0;  ///< 0: none
    std::uint64_t used_bytes = 0;   ///< the sum of the pools' maxima, not of what they hold
};

/// The catalogue entry of one namespace.
struct Namespace {
    std::string name;
    std::string path;
    std::string owner;
    std::optional<Permission> access;  ///< the right of this process; nothing: it cannot look inside
    std::vector<Grant> grants;         ///< empty: only the owner has access
    std::vector<NamespacePool> pools;  ///< empty if this process cannot look inside
    Quota quota;                       ///< zeros if this process cannot look inside
};

/// Makes an empty namespace that only its owner may use, until grants let others in.
/// Crash: it is there whole or not at all. Of two processes that make the same one, one succeeds.
/// Errors: invalid_argument for a name that is reserved, begins with `.` or `-`, has more than 64 characters, or
///     has others than letters, digits, `_`, `-` and `.`; already_exists; not_found without a root;
///     permission_denied where this user may not make directories in the root, or other users could remove
///     them (a shared root needs the sticky bit).
/// Source: MOSIQS, namespaces.
void create_namespace(const std::string& name, const std::string& root = {});

/// Whether drop_namespace() removes pools too.
enum class Drop { only_empty, with_pools };

/// Removes a namespace. A process that has a pool of it open keeps the pool until it closes it.
/// Crash: the name is free before any file is removed. The next create_namespace() or drop_namespace() removes the rest,
///     or gives the namespace its name back where no file was to be removed yet.
/// Sharing: with only_empty, a pool that another process makes meanwhile stays, and so does the namespace (busy). A
///     namespace that another process makes under the name meanwhile stays in any case (busy). For a moment nobody finds
///     the namespace.
/// Errors: not_found; busy when it has pools or files of private objects and `what` is only_empty, or when another process
///     makes or drops it; permission_denied for users other than the owner; also when the name is free but files of other
///     users remain that this user cannot remove.
void drop_namespace(const std::string& name, Drop what = Drop::only_empty, const std::string& root = {});

/// All namespaces, sorted by name. Those that this user cannot look into are listed too, with their owner.
/// Errors: not_found without a root, permission_denied.
std::vector<Namespace> namespaces(const std::string& root = {});
/// One namespace.
/// Errors: not_found; corrupt, when its marker is damaged.
Namespace namespace_info(const std::string& name, const std::string& root = {});

/// Grants a user or group access to all pools of a namespace, present and future. It replaces an earlier
/// grant to the same one. A pool made with permissions that leave its group nothing (Options::permissions)
/// stays closed. Returns the files of other users: they stay as they are, and their owners have to call this
/// too.
/// Crash: access begins when all is done; calling again completes it.
/// Errors: not_found for a namespace or user that does not exist; permission_denied for users other than the
///     owner; invalid_argument for a grant to the owner; unsupported where the file system keeps no access
///     control lists, or in a build without libacl.
std::vector<std::string> grant(const std::string& name, const Grantee& to, Permission permission,
                               const std::string& root = {});

/// Takes a grant back. A process that has a pool open keeps it until it closes it. Returns the files of other
/// users: they stay as they are, behind the closed directory.
/// Crash: access ends before the rest is done; calling again completes it.
/// Errors: those of grant(); not_found for a user or group without a grant.
std::vector<std::string> revoke(const std::string& name, const Grantee& from, const std::string& root = {});

/// Sets the quota; 0 removes it. Advisory: see Quota. Existing pools stay as they are.
/// Crash: the old quota or the new one.
/// Errors: not_found, permission_denied for users other than the owner.
void set_quota(const std::string& name, std::uint64_t limit_bytes, const std::string& root = {});

/// The path of a pool that is named as PMEM::mmap() takes it. `NAME:` is the pool shared.pmem in the
/// namespace NAME, `NAME:x` its pool x.pmem. Any other text is a path and comes back unchanged: one with a
/// `/`, without a colon, or whose part before the colon is no name of a namespace. For a file called `a:`,
/// write `./a:`.
/// Errors: not_found for a namespace that does not exist; permission_denied when this process may not open
///     the pool by `mode`, with the name of the owner to ask; invalid_argument for a name that no pool can
///     have, and without a root.
std::string resolve_pool(const std::string& path, Mode mode = Mode::read, const std::string& root = {});

}  // namespace pmemcpy
