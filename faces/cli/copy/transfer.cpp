#include "cli/copy/transfer.hpp"

#include <fmt/core.h>
#include <pmemcpy/copy.hpp>

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>

namespace pmemcpy::cli {

namespace {

constexpr const char* pool_id = "/";  // whose attributes are the pool's

std::string last_component(const std::string& id) { return id.substr(id.rfind('/') + 1); }

/// The new id of what has the id `from`: the same, one in a group, or the one that was given.
std::string new_id(const std::string& from, const std::string& to) {
    if (to.empty()) return from;
    return to.back() == '/' ? to + last_component(from) : to;
}

void add_all(std::vector<Transfer>& transfers, PMEM& source, const std::vector<std::string>& ids,
             std::size_t cut, const std::string& prefix) {
    for (const std::string& id : ids) {
        try {
            transfers.push_back({&source, source.info(id), prefix + id.substr(cut)});
        } catch (const Error& error) {
            if (error.kind() != Code::not_found) throw;  // erased since it was listed
        }
    }
}

}  // namespace

PMEM& Pools::at(const std::string& path) {
    std::error_code ignored;
    std::string key = std::filesystem::weakly_canonical(path, ignored);
    if (key.empty()) key = path;
    std::unique_ptr<PMEM>& pool = pools_[key];
    if (!pool) pool = std::make_unique<PMEM>(open_(path));
    return *pool;
}

std::vector<Transfer> plan(PMEM& source, const Place& from, const std::string& to) {
    std::string id = from.id;
    if (!id.empty() && id.back() == '/') id.pop_back();
    std::string inside;  // what the ids begin with that are transferred
    std::string prefix;  // and what takes the place of that
    if (id.empty()) {
        if (!to.empty() && to.back() != '/') {
            throw Error(
                Code::invalid_argument,
                fmt::format("all that is in {} cannot have the one name {}; write {}/ to put it into a group",
                            from.pool, to, to));
        }
        prefix = to;
    } else {
        const Info info = source.info(id);
        if (info.kind != VariableKind::group) return {{&source, info, new_id(id, to)}};
        inside = id + "/";
        prefix = new_id(id, to) + "/";
    }
    std::vector<Transfer> transfers;
    add_all(transfers, source, source.ids(inside), inside.size(), prefix);
    std::vector<std::string> groups = source.groups(inside);
    std::reverse(groups.begin(), groups.end());
    add_all(transfers, source, groups, inside.size(), prefix);
    if (id.empty() && to.empty() && source.exists(pool_id))
        transfers.push_back({&source, source.info(pool_id), pool_id});
    if (!id.empty()) transfers.push_back({&source, source.info(id), prefix.substr(0, prefix.size() - 1)});
    return transfers;
}

std::uint64_t bytes_of(const std::vector<Transfer>& transfers) {
    std::uint64_t bytes = 0;
    for (const Transfer& transfer : transfers) bytes += transfer.info.stored_bytes;
    return bytes;
}

void copy_groups(const std::vector<Transfer>& transfers, PMEM& target, bool force) {
    for (auto each = transfers.rbegin(); each != transfers.rend(); ++each) {
        if (each->info.kind != VariableKind::group) continue;
        if (each->to == pool_id) {
            copy_attributes(*each->source, each->info.id, target, each->to, force);
        } else {
            copy_group(*each->source, each->info.id, target, each->to, force);
        }
    }
}

void check(const std::vector<Transfer>& transfers, const PMEM& target, bool force) {
    std::set<std::string> names;
    for (const Transfer& transfer : transfers) {
        const bool is_group = transfer.info.kind == VariableKind::group;
        if (transfer.source == &target && transfer.info.id == transfer.to)
            throw Error(Code::invalid_argument, fmt::format("{} would become itself", transfer.to));
        if (!names.insert(transfer.to).second && !is_group)
            throw Error(Code::invalid_argument, fmt::format("two variables would become {}", transfer.to));
        if (!target.exists(transfer.to)) continue;
        const bool meets_group = target.info(transfer.to).kind == VariableKind::group;
        if (meets_group == is_group && (is_group || force)) continue;
        const std::string advice = meets_group
                                       ? fmt::format("it is a group; {}/ puts it in there", transfer.to)
                                   : is_group ? "it is no group; erase it first"
                                              : "--force replaces it";
        throw Error(Code::already_exists,
                    fmt::format("{} is in {} already: {}", transfer.to, target.info().path, advice));
    }
}

}  // namespace pmemcpy::cli
