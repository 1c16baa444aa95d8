#pragma once

#include <cstdint>
#include <optional>
#include <pmemcpy/options.hpp>
#include <string>
#include <vector>

// Pools that people share. A namespace is a directory with pools in it, below a directory that all of them have in common, the root:
//
//     create_namespace("climate");
//     pmem.mmap("climate:");                                  // its pool shared.pmem; "climate:x" is x.pmem
//     grant("climate", {Grantee::user, "li"}, Permission::read);
//
// Who may do what is up to the operating system and nothing else: the files belong to users, and access control lists let others in.
// docs/sharing.md says what that protects.
//
// `root`, everywhere below: a directory; if it is empty, the one that PMEMCPY_ROOT in the environment names.

namespace pmemcpy {

/// What somebody may do with the pools of a namespace.
enum class Permission {
    read,   ///< to open the pools for reading
    write,  ///< to change them too, to make new ones and to remove any
};

/// Somebody who can be let in.
struct Grantee {
    enum Kind { user, group };
    Kind kind = user;
    std::string name;  ///< as this machine knows it; or a number in digits
    friend bool operator==(const Grantee&, const Grantee&) = default;
};

/// What somebody was granted.
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
    std::uint64_t max_bytes = 0;  ///< how large it may grow
};

/// How much the pools of a namespace may grow to, together. Advisory: the library asks for it when it makes a pool, the operating
/// system does not, and whoever may write the namespace can go around it.
struct Quota {
    std::uint64_t limit_bytes = 0;  ///< 0: none
    std::uint64_t used_bytes = 0;   ///< the sum of the pools' maxima, not of what they hold
};

/// What the catalogue says of one namespace.
struct Namespace {
    std::string name;
    std::string path;
    std::string owner;
    std::optional<Permission> access;  ///< of this process; nothing: it cannot look into it
    std::vector<Grant> grants;         ///< nobody's but the owner's, if empty
    std::vector<NamespacePool> pools;  ///< none, if it cannot look
    Quota quota;                       ///< zeros, if it cannot look
};

/// Makes an empty namespace that only its maker may use, until he grants others something.
/// Crash: it is there whole or not at all. Of two who make the same one wins.
/// Errors: invalid_argument for a name that is reserved or has other characters than letters, digits, `_`, `-` and `.`, a dot
///     in front, or more than 64; already_exists; not_found where there is no root; permission_denied where this user may not make
///     directories in the root, or where others could remove them (a shared root wants the sticky bit).
/// Source: MOSIQS, namespaces.
void create_namespace(const std::string& name, const std::string& root = {});

/// Whether drop_namespace() removes pools too.
enum class Drop { only_empty, with_pools };

/// Removes a namespace. Who has a pool of it open keeps what he has until he closes it.
/// Crash: its name is free before anything is removed; what is left then is removed by the next who makes or drops one.
/// Errors: not_found; busy when it has pools and only an empty one is to be dropped; permission_denied for who does not own it,
///     and, when the name is free but files of other users are left that he cannot remove.
void drop_namespace(const std::string& name, Drop what = Drop::only_empty, const std::string& root = {});

/// All namespaces, sorted by name, also those that this user cannot look into: he sees whom to ask.
/// Errors: not_found where there is no root, permission_denied.
std::vector<Namespace> namespaces(const std::string& root = {});
/// One of them.
/// Errors: not_found; corrupt, when its marker is damaged.
Namespace namespace_info(const std::string& name, const std::string& root = {});

/// Lets somebody into a namespace: to all pools in it and to those that are made later, but not to one that was made with
/// permissions that leave its group nothing (Options::permissions). What he was granted before is replaced.
/// Returns the files that belong to other users and stay as they are: these have to call this too.
/// Crash: nobody gets in before all is done; calling it again completes it.
/// Errors: not_found for a namespace or user that does not exist, permission_denied for who does not own the namespace,
///     invalid_argument for the owner himself, unsupported where the file system keeps no access control lists or the library was
///     built without libacl.
std::vector<std::string> grant(const std::string& name, const Grantee& to, Permission permission,
                               const std::string& root = {});

/// Takes back what grant() gave. Who has a pool open keeps what he has until he closes it.
/// Returns the files that belong to other users and stay as they are: behind the closed directory.
/// Crash: he is shut out before the rest is done; calling it again completes it.
/// Errors: those of grant(); not_found for who was granted nothing.
std::vector<std::string> revoke(const std::string& name, const Grantee& from, const std::string& root = {});

/// Changes the quota; 0 takes it away. Advisory: see Quota. Pools that are there stay as they are.
/// Crash: the old one or the new one.
/// Errors: not_found, permission_denied for who does not own the namespace.
void set_quota(const std::string& name, std::uint64_t limit_bytes, const std::string& root = {});

/// Where a pool lies that is named as PMEM::mmap() takes it: `NAME:` is the pool shared.pmem in the namespace NAME, `NAME:x` its
/// pool x.pmem. Everything else is a path and comes back as it is: what has a `/`, no colon, or in front of the colon what is no
/// name of a namespace. A file that is called `a:` is `./a:`.
/// Errors: not_found for a namespace that does not exist; permission_denied when this process may not open the pool by `mode`, with
///     the name of whom to ask; invalid_argument for a name that no pool can have, and without a root.
std::string resolve_pool(const std::string& path, Mode mode = Mode::read, const std::string& root = {});

}  // namespace pmemcpy
