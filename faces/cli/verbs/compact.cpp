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

int compact(const std::string& pool, bool json) {
    PMEM pmem = open_for_writing(pool);
    const std::uint64_t before = pmem.info().free_bytes;
    pmem.compact();
    const std::uint64_t after = pmem.info().free_bytes;
    const std::uint64_t freed = after > before ? after - before : 0;  // others may be storing meanwhile
    if (json) {
        fmt::print("{}\n", dump({{"freed_bytes", freed}, {"free_bytes", after}}));
    } else {
        fmt::print(
            "freed {}, now {} free inside the pool; `pmemcpy trim` gives free space back to the file "
            "system\n",
            human_size(freed), human_size(after));
    }
    return exit_ok;
}

}  // namespace

void add_compact(CLI::App& command, Invocation& invocation) {
    const auto pool = std::make_shared<std::string>();
    Verb(command, invocation, "compact", "Free blocks that newer ones cover, and versions nobody can ask for")
        .needs("POOL", *pool, "The pool")
        .takes_json()
        .runs([pool](bool json) { return compact(*pool, json); });
}

}  // namespace pmemcpy::cli
