#include <fmt/core.h>

#include <cstdio>
#include <memory>
#include <optional>
#include <pmemcpy/namespaces.hpp>
#include <pmemcpy/pmemcpy.hpp>
#include <pmemcpy/profile.hpp>
#include <system_error>
#include <vector>

#include "cli/call/exit_code.hpp"
#include "cli/call/invocation.hpp"
#include "cli/element/element.hpp"
#include "cli/pool/index_mode.hpp"
#include "cli/terminal/printable.hpp"
#include "cli/terminal/size.hpp"

namespace pmemcpy::cli {

namespace {

struct Arguments {
    std::string pool;
    std::string size;
    std::string chunk;
    std::string index;
    std::vector<std::string> on;
    bool prepare = false;
    bool wipe = false;
};

/// A pool that cannot have it is not made.
void join(PMEM& pmem, const Hierarchy& hierarchy) {
    try {
        set_hierarchy(pmem, hierarchy);
    } catch (const Error&) {
        pmem.withdraw();
        throw;
    }
}

int create(const Arguments& arguments, bool json) {
    Options options;
    options.mode = Mode::exclusive;
    if (!arguments.size.empty()) options.max_bytes = parse_size(arguments.size);
    if (!arguments.chunk.empty()) options.chunk_bytes = parse_size(arguments.chunk);
    if (arguments.prepare) {
        if (options.max_bytes == 0) {
            throw Error(Code::invalid_argument,
                        "create --prepare allocates the whole pool: say how large with --size");
        }
        options.initial_bytes = options.max_bytes;
        options.prepare = true;
    }
    options.wipe = arguments.wipe;
    if (!arguments.index.empty()) options.index = parse_index_mode(arguments.index);
    // What is wrong with a directory is told before there is a pool.
    std::optional<Hierarchy> hierarchy;
    if (!arguments.on.empty())
        hierarchy = joined(resolve_pool(arguments.pool, Mode::exclusive), arguments.on);
    PMEM pmem;
    pmem.mmap(arguments.pool, options);
    if (hierarchy) join(pmem, *hierarchy);
    const PoolInfo info = pmem.info();
    pmem.munmap();
    if (json) {
        const nlohmann::ordered_json made = {{"pool", info.path},
                                             {"layout", info.layout},
                                             {"max_bytes", info.max_bytes},
                                             {"allocated_bytes", info.allocated_bytes},
                                             {"chunk_bytes", info.chunk_bytes},
                                             {"durability", pmemcpy::name_of(info.durability)},
                                             {"on", arguments.on}};
        fmt::print("{}\n", dump(made));
    } else {
        fmt::print("made {}: grows up to {}, {} allocated, durability {}\n", printable(info.path),
                   human_size(info.max_bytes), human_size(info.allocated_bytes),
                   pmemcpy::name_of(info.durability));
        for (const std::string& directory : arguments.on) fmt::print("and on {}\n", printable(directory));
    }
    return exit_ok;
}

}  // namespace

void add_create(CLI::App& command, Invocation& invocation) {
    const auto arguments = std::make_shared<Arguments>();
    Verb(command, invocation, "create", "Make a new, empty pool")
        .needs("POOL", arguments->pool,
               "Its file; with a / at the end, a directory with a file per variable; or a devdax device, on "
               "which all is lost")
        .takes("--size", arguments->size,
               "How large it may grow (default: what the device has; on tmpfs half of the memory left)")
        .takes("--chunk", arguments->chunk, "The unit in which it grows (default: 2MiB, a huge page)")
        .takes(
            "--index", arguments->index,
            "Who keeps an index, by which `find` finds without looking at each object: none (the default), "
            "async or sync")
        .takes("--on", arguments->on,
               "A directory on another device that is joined to it, as if both were one; several are filled "
               "one after "
               "the other when the pool is full. What tells of them stays in POOL, and so do values")
        .takes("--prepare", arguments->prepare, "Allocate --size now, in huge pages")
        .takes("--wipe", arguments->wipe,
               "Fill space with zeros before it is free, so that nothing that was erased can be read from "
               "the file")
        .takes_json()
        .runs([arguments](bool json) { return create(*arguments, json); });
}

}  // namespace pmemcpy::cli
