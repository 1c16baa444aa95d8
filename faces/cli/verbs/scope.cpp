#include <fmt/core.h>

#include <memory>
#include <pmemcpy/scope.hpp>
#include <vector>

#include "cli/call/exit_code.hpp"
#include "cli/call/invocation.hpp"
#include "cli/element/element.hpp"
#include "cli/pool/describe.hpp"
#include "cli/pool/open.hpp"
#include "cli/terminal/table.hpp"

namespace pmemcpy::cli {

namespace {

struct Arguments {
    std::string pool;
    std::string id;
    std::string scope;
};

int scope(const Arguments& arguments, bool json) {
    if (!arguments.scope.empty()) {
        PMEM pmem = open_for_writing(arguments.pool);
        set_scope(pmem, arguments.id, parse_scope(arguments.scope));
        return exit_ok;
    }
    const PMEM pmem = open_for_reading(arguments.pool);
    const std::vector<std::string> ids =
        arguments.id.empty() ? pmem.ids() : std::vector<std::string>{arguments.id};
    nlohmann::ordered_json all = nlohmann::ordered_json::object();
    Table table({{"scope"}, {"name"}});
    for (const std::string& id : ids) {
        const char* its = name_of(scope_of(pmem, id));
        if (json) {
            all[id] = its;
        } else {
            table.add({its, id});
        }
    }
    if (json) {
        fmt::print("{}\n", dump(all));
    } else if (!table.empty()) {
        fmt::print("{}", table.text());
    }
    return exit_ok;
}

struct Shared {
    std::string pool;
    std::string query;
    bool takes_back = false;
};

int share(const Shared& arguments, bool json) {
    PMEM pmem = open_for_writing(arguments.pool);
    const Scope scope = arguments.takes_back ? Scope::own : Scope::shared;
    const std::uint64_t moved = pmemcpy::share(pmem, arguments.query, scope);
    if (json) {
        fmt::print("{}\n", dump({{"moved", moved}, {"scope", name_of(scope)}}));
    } else {
        fmt::print("{} {} now {}\n", moved, moved == 1 ? "variable is" : "variables are", name_of(scope));
    }
    return exit_ok;
}

}  // namespace

void add_scope(CLI::App& command, Invocation& invocation) {
    const auto arguments = std::make_shared<Arguments>();
    Verb(command, invocation, "scope",
         "Show or say who sees a variable or group: whoever may read the pool, or you")
        .needs("POOL", arguments->pool, "The pool")
        .takes("ID", arguments->id,
               "A variable, or a group with all that is in it (default: show all variables)")
        .takes("SCOPE", arguments->scope, "From now on: `shared` or `private`")
        .takes_json()
        .tells(
            "What is private lies in POOL.private-UID, which nobody but you can open. When something becomes "
            "private, all of it is "
            "wiped from the pool's files; for that the pool wipes whatever is erased from then on. The first "
            "time nobody else may "
            "have it open for writing.\n")
        .runs([arguments](bool json) { return scope(*arguments, json); });
}

void add_share(CLI::App& command, Invocation& invocation) {
    const auto arguments = std::make_shared<Shared>();
    Verb(command, invocation, "share", "Let others see, or no more, all variables that a query finds")
        .needs("POOL", arguments->pool, "The pool")
        .needs("QUERY", arguments->query, "Such as 'run.author = \"li\"': see find")
        .takes("--private", arguments->takes_back, "Take them back instead: nobody but you sees them")
        .takes_json()
        .runs([arguments](bool json) { return share(*arguments, json); });
}

}  // namespace pmemcpy::cli
