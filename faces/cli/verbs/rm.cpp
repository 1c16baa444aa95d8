#include <fmt/core.h>

#include <cstdio>
#include <memory>

#include "cli/call/exit_code.hpp"
#include "cli/call/invocation.hpp"
#include "cli/element/element.hpp"
#include "cli/pool/names.hpp"
#include "cli/pool/open.hpp"
#include "cli/terminal/note.hpp"
#include "cli/terminal/printable.hpp"

namespace pmemcpy::cli {

namespace {

struct Arguments {
    std::string pool;
    std::vector<std::string> words;
    bool recursive = false;
    bool dry_run = false;
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

/// All that is in a group, what is innermost first, and the group; a variable is itself.
std::vector<std::string> with_contents(const PMEM& pmem, const std::string& id) {
    const std::string inside = id + "/";
    std::vector<std::string> all = pmem.ids(inside);
    std::vector<std::string> groups = pmem.groups(inside);
    all.insert(all.end(), groups.rbegin(), groups.rend());  // sorted, so the innermost come last
    all.push_back(id);
    return all;
}

/// What would be erased, all that is asked for before anything is.
std::vector<std::string> doomed(const PMEM& pmem, const Arguments& arguments) {
    std::vector<std::string> ids = named(pmem, arguments.words, arguments.recursive);
    if (!arguments.recursive) return ids;
    std::vector<std::string> all;
    for (const std::string& id : outermost(ids)) {
        const std::vector<std::string> contents = with_contents(pmem, id);
        all.insert(all.end(), contents.begin(), contents.end());
    }
    return all;
}

int list_doomed(const Arguments& arguments, bool json) {
    const std::vector<std::string> ids = doomed(open_for_reading(arguments.pool), arguments);
    if (json) {
        fmt::print("{}\n", dump({{"would_erase", ids}}));
    } else {
        for (const std::string& id : ids) fmt::print("{}\n", printable(id));
    }
    return exit_ok;
}

int rm(const Arguments& arguments, bool json) {
    if (arguments.dry_run) return list_doomed(arguments, json);
    PMEM pmem = open_for_writing(arguments.pool);
    std::vector<std::string> erased;
    const auto report = [&] {
        if (json) fmt::print("{}\n", dump({{"erased", erased}}));
    };
    try {
        for (const std::string& id : doomed(pmem, arguments)) {
            if (erase_if_there(pmem, id)) erased.push_back(id);
        }
    } catch (...) {
        report();  // what was erased before the error stays erased
        throw;
    }
    report();
    if (!json && !erased.empty()) {
        write_note("free for what is stored next; pmemcpy trim " + arguments.pool +
                   " gives it back to the file system\n");
    }
    return exit_ok;
}

}  // namespace

void add_rm(CLI::App& command, Invocation& invocation) {
    const auto arguments = std::make_shared<Arguments>();
    Verb(command, invocation, "rm", "Erase variables and groups")
        .needs("POOL", arguments->pool, "The pool")
        .needs("ID", arguments->words,
               "What to erase: ids, or globs as of ls, which match variables, and with -r groups too. "
               "Nothing is erased if "
               "one of them is not there")
        .takes("-r,--recursive", arguments->recursive, "Groups with everything in them")
        .takes("-n,--dry-run", arguments->dry_run, "Only list what would be erased")
        .takes_json()
        .tells(
            "What is erased is free space of the pool at once, for what is stored next. The file keeps it: "
            "df and du "
            "show no difference until pmemcpy trim gives it back to the file system.\n")
        .runs([arguments](bool json) { return rm(*arguments, json); });
}

}  // namespace pmemcpy::cli
