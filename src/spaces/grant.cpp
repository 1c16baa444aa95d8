#include <pmemcpy/namespaces.hpp>

#include "os/process.hpp"
#include "os/user.hpp"
#include "spaces/cover.hpp"
#include "spaces/name.hpp"
#include "spaces/space.hpp"

#include <pmemcpy/error.hpp>

namespace pmemcpy {

namespace {

using namespace spaces;
using os::Acl;
using Who = os::AclEntry::Who;

constexpr unsigned to_read = os::may_read | os::may_enter;
constexpr unsigned to_write = to_read | os::may_write;

struct Somebody {
    Who who;
    unsigned id;
};

std::string described(const Grantee& to) {
    return (to.kind == Grantee::user ? "user '" : "group '") + to.name + "'";
}

Somebody find(const Grantee& to) {
    const auto id = to.kind == Grantee::user ? os::user_named(to.name) : os::group_named(to.name);
    if (!id) throw Error(Code::not_found, "this machine knows no " + described(to));
    return {to.kind == Grantee::user ? Who::user : Who::group, *id};
}

// The owner decides. Others may do again for their own files what he has decided.
bool is_decider(const os::File& space) { return os::user_id() == 0 || os::user_id() == space.owner(); }

}  // namespace

std::vector<std::string> grant(const std::string& name, const Grantee& to, Permission permission,
                               const std::string& root_path) {
    const os::File root = open_root(root_path);
    const os::File space = open_space(root, name);
    const Somebody named = find(to);
    const unsigned bits = permission == Permission::write ? to_write : to_read;
    if (named.who == Who::user && named.id == space.owner()) {
        throw Error(Code::invalid_argument,
                    "the namespace '" + name + "' belongs to " + described(to) + ", who needs no grant");
    }
    Acl gate = access_of(space);
    if (!is_decider(space) && gate.bits_of(named.who, named.id) != bits)
        check_owner(space, name, "let others in");
    gate.set(named.who, named.id, bits);
    gate.widen_mask();
    // The gate is opened last: nobody gets in who would find only some of the pools open. What is made from now on has the pattern.
    const Acl pattern = pattern_of(space, gate);
    if (is_decider(space)) os::set_default_acl(space, pattern);
    const Covered covered = cover_pools(space, pattern);
    if (is_decider(space)) os::set_acl(space, gate);
    return covered.left;
}

std::vector<std::string> revoke(const std::string& name, const Grantee& from, const std::string& root_path) {
    const os::File root = open_root(root_path);
    const os::File space = open_space(root, name);
    const Somebody named = find(from);
    Acl gate = access_of(space);
    const bool was_in = gate.bits_of(named.who, named.id).has_value();
    if (!is_decider(space) && was_in) check_owner(space, name, "shut others out");
    gate.remove(named.who, named.id);
    gate.widen_mask();
    const Acl pattern = pattern_of(space, gate);
    const bool was_in_pattern = os::default_acl_of(space) != pattern;
    if (is_decider(space)) {
        os::set_acl(space, gate);  // first: what follows is for who finds another way to a file
        os::set_default_acl(space, pattern);
    }
    const Covered covered = cover_pools(space, pattern);
    if (!was_in && !was_in_pattern && !covered.changed)
        throw Error(Code::not_found, described(from) + " was not let into the namespace '" + name + "'");
    return covered.left;
}

}  // namespace pmemcpy
