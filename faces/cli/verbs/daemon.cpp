#include <fmt/core.h>

#include <chrono>
#include <cstdio>
#include <memory>
#include <pmemcpy/tiers.hpp>
#include <string>
#include <vector>

#include "cli/call/interrupt.hpp"
#include "cli/call/invocation.hpp"
#include "cli/pool/describe.hpp"
#include "cli/terminal/note.hpp"
#include "cli/terminal/printable.hpp"

namespace pmemcpy::cli {

namespace {

using namespace std::chrono_literals;

constexpr auto longest_sleep = 1s;

struct Arguments {
    std::vector<std::string> pools;
    std::string cores;
};

struct Served {
    std::string path;
    std::unique_ptr<Organizer> organizer;
    std::string told{};
};

int serve(const Arguments& arguments) {
    const Interrupts interrupts;
    std::vector<Served> all;
    all.reserve(arguments.pools.size());
    for (const std::string& path : arguments.pools)
        all.push_back({path, std::make_unique<Organizer>(path, arguments.cores)});
    while (!interrupts.came()) {
        interrupts.sleep(longest_sleep);
        for (Served& each : all) {
            std::string trouble = each.organizer->trouble();
            if (trouble == each.told) continue;
            note("{}: {}", printable(each.path), trouble.empty() ? "it goes on" : printable(trouble));
            each.told = std::move(trouble);
        }
    }
    return interrupts.exit_status();
}

}  // namespace

void add_daemon(CLI::App& command, Invocation& invocation) {
    const auto arguments = std::make_shared<Arguments>();
    Verb(command, invocation, "daemon",
         "Do what a pool's hierarchy wants done in the background, until interrupted")
        .needs("POOL", arguments->pools, "The pools")
        .takes("--cores", arguments->cores,
               "Processors to run on, as 0-3,8 (default: those of the hierarchy, or any)")
        .tells(
            "Nobody needs one: without it the processes that store do this work in a thread. With it they "
            "leave it to this process, "
            "and do not wait for it when they close the pool. It stays in the foreground and tells of "
            "trouble on stderr; "
            "when it ends, or is killed, the others go on within a second.\n")
        .runs([arguments](bool) { return serve(*arguments); });
}

}  // namespace pmemcpy::cli
