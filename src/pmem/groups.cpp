#include "pmem/sides.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <pmemcpy/error.hpp>
#include <pmemcpy/groups.hpp>
#include <tuple>
#include <utility>

namespace pmemcpy {

namespace {

// Another may have erased it just now.
bool erase_if_there(PMEM& pool, const std::string& id) {
    try {
        pool.erase(id);
        return true;
    } catch (const Error& error) {
        if (error.kind() != Code::not_found) throw;
        return false;
    }
}

/// A member of a group as it was seen: another that was made under its name since is not erased for it.
struct MemberSeen {
    std::uint64_t created_ns;
    std::string id;
    Oid oid;
};

// Nothing if it has gone meanwhile.
std::optional<MemberSeen> seen_now(const PMEM& pool, const std::string& id) {
    try {
        for (Oid oid = pool.oid(id);;) {
            const std::uint64_t created_ns = pool.creation(id).created_ns;
            const Oid still = pool.oid(id);
            if (still == oid) return MemberSeen{created_ns, id, oid};
            oid = still;
        }
    } catch (const Error& error) {
        if (error.kind() != Code::not_found) throw;
        return std::nullopt;
    }
}

// A group may be on both sides, and the one that was seen on one of them. It goes from both, or stays on both.
bool erase_if_same(PMEM& pool, const MemberSeen& member) {
    pmem::Sides& sides = pmem::Sides::of(pool);
    const auto side = sides.of(member.id);
    const auto other = side == sides.shared() ? sides.own_store() : sides.shared();
    if (!other || side->is_group(member.id) != true || other->is_group(member.id) != true)
        return side->erase_if(member.id, member.oid);
    const auto now = seen_now(pool, member.id);
    return now && now->oid == member.oid && erase_if_there(pool, member.id);
}

// What is in a group was there before the look that finds the group itself the same: it is this one's.
bool erase_member(PMEM& pool, const MemberSeen& member) {
    std::vector<MemberSeen> inside;
    const auto look = [&](const std::vector<std::string>& ids) {
        for (auto id = ids.rbegin(); id != ids.rend(); ++id) {
            if (auto seen = seen_now(pool, *id)) inside.push_back(std::move(*seen));
        }
    };
    look(pool.ids(member.id + "/"));
    look(pool.groups(member.id + "/"));  // each behind those in it
    const auto now = seen_now(pool, member.id);
    if (!now || now->oid != member.oid) return false;
    for (const MemberSeen& each : inside) erase_if_same(pool, each);
    return erase_if_same(pool, member);
}

}  // namespace

std::vector<std::string> members(const PMEM& pool, std::string_view group) {
    std::vector<std::string> all;
    for (const auto& side : pmem::Sides::seen_by(pool)) {
        std::vector<std::string> more = side->members(group);
        if (all.empty()) {
            all.swap(more);
            continue;
        }
        std::vector<std::string> merged;
        std::set_union(all.begin(), all.end(), more.begin(), more.end(), std::back_inserter(merged));
        all.swap(merged);
    }
    return all;
}

std::size_t count_members(const PMEM& pool, std::string_view group) {
    const auto sides = pmem::Sides::seen_by(pool);
    return sides.size() == 1 ? sides.front()->count_members(group) : members(pool, group).size();
}

std::uint64_t erase_all(PMEM& pool, std::string_view id) {
    const std::string name(id);
    if (pool.info(name).kind != VariableKind::group) {
        pool.erase(name);
        return 1;
    }
    std::uint64_t erased = 0;
    for (const std::string& variable : pool.ids(name + "/"))
        erased += erase_if_there(pool, variable) ? 1U : 0U;
    std::vector<std::string> groups = pool.groups(name + "/");
    groups.insert(groups.begin(), name);  // before those in it, each of which comes before those in it
    for (auto group = groups.rbegin(); group != groups.rend(); ++group)
        erased += erase_if_there(pool, *group) ? 1U : 0U;
    return erased;
}

std::vector<std::string> keep_newest(PMEM& pool, std::string_view group, std::size_t count) {
    const bool is_pool = group == "/";
    const std::string prefix = is_pool ? "" : std::string(group) + "/";
    if (!is_pool && pool.info(group).kind != VariableKind::group)
        throw Error(Code::type_mismatch,
                    "'" + std::string(group) + "' is no group, so nothing in it is kept");
    std::vector<MemberSeen> by_age;
    for (const std::string& name : members(pool, group)) {
        if (auto seen = seen_now(pool, prefix + name)) by_age.push_back(std::move(*seen));
    }
    std::sort(by_age.begin(), by_age.end(), [](const MemberSeen& a, const MemberSeen& b) {
        return std::tie(a.created_ns, a.id) < std::tie(b.created_ns, b.id);
    });
    std::vector<std::string> erased;
    for (std::size_t i = 0; i + count < by_age.size(); ++i) {
        if (erase_member(pool, by_age[i])) erased.push_back(by_age[i].id.substr(prefix.size()));
    }
    return erased;
}

}  // namespace pmemcpy
