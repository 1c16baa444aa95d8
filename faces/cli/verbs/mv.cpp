#include <fmt/core.h>
#include <pmemcpy/copy.hpp>

#include <cstdio>
#include <memory>

#include "cli/call/bus_error.hpp"
#include "cli/call/exit_code.hpp"
#include "cli/call/interrupt.hpp"
#include "cli/call/invocation.hpp"
#include "cli/copy/transfer.hpp"
#include "cli/element/element.hpp"
#include "cli/pool/open.hpp"
#include "cli/terminal/progress.hpp"

namespace pmemcpy::cli {

namespace {

using Json = nlohmann::ordered_json;

struct Arguments {
    std::vector<std::string> places;
    bool force = false;
};

/// A group that was moved is empty now; one that somebody has put something into meanwhile stays.
void erase_group(PMEM& pool, const std::string& id) {
    try {
        pool.erase(id);
    } catch (const Error& error) {
        if (error.kind() != Code::busy && error.kind() != Code::not_found) throw;
    }
}

void move_all(const std::vector<Transfer>& transfers, PMEM& target, bool force, const Interrupts& interrupts,
              Json& done) {
    Progress progress("move");
    const std::uint64_t all_bytes = bytes_of(transfers);
    std::uint64_t done_bytes = 0;
    copy_groups(transfers, target, force);
    for (const Transfer& transfer : transfers) {
        interrupts.check();
        const std::string& from = transfer.info.id;
        if (transfer.info.kind == VariableKind::group) {
            erase_group(*transfer.source, from);
            continue;
        }
        move_variable(*transfer.source, from, target, transfer.to, force, [&](std::uint64_t bytes) {
            interrupts.check();
            progress.show(done_bytes += bytes, all_bytes);
        });
        done.push_back({{"from", from}, {"to", transfer.to}, {"bytes", transfer.info.bytes}});
    }
}

int mv(const Arguments& arguments, bool json) {
    if (arguments.places.size() < 2) {
        throw Error(Code::invalid_argument,
                    fmt::format("mv wants what to move and where to: mv {} POOL:ID", arguments.places[0]));
    }
    end_on_bus_error();
    const Interrupts interrupts;
    Pools pools([](const std::string& path) { return open_for_writing(path, true); });
    const Place to = parse_place(arguments.places.back());
    PMEM& target = pools.at(to.pool);
    std::vector<Transfer> transfers;
    for (std::size_t i = 0; i + 1 < arguments.places.size(); ++i) {
        const Place from = parse_place(arguments.places[i]);
        if (from.id.empty()) {
            throw Error(Code::invalid_argument, fmt::format("mv moves what is in a pool: {0}:ID; {0} itself "
                                                            "is a file or folder, which the shell's mv "
                                                            "moves while nobody has it open",
                                                            from.pool));
        }
        PMEM& source = pools.at(from.pool);
        // An mv that was killed may have left something set aside.
        give_back_moved(source, from.id.back() == '/' ? from.id.substr(0, from.id.size() - 1) : from.id);
        const auto more = plan(source, from, to.id);
        transfers.insert(transfers.end(), more.begin(), more.end());
    }
    check(transfers, target, arguments.force);
    Json done = Json::array();
    const auto report = [&] {
        if (json) fmt::print("{}\n", dump({{"moved", done}}));
    };
    try {
        move_all(transfers, target, arguments.force, interrupts, done);
    } catch (const Interrupted&) {
        report();
        return interrupts.exit_status();
    } catch (...) {
        report();
        throw;
    }
    report();
    return exit_ok;
}

}  // namespace

void add_mv(CLI::App& command, Invocation& invocation) {
    const auto arguments = std::make_shared<Arguments>();
    Verb(command, invocation, "mv", "Give variables and groups another id, or move them to another pool")
        .needs("PLACE", arguments->places, "What to move, and last where to: POOL, POOL:ID or POOL:GROUP/")
        .takes("-f,--force", arguments->force, "Replace what is there")
        .takes_json("Print what was moved, as JSON")
        .tells(
            "Places are those of pmemcpy cp. Inside a pool a variable gets its new id at once: whoever looks "
            "sees the "
            "one or the other. With --force there is a moment when neither is seen.\n"
            "\n"
            "A group is moved variable by variable. A variable that goes to another pool is copied as "
            "pmemcpy cp "
            "does it, renamed to .moved-, a number and its id, compared with the copy, and erased. If "
            "another "
            "process stores into it meanwhile, it gets its name back, and mv fails with status 7. An mv that "
            "is "
            "killed may leave it in both pools; the next mv of it gives it its name back, and needs --force "
            "to "
            "replace the copy.\n")
        .runs([arguments](bool json) { return mv(*arguments, json); });
}

}  // namespace pmemcpy::cli
