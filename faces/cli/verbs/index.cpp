#include <fmt/core.h>

#include <memory>
#include <optional>
#include <pmemcpy/index.hpp>

#include "cli/call/exit_code.hpp"
#include "cli/call/invocation.hpp"
#include "cli/element/element.hpp"
#include "cli/pool/index_mode.hpp"
#include "cli/pool/open.hpp"
#include "cli/terminal/printable.hpp"
#include "cli/terminal/size.hpp"

namespace pmemcpy::cli {

namespace {

struct Arguments {
    std::string pool;
    std::string mode;
    std::string id;
    bool flush = false;
};

void print(const IndexInfo& info, bool json) {
    if (json) {
        fmt::print("{}\n", dump({{"mode", name_of(info.mode)},
                                 {"complete", info.is_complete},
                                 {"objects", info.objects},
                                 {"objects_to_do", info.objects_to_do},
                                 {"changes_behind", info.changes_behind},
                                 {"bytes", info.bytes},
                                 {"trouble", info.trouble}}));
        return;
    }
    if (info.mode == IndexMode::none) {
        fmt::print("none: a query looks at every object; `pmemcpy index POOL async` begins one\n");
        return;
    }
    fmt::print("{}: {} objects, {}", name_of(info.mode), info.objects, human_size(info.bytes));
    if (!info.is_complete) fmt::print(", not complete: queries look at every object meanwhile");
    if (info.changes_behind != 0) fmt::print(", {} changes behind", info.changes_behind);
    fmt::print("\n");
    if (!info.trouble.empty()) fmt::print("not kept: {}\n", printable(info.trouble));
}

void print(IndexMode mode, bool json) {
    if (json) {
        fmt::print("{}\n", dump({{"mode", name_of(mode)}}));
    } else {
        fmt::print("{}\n", name_of(mode));
    }
}

/// Nothing for "inherit".
std::optional<IndexMode> own_mode(const std::string& word) {
    if (word == "inherit") return {};
    return parse_index_mode(word);
}

int index(const Arguments& arguments, bool json) {
    const bool changes = arguments.flush || !arguments.mode.empty();
    PMEM pmem = changes ? open_for_writing(arguments.pool) : open_for_reading(arguments.pool);
    if (!arguments.mode.empty()) {
        if (arguments.id.empty()) {
            set_index_mode(pmem, parse_index_mode(arguments.mode));
        } else {
            set_index_mode(pmem, arguments.id, own_mode(arguments.mode));
        }
        flush_index(pmem);
    }
    if (arguments.flush) flush_index(pmem);
    if (!arguments.id.empty()) {
        print(index_mode(pmem, arguments.id), json);
        return exit_ok;
    }
    print(index_info(pmem), json);
    return exit_ok;
}

}  // namespace

void add_index(CLI::App& command, Invocation& invocation) {
    const auto arguments = std::make_shared<Arguments>();
    Verb(command, invocation, "index", "Show how far the index of a pool is, or choose who keeps it")
        .needs("POOL", arguments->pool, "The pool")
        .takes(
            "MODE", arguments->mode,
            "From now on: `async`, by a thread of each process that stores, a moment later; `sync`, by the "
            "call that stores, which leaves no more than 256 changes to others; `none`, not at all")
        .takes("--id", arguments->id,
               "Of this variable, or this group and what is in it; MODE may be `inherit` then: that of the "
               "group above, or of the pool")
        .takes("--flush", arguments->flush, "Wait until everything that is stored is in it")
        .takes_json()
        .tells(
            "What `find` finds never depends on the index, only how long it takes: what the index does not "
            "have, find looks at itself. It lies in POOL.idx, and may be deleted at any time.\n")
        .runs([arguments](bool json) { return index(*arguments, json); });
}

}  // namespace pmemcpy::cli
