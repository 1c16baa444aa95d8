#include "pmem/sides.hpp"

#include <algorithm>
#include <iterator>
#include <pmemcpy/error.hpp>
#include <pmemcpy/groups.hpp>
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
    std::vector<std::pair<std::uint64_t, std::string>> by_age;
    for (const std::string& name : members(pool, group)) {
        try {
            by_age.emplace_back(pool.creation(prefix + name).created_ns, name);
        } catch (const Error& error) {
            if (error.kind() != Code::not_found) throw;
        }
    }
    std::sort(by_age.begin(), by_age.end());
    std::vector<std::string> erased;
    for (std::size_t i = 0; i + count < by_age.size(); ++i) {
        erase_all(pool, prefix + by_age[i].second);
        erased.push_back(std::move(by_age[i].second));
    }
    return erased;
}

}  // namespace pmemcpy
