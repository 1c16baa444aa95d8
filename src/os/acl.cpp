#include <cerrno>
#include <memory>
#include <string>

#include <acl/libacl.h>
#include <sys/acl.h>

#include "os/access.hpp"
#include "os/calls.hpp"
#include "os/failure.hpp"

namespace pmemcpy::os {

namespace {

using Who = AclEntry::Who;

struct Free {
    void operator()(void* acl) const { ::acl_free(acl); }
};
using Held = std::unique_ptr<void, Free>;

// libacl knows default lists by path only; and a descriptor of O_PATH has no other way.
std::string path_to(const File& file) { return "/proc/self/fd/" + std::to_string(file.fd()); }

std::optional<Who> who_of(acl_tag_t tag) {
    switch (tag) {
        case ACL_USER_OBJ:
            return Who::owner;
        case ACL_USER:
            return Who::user;
        case ACL_GROUP_OBJ:
            return Who::owning_group;
        case ACL_GROUP:
            return Who::group;
        case ACL_MASK:
            return Who::mask;
        case ACL_OTHER:
            return Who::other;
        default:
            return std::nullopt;
    }
}

acl_tag_t tag_of(Who who) {
    switch (who) {
        case Who::owner:
            return ACL_USER_OBJ;
        case Who::user:
            return ACL_USER;
        case Who::owning_group:
            return ACL_GROUP_OBJ;
        case Who::group:
            return ACL_GROUP;
        case Who::mask:
            return ACL_MASK;
        case Who::other:
            return ACL_OTHER;
    }
    return ACL_UNDEFINED_TAG;
}

Acl read(void* held) {
    auto* acl = static_cast<acl_t>(held);
    std::vector<AclEntry> entries;
    acl_entry_t at = nullptr;
    for (int which = ACL_FIRST_ENTRY; ::acl_get_entry(acl, which, &at) == 1; which = ACL_NEXT_ENTRY) {
        acl_tag_t tag = ACL_UNDEFINED_TAG;
        acl_permset_t permissions = nullptr;
        if (::acl_get_tag_type(at, &tag) != 0 || ::acl_get_permset(at, &permissions) != 0) continue;
        const auto who = who_of(tag);
        if (!who) continue;
        AclEntry entry{*who};
        if (*who == Who::user || *who == Who::group) {
            const std::unique_ptr<void, Free> id(::acl_get_qualifier(at));
            if (!id) continue;
            entry.id = *static_cast<const unsigned*>(id.get());
        }
        if (::acl_get_perm(permissions, ACL_READ) == 1) entry.bits |= may_read;
        if (::acl_get_perm(permissions, ACL_WRITE) == 1) entry.bits |= may_write;
        if (::acl_get_perm(permissions, ACL_EXECUTE) == 1) entry.bits |= may_enter;
        entries.push_back(entry);
    }
    return Acl(std::move(entries));
}

Acl acl_of_bits(unsigned bits) {
    return Acl(
        {{Who::owner, 0, bits >> 6 & 7}, {Who::owning_group, 0, bits >> 3 & 7}, {Who::other, 0, bits & 7}});
}

bool add(acl_t& acl, const AclEntry& entry) {
    acl_entry_t at = nullptr;
    acl_permset_t permissions = nullptr;
    if (::acl_create_entry(&acl, &at) != 0 || ::acl_set_tag_type(at, tag_of(entry.who)) != 0) return false;
    if ((entry.who == Who::user || entry.who == Who::group) && ::acl_set_qualifier(at, &entry.id) != 0)
        return false;
    if (::acl_get_permset(at, &permissions) != 0) return false;
    const auto allow = [&](unsigned bit, acl_perm_t permission) {
        return (entry.bits & bit) == 0 || ::acl_add_perm(permissions, permission) == 0;
    };
    return allow(may_read, ACL_READ) && allow(may_write, ACL_WRITE) && allow(may_enter, ACL_EXECUTE);
}

Held written(const File& file, const Acl& acl) {
    acl_t made = ::acl_init(static_cast<int>(acl.entries().size()));
    bool is_whole = made != nullptr;
    for (const AclEntry& entry : acl.entries()) is_whole = is_whole && add(made, entry);
    Held held(made);
    if (!is_whole) throw_failure("make an access control list for", file.path(), errno);
    return held;
}

[[noreturn]] void throw_refused(const File& file, int error) {
    if (error == EOPNOTSUPP) {
        throw Error(Code::unsupported,
                    "cannot let other users into '" + file.path() +
                        "': its file system keeps no access control lists; use tmpfs, ext4 or xfs (not "
                        "mounted with noacl)");
    }
    throw_failure("set the access control list of", file.path(), error);
}

}  // namespace

// Most files have none, and their bits say it all: libacl would make a list of them entry by entry.
std::optional<Acl> acl_of(const File& file) {
    if (calls().acl_extended_fd(file.fd()) == 0) return acl_of_bits(file.mode_bits());
    Held held(calls().acl_get_fd(file.fd()));
    if (!held && errno == EBADF) held.reset(calls().acl_get_file(path_to(file).c_str(), ACL_TYPE_ACCESS));
    if (!held) return std::nullopt;
    return read(held.get());
}

std::optional<Acl> default_acl_of(const File& directory) {
    const Held held(calls().acl_get_file(path_to(directory).c_str(), ACL_TYPE_DEFAULT));
    if (!held) return std::nullopt;
    return read(held.get());
}

void set_acl(const File& file, const Acl& acl) {
    const Held held = written(file, acl);
    if (calls().acl_set_fd(file.fd(), held.get()) == 0) return;
    if (errno == EBADF && calls().acl_set_file(path_to(file).c_str(), ACL_TYPE_ACCESS, held.get()) == 0)
        return;
    throw_refused(file, errno);
}

void set_default_acl(const File& directory, const Acl& acl) {
    const Held held = written(directory, acl);
    if (calls().acl_set_file(path_to(directory).c_str(), ACL_TYPE_DEFAULT, held.get()) != 0)
        throw_refused(directory, errno);
}

}  // namespace pmemcpy::os
