#include <fmt/core.h>

#include <cstdio>
#include <memory>

#include "cli/call/exit_code.hpp"
#include "cli/call/invocation.hpp"
#include "cli/element/element.hpp"
#include "cli/pool/describe.hpp"
#include "cli/pool/open.hpp"
#include "cli/terminal/note.hpp"
#include "cli/terminal/progress.hpp"
#include "cli/terminal/size.hpp"

namespace pmemcpy::cli {

namespace {

int verify(const std::string& pool, bool json) {
    const PMEM pmem = open_for_reading(pool);
    std::uint64_t checked_bytes = 0;
    std::vector<Damage> damages;
    {
        Progress progress("verify");
        damages = pmem.verify([&](std::uint64_t done, std::uint64_t all) {
            checked_bytes = done;
            progress.show(done, all);
        });
    }
    if (json) {
        auto list = nlohmann::ordered_json::array();
        for (const Damage& damage : damages) list.push_back(to_json(damage));
        fmt::print("{}\n", dump({{"checked_bytes", checked_bytes}, {"damage", list}}));
    } else {
        for (const Damage& damage : damages) fmt::print("{}\n", damage_text(damage));
        if (damages.empty()) fmt::print("{} checked, all is well\n", human_size(checked_bytes));
    }
    if (damages.empty()) return exit_ok;
    if (!json)
        note(
            "{0} parts of {1} are damaged; store them again from their source, or make a new pool "
            "of the rest with pmemcpy repair {1} NEW",
            damages.size(), pool);
    return exit_damage;
}

}  // namespace

void add_verify(CLI::App& command, Invocation& invocation) {
    const auto pool = std::make_shared<std::string>();
    Verb(command, invocation, "verify", "Read everything and check it against its checksums")
        .needs("POOL", *pool, "The pool")
        .takes_json()
        .runs([pool](bool json) { return verify(*pool, json); });
}

}  // namespace pmemcpy::cli
