#include <fmt/core.h>

#include <cstdio>
#include <memory>

#include "element.hpp"
#include "exit_code.hpp"
#include "invocation.hpp"
#include "open.hpp"

namespace pmemcpy::cli {

namespace {

struct Arguments {
    std::string pool;
    std::vector<std::string> ids;
    bool recursive = false;
};

/// Erases what may be gone already; true if it was there.
bool erase_if_there(PMEM& pmem, const std::string& id) {
    try {
        pmem.erase(id);
        return true;
    } catch (const Error& error) {
        if (error.kind() != Code::not_found) throw;
        return false;
    }
}

void erase_all(PMEM& pmem, const std::string& id, std::vector<std::string>& erased) {
    const std::size_t before = erased.size();
    const std::string inside = id + "/";
    for (const std::string& inner : pmem.ids(inside)) {
        if (erase_if_there(pmem, inner)) erased.push_back(inner);
    }
    std::vector<std::string> groups = pmem.groups(inside);
    while (!groups.empty()) {  // sorted, so the innermost come last
        if (erase_if_there(pmem, groups.back())) erased.push_back(groups.back());
        groups.pop_back();
    }
    if (erase_if_there(pmem, id)) {
        erased.push_back(id);
    } else if (erased.size() == before) {
        throw Error(Code::not_found,
                    fmt::format("rm {}: there is no variable and no group of that name", id));
    }
}

int rm(const Arguments& arguments, bool json) {
    PMEM pmem = open_for_writing(arguments.pool);
    std::vector<std::string> erased;
    const auto report = [&] {
        if (json) fmt::print("{}\n", dump({{"erased", erased}}));
    };
    try {
        for (const std::string& id : arguments.ids) {
            if (arguments.recursive) {
                erase_all(pmem, id, erased);
            } else {
                pmem.erase(id);
                erased.push_back(id);
            }
        }
    } catch (...) {
        report();  // what was erased before the error stays erased
        throw;
    }
    report();
    return exit_ok;
}

}  // namespace

void add_rm(CLI::App& command, Invocation& invocation) {
    const auto arguments = std::make_shared<Arguments>();
    Verb(command, invocation, "rm", "Erase variables and groups")
        .needs("POOL", arguments->pool, "The pool")
        .needs("ID", arguments->ids, "What to erase; stops at the first that is not there")
        .takes("-r,--recursive", arguments->recursive, "Groups with everything in them")
        .takes_json()
        .runs([arguments](bool json) { return rm(*arguments, json); });
}

}  // namespace pmemcpy::cli
