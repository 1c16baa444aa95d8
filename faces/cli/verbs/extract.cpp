#include <fmt/core.h>

#include <chrono>
#include <memory>
#include <pmemcpy/extract.hpp>

#include "cli/call/exit_code.hpp"
#include "cli/call/interrupt.hpp"
#include "cli/call/invocation.hpp"
#include "cli/element/element.hpp"
#include "cli/pool/open.hpp"
#include "cli/terminal/note.hpp"

namespace pmemcpy::cli {

namespace {

using namespace std::chrono_literals;

constexpr auto longest_sleep = 1s;

struct Arguments {
    std::string pool;
    std::string query;
    bool follow = false;
};

int extract(const Arguments& arguments, bool json) {
    const Interrupts interrupts;
    Extractor extractor(arguments.pool, "statistics", Query::parse(arguments.query), extract_statistics());
    extractor.wait();
    while (arguments.follow && !interrupts.came()) interrupts.sleep(longest_sleep);
    const ExtractorInfo info = extractor.info();
    if (json) {
        fmt::print("{}\n",
                   dump({{"looked_at", info.looked_at}, {"failed", info.failed}, {"trouble", info.trouble}}));
    } else {
        fmt::print("{} {} looked at\n", info.looked_at,
                   info.looked_at == 1 ? "variable or group was" : "variables and groups were");
    }
    if (info.trouble.empty()) return exit_ok;
    if (!json) note("{} could not be: {}", info.failed, info.trouble);
    return exit_damage;
}

}  // namespace

void add_extract(CLI::App& command, Invocation& invocation) {
    const auto arguments = std::make_shared<Arguments>();
    Verb(command, invocation, "extract",
         "Set the attribute `statistics` of arrays and values of numbers, to find them by it")
        .needs("POOL", arguments->pool, "The pool")
        .takes("QUERY", arguments->query, "Only of what it finds; see find (default: everything)")
        .takes("--follow", arguments->follow,
               "Go on with what is stored from now on, until it is interrupted")
        .takes_json()
        .tells(
            "Its members are numbers (how many that are not NaN), min, max, mean and deviation: find POOL "
            "'statistics.mean > 300'. "
            "What was looked at once is not again until it is stored anew. Other attributes are extracted by "
            "a "
            "function: "
            "pmemcpy::Extractor, or pool.extract() in Python.\n")
        .runs([arguments](bool json) { return extract(*arguments, json); });
}

}  // namespace pmemcpy::cli
