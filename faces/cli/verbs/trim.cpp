#include <fmt/core.h>

#include <cstdio>
#include <memory>

#include "cli/call/exit_code.hpp"
#include "cli/call/invocation.hpp"
#include "cli/element/element.hpp"
#include "cli/pool/open.hpp"
#include "cli/terminal/size.hpp"

namespace pmemcpy::cli {

namespace {

int trim(const std::string& pool, bool json) {
    PMEM pmem = open_for_writing(pool);
    const std::uint64_t given_back = pmem.trim();
    if (json) {
        fmt::print("{}\n", dump({{"trimmed_bytes", given_back}}));
    } else {
        fmt::print("gave {} back to the file system\n", human_size(given_back));
    }
    return exit_ok;
}

}  // namespace

void add_trim(CLI::App& command, Invocation& invocation) {
    const auto pool = std::make_shared<std::string>();
    Verb(command, invocation, "trim", "Give free space back to the file system")
        .needs("POOL", *pool, "The pool")
        .takes_json()
        .runs([pool](bool json) { return trim(*pool, json); });
}

}  // namespace pmemcpy::cli
