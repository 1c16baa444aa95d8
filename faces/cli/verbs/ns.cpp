#include <fmt/core.h>

#include <cstdio>
#include <memory>
#include <pmemcpy/namespaces.hpp>

#include "cli/call/exit_code.hpp"
#include "cli/call/invocation.hpp"
#include "cli/element/element.hpp"
#include "cli/terminal/note.hpp"
#include "cli/terminal/printable.hpp"
#include "cli/terminal/size.hpp"
#include "cli/terminal/table.hpp"

namespace pmemcpy::cli {

namespace {

using Json = nlohmann::ordered_json;

struct Arguments {
    std::string action;
    std::string name;
    std::string size;
    std::string root;
    std::optional<std::string> user;
    std::optional<std::string> group;
    bool read = false;
    bool write = false;
    bool force = false;
};

const char* name_of(Permission permission) { return permission == Permission::write ? "write" : "read"; }
const char* name_of(Grantee::Kind kind) { return kind == Grantee::user ? "user" : "group"; }

Json to_json(const Grant& grant) {
    return {{name_of(grant.to.kind), grant.to.name}, {"permission", name_of(grant.permission)}};
}

Json to_json(const Namespace& space) {
    Json json = {{"namespace", space.name}, {"path", space.path}, {"owner", space.owner}};
    json["access"] = space.access ? Json(name_of(*space.access)) : Json(nullptr);
    json["grants"] = Json::array();
    for (const Grant& grant : space.grants) json["grants"].push_back(to_json(grant));
    if (!space.access) return json;
    json["pools"] = Json::array();
    for (const NamespacePool& pool : space.pools) {
        json["pools"].push_back(
            {{"pool", pool.name}, {"path", pool.path}, {"owner", pool.owner}, {"max_bytes", pool.max_bytes}});
    }
    json["used_bytes"] = space.quota.used_bytes;
    json["quota_bytes"] = space.quota.limit_bytes;
    return json;
}

std::string quota_text(const Namespace& space) {
    if (!space.access) return "-";
    return space.quota.limit_bytes == 0 ? "none" : human_size(space.quota.limit_bytes);
}

std::string grants_text(const Namespace& space) {
    std::string text;
    for (const Grant& grant : space.grants) {
        text += fmt::format("{}{} {} {}", text.empty() ? "" : ", ", name_of(grant.to.kind), grant.to.name,
                            name_of(grant.permission));
    }
    return text.empty() ? "nobody" : text;
}

void print_spaces(const std::vector<Namespace>& spaces) {
    Table table({{"namespace"},
                 {"owner"},
                 {"you may"},
                 {"pools", Table::Align::right},
                 {"grow to", Table::Align::right},
                 {"quota", Table::Align::right},
                 {"shared with"}});
    for (const Namespace& space : spaces) {
        table.add({space.name, space.owner, space.access ? name_of(*space.access) : "-",
                   space.access ? std::to_string(space.pools.size()) : "-",
                   space.access ? human_size(space.quota.used_bytes) : "-", quota_text(space),
                   grants_text(space)});
    }
    if (!table.empty()) fmt::print("{}", table.text());
}

void print_space(const Namespace& space) {
    Table table({{}, {}});
    table.add({"namespace", space.name});
    table.add({"path", space.path});
    table.add({"owner", space.owner});
    table.add({"you may", space.access ? name_of(*space.access) : "not look into it"});
    table.add({"shared with", grants_text(space)});
    if (space.access) {
        table.add({"quota", quota_text(space) + " (advisory)"});
        table.add({"pools grow to", human_size(space.quota.used_bytes)});
    }
    fmt::print("{}", table.text());
    if (space.pools.empty()) return;
    Table pools({{}, {}, {{}, Table::Align::right}});
    for (const NamespacePool& pool : space.pools)
        pools.add({space.name + ":" + pool.name, pool.owner, human_size(pool.max_bytes)});
    fmt::print("pools\n{}", pools.text(2));
}

int list(const Arguments& arguments, bool json) {
    if (!arguments.name.empty()) {
        const Namespace space = namespace_info(arguments.name, arguments.root);
        if (json) {
            fmt::print("{}\n", dump(to_json(space)));
        } else {
            print_space(space);
        }
        return exit_ok;
    }
    const std::vector<Namespace> spaces = namespaces(arguments.root);
    if (json) {
        Json all = Json::array();
        for (const Namespace& space : spaces) all.push_back(to_json(space));
        fmt::print("{}\n", dump(all));
    } else {
        print_spaces(spaces);
    }
    return exit_ok;
}

Grantee grantee_of(const Arguments& arguments) {
    if (arguments.user.has_value() == arguments.group.has_value()) {
        throw Error(Code::invalid_argument,
                    fmt::format("ns {} wants one of --user USER and --group GROUP", arguments.action));
    }
    return arguments.user ? Grantee{Grantee::user, *arguments.user}
                          : Grantee{Grantee::group, *arguments.group};
}

void report(const std::vector<std::string>& left, const Arguments& arguments, bool json) {
    if (json) {
        fmt::print("{}\n", dump({{"namespace", arguments.name}, {"left", left}}));
    }
    if (left.empty()) return;
    note("these stay as they were, because they belong to other users or have another name too:");
    for (const std::string& path : left) write_note("  " + printable(path) + "\n");
    write_note("Their owners can run the same command for them.\n");
}

int give(const Arguments& arguments, bool json) {
    const Grantee to = grantee_of(arguments);
    if (arguments.read == arguments.write)
        throw Error(Code::invalid_argument, "ns grant wants one of --read and --write, which is to read too");
    const Permission permission = arguments.write ? Permission::write : Permission::read;
    report(grant(arguments.name, to, permission, arguments.root), arguments, json);
    return exit_ok;
}

int take(const Arguments& arguments, bool json) {
    report(revoke(arguments.name, grantee_of(arguments), arguments.root), arguments, json);
    return exit_ok;
}

int quota(const Arguments& arguments, bool json) {
    if (!arguments.size.empty()) {
        const std::uint64_t bytes = arguments.size == "none" ? 0 : parse_size(arguments.size);
        set_quota(arguments.name, bytes, arguments.root);
    }
    const Namespace space = namespace_info(arguments.name, arguments.root);
    if (!space.access) {
        throw Error(Code::permission_denied, "the quota of '" + space.name + "' is known to those that " +
                                                 space.owner + " has let in");
    }
    if (json) {
        fmt::print("{}\n", dump({{"namespace", space.name},
                                 {"quota_bytes", space.quota.limit_bytes},
                                 {"used_bytes", space.quota.used_bytes}}));
    } else {
        fmt::print("{}: its pools may grow to {} together, quota {} (advisory)\n", space.name,
                   human_size(space.quota.used_bytes), quota_text(space));
    }
    return exit_ok;
}

int create(const Arguments& arguments, bool json) {
    create_namespace(arguments.name, arguments.root);
    if (json) fmt::print("{}\n", dump(to_json(namespace_info(arguments.name, arguments.root))));
    return exit_ok;
}

int drop(const Arguments& arguments, bool json) {
    drop_namespace(arguments.name, arguments.force ? Drop::with_pools : Drop::only_empty, arguments.root);
    if (json) fmt::print("{}\n", dump({{"dropped", arguments.name}}));
    return exit_ok;
}

/// An option that the action does not know is a mistake about what will happen.
void check_options(const Arguments& arguments) {
    const std::string& action = arguments.action;
    const auto refuse = [&](const char* what) {
        throw Error(Code::invalid_argument, fmt::format("ns {} takes no {}", action, what));
    };
    const bool has_grantee = arguments.user || arguments.group;
    if (has_grantee && action != "grant" && action != "revoke") refuse("--user or --group");
    if ((arguments.read || arguments.write) && action != "grant") refuse("--read or --write");
    if (arguments.force && action != "drop") refuse("--force");
    if (!arguments.size.empty() && action != "quota") refuse("SIZE");
    if (arguments.name.empty() && action != "list")
        throw Error(Code::invalid_argument, fmt::format("ns {} wants the NAME of a namespace", action));
}

int ns(const Arguments& arguments, bool json) {
    using Action = int (*)(const Arguments&, bool);
    constexpr std::pair<std::string_view, Action> actions[] = {{"create", create}, {"drop", drop},
                                                               {"grant", give},    {"list", list},
                                                               {"quota", quota},   {"revoke", take}};
    for (const auto& [name, act] : actions) {
        if (name != arguments.action) continue;
        check_options(arguments);
        return act(arguments, json);
    }
    throw Error(Code::invalid_argument,
                fmt::format("there is no `ns {}`; there are create, list, grant, revoke, quota and drop",
                            arguments.action));
}

}  // namespace

void add_ns(CLI::App& command, Invocation& invocation) {
    const auto arguments = std::make_shared<Arguments>();
    Verb(command, invocation, "ns", "Share pools with other users: make, list, grant and drop namespaces")
        .needs("create|list|grant|revoke|quota|drop", arguments->action, "What to do")
        .takes("NAME", arguments->name, "The namespace; list tells of all without it")
        .takes("SIZE", arguments->size,
               "With quota: how much its pools may grow to, together; `none` takes it away. Advisory: this "
               "library asks for it "
               "when it makes a pool, the operating system does not")
        .takes("--user", arguments->user, "Whom to let in, or to shut out")
        .takes("--group", arguments->group, "Or all in this group")
        .takes("--read", arguments->read, "He may read all pools in it")
        .takes("--write", arguments->write, "He may change them too, make new ones, and remove any")
        .takes("-f,--force", arguments->force, "With drop: with its pools, and all that they hold is lost")
        .takes("--root", arguments->root, "The directory that namespaces lie in (default: $PMEMCPY_ROOT)")
        .takes_json()
        .tells(
            "A namespace is a directory with pools in it. Whoever makes it owns it, and nobody else gets in "
            "unless he is "
            "granted that.\n"
            "\n"
            "  pmemcpy ns create climate\n"
            "  pmemcpy cp run.pmem climate: --create       its shared pool\n"
            "  pmemcpy ns grant climate --user li --read\n"
            "  pmemcpy ls climate:                         as li\n"
            "  pmemcpy find --all 'units = \"K\"'\n"
            "\n"
            "Where a POOL is wanted, NAME: is the shared pool of a namespace and NAME:x its pool x; where a "
            "PLACE is wanted, "
            "NAME:ID and NAME:x:ID are in them.\n"
            "\n"
            "The operating system alone enforces grants, by access control lists. They hold for pools that "
            "are made later, too. "
            "Who is shut out keeps what he has open.\n")
        .runs([arguments](bool json) { return ns(*arguments, json); });
}

}  // namespace pmemcpy::cli
