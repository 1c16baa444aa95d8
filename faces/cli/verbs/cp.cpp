#include <fmt/core.h>
#include <pmemcpy/copy.hpp>

#include <cstdio>
#include <memory>
#include <utility>

#include "cli/call/bus_error.hpp"
#include "cli/call/exit_code.hpp"
#include "cli/call/interrupt.hpp"
#include "cli/call/invocation.hpp"
#include "cli/copy/transfer.hpp"
#include "cli/element/element.hpp"
#include "cli/pool/open.hpp"
#include "cli/terminal/progress.hpp"
#include "cli/terminal/size.hpp"

namespace pmemcpy::cli {

namespace {

using Json = nlohmann::ordered_json;

struct Arguments {
    std::vector<std::string> places;
    std::string size;
    bool create = false;
    bool force = false;
};

/// Where the copies go, made if that is asked for.
PMEM make_target(const Arguments& arguments, const std::string& path, const PMEM& like) {
    Options options;
    options.mode = Mode::exclusive;
    options.verify_loads = true;
    options.serializer = like.default_serializer();
    if (!arguments.size.empty()) options.max_bytes = parse_size(arguments.size);
    PMEM pmem;
    pmem.mmap(path, options);
    return pmem;
}

/// Copies all, in order; what was copied before an error is in `done` and stays.
void copy_all(const std::vector<Transfer>& transfers, PMEM& target, bool force, const Interrupts& interrupts,
              Json& done) {
    const std::uint64_t all_bytes = bytes_of(transfers);
    std::uint64_t done_bytes = 0;
    Progress progress("copy");
    copy_groups(transfers, target, force);
    for (const Transfer& transfer : transfers) {
        if (transfer.info.kind == VariableKind::group) continue;
        copy_variable(*transfer.source, transfer.info.id, target, transfer.to, force,
                      [&](std::uint64_t bytes) {
                          interrupts.check();
                          progress.show(done_bytes += bytes, all_bytes);
                      });
        done.push_back({{"from", transfer.info.id}, {"to", transfer.to}, {"bytes", transfer.info.bytes}});
    }
}

int cp(const Arguments& arguments, bool json) {
    if (arguments.places.size() < 2) {
        throw Error(Code::invalid_argument,
                    fmt::format("cp wants what to copy and where to: cp {} POOL:ID", arguments.places[0]));
    }
    if (!arguments.create && !arguments.size.empty())
        throw Error(Code::invalid_argument, "--size is for the new pool that --create makes");
    end_on_bus_error();
    const Interrupts interrupts;
    std::vector<Place> from;
    for (std::size_t i = 0; i + 1 < arguments.places.size(); ++i)
        from.push_back(parse_place(arguments.places[i]));
    const std::string& last = arguments.places.back();
    const Place to = arguments.create ? Place{last, ""} : parse_place(last);
    // The target first: where it is a source too, it is to be open for writing.
    std::string writable = arguments.create ? "" : to.pool;
    Pools pools([&](const std::string& path) {
        return std::exchange(writable, "") == path ? open_for_writing(path, true)
                                                   : open_for_reading(path, true);
    });
    PMEM made;
    if (arguments.create) made = make_target(arguments, to.pool, pools.at(from[0].pool));
    PMEM& target = arguments.create ? made : pools.at(to.pool);
    std::vector<Transfer> transfers;
    for (const Place& place : from) {
        const auto more = plan(pools.at(place.pool), place, to.id);
        transfers.insert(transfers.end(), more.begin(), more.end());
    }
    check(transfers, target, arguments.force);
    Json done = Json::array();
    const auto report = [&] {
        if (json) fmt::print("{}\n", dump({{"copied", done}}));
    };
    try {
        copy_all(transfers, target, arguments.force, interrupts, done);
        target.munmap();  // on page media this syncs, which may fail
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

void add_cp(CLI::App& command, Invocation& invocation) {
    const auto arguments = std::make_shared<Arguments>();
    Verb(command, invocation, "cp", "Copy variables, groups or all of a pool")
        .needs("PLACE", arguments->places, "What to copy, and last where to: POOL, POOL:ID or POOL:GROUP/")
        .takes("-f,--force", arguments->force, "Replace what is there")
        .takes("--create", arguments->create, "Make the pool where the copies go; there must be none")
        .takes("--size", arguments->size,
               "How large that may grow (default: what the device has; on tmpfs half of the memory left)")
        .takes_json("Print what was copied, as JSON")
        .tells(
            "A group is copied with all that is in it. Where the last place is a pool, ids stay as they are; "
            "where it is "
            "POOL:ID, that is the new id; where it ends in a /, it is a group, and what is copied keeps the "
            "last part of "
            "its id. What is a path as a whole is a pool, also with colons in it.\n"
            "\n"
            "Kept are types, shapes, element order, codecs, fill values, boxes of blocks, attributes, and "
            "the bytes of "
            "serialized objects. Not kept are time steps, versions, and who wrote when. "
            "Checksums are compared, and a damaged variable is not copied. The copy of a private object is "
            "private, in any pool.\n"
            "\n"
            "Each variable appears whole or not at all. Until then its copy has a name that begins with "
            ".copying-; only "
            "a copy that was killed leaves one, for pmemcpy rm. ^C ends with status 130: what was copied "
            "stays, and "
            "what was begun is erased. With --force there is a moment when neither the old nor the new one "
            "is seen.\n")
        .runs([arguments](bool json) { return cp(*arguments, json); });
}

}  // namespace pmemcpy::cli
