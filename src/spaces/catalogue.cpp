#include <pmemcpy/namespaces.hpp>

#include "os/access.hpp"
#include "os/directory.hpp"
#include "os/user.hpp"
#include "spaces/marker.hpp"
#include "spaces/name.hpp"
#include "spaces/space.hpp"

#include <pmemcpy/error.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>

namespace pmemcpy {

namespace {

using namespace spaces;
using Who = os::AclEntry::Who;

std::vector<Grant> grants_of(const os::File& space) {
    std::vector<Grant> grants;
    const auto acl = os::acl_of(space);
    if (!acl) return grants;
    for (const os::AclEntry& entry : acl->entries()) {
        const unsigned bits = acl->effective_bits(entry);
        if ((entry.who != Who::user && entry.who != Who::group) || bits == 0) continue;
        const Grantee to = entry.who == Who::user ? Grantee{Grantee::user, os::name_of_user(entry.id)}
                                                  : Grantee{Grantee::group, os::name_of_group(entry.id)};
        grants.push_back({to, (bits & os::may_write) != 0 ? Permission::write : Permission::read});
    }
    return grants;
}

std::uint64_t sum_of(const std::vector<NamespacePool>& pools) {
    std::uint64_t sum = 0;
    for (const NamespacePool& pool : pools) sum += std::min(pool.max_bytes, UINT64_MAX - sum);
    return sum;
}

// What whoever may look at the root can know. Nothing, if there is no directory of this name.
std::optional<Namespace> seen_from_outside(const os::File& root, const std::string& name) {
    const auto there = os::look_in(root, name);
    if (!there || there->what != os::Named::directory) return std::nullopt;
    // By O_PATH: its list can be read by who may not open it.
    const auto space = os::File::open_in(root, name, O_PATH | O_DIRECTORY);
    if (!space) return std::nullopt;
    Namespace known{name, root.path() + "/" + name, os::name_of_user(there->owner), {}, {}, {}, {}};
    if (os::may_in(root, name, R_OK | X_OK)) known.access = Permission::read;
    if (os::may_in(root, name, R_OK | W_OK | X_OK)) known.access = Permission::write;
    known.grants = grants_of(*space);
    return known;
}

// False, if it is a directory and no namespace.
bool look_inside(const os::File& root, Namespace& known) {
    const auto space = os::File::open_in(root, known.name, O_RDONLY | O_DIRECTORY);
    if (!space || !os::look_in(*space, marker_name)) return false;
    known.pools = pools_in(*space);
    known.quota = {read_marker(*space).quota_bytes, sum_of(known.pools)};
    return true;
}

}  // namespace

std::vector<Namespace> namespaces(const std::string& root_path) {
    const os::File root = open_root(root_path);
    std::vector<std::string> names = os::names_in(root);
    std::sort(names.begin(), names.end());
    std::vector<Namespace> all;
    for (const std::string& name : names) {
        if (!is_name(name)) continue;
        auto known = seen_from_outside(root, name);
        if (!known) continue;
        try {
            if (known->access && !look_inside(root, *known)) continue;
        } catch (const Error&) {
            // Damaged, or closed meanwhile, by its owner: what is known is told, and the others all the same.
            known->access.reset();
        }
        all.push_back(std::move(*known));
    }
    return all;
}

Namespace namespace_info(const std::string& name, const std::string& root_path) {
    const os::File root = open_root(root_path);
    look_at_space(root, name);
    auto known = seen_from_outside(root, name);
    if (!known) throw Error(Code::not_found, "the namespace '" + name + "' was dropped meanwhile");
    if (known->access && !look_inside(root, *known)) open_space(root, name);  // tells what it is
    return std::move(*known);
}

void set_quota(const std::string& name, std::uint64_t limit_bytes, const std::string& root_path) {
    const os::File root = open_root(root_path);
    const os::File space = open_space(root, name);
    check_owner(space, name, "set its quota");
    write_marker(space, {limit_bytes});
}

}  // namespace pmemcpy
