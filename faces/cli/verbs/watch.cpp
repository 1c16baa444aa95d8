#include <unistd.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "cli/call/exit_code.hpp"
#include "cli/call/invocation.hpp"
#include "cli/terminal/duration.hpp"
#include "cli/watch/announce.hpp"

namespace pmemcpy::cli {

namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

struct Arguments {
    std::string pool;
    std::string id;
    std::optional<std::string> interval;
    std::optional<std::string> timeout;
    std::optional<std::uint64_t> count;
};

std::unique_ptr<Announcer> announcer(const Arguments& arguments, bool is_told, bool json) {
    if (json) return announce_in_json(arguments.pool);
    const bool is_screen = !is_told && isatty(STDOUT_FILENO) == 1;
    return is_screen ? announce_on_screen(arguments.pool) : announce_in_lines(arguments.pool);
}

int watch(const Arguments& arguments, bool json) {
    const auto interval = parse_interval(arguments.interval.value_or("1s"));
    const auto begin = Clock::now();
    std::optional<Clock::time_point> end;
    if (arguments.timeout) end = begin + parse_duration(*arguments.timeout);
    const Interrupts interrupts;
    Followed pool(arguments.pool);
    Follower follower(arguments.id);
    // Of one variable those who store tell at once, unless somebody wants to hear less often. Even so it is looked at each
    // second: nobody tells of what is stored in a group, or that the pool is gone.
    const bool is_told =
        !arguments.id.empty() && !arguments.interval && pool.pmem().ids(arguments.id + "/").empty();
    std::optional<Watch> ear;
    if (is_told) ear = pool.pmem().watch(arguments.id);
    follower.look(pool.pmem());
    const auto announce = announcer(arguments, is_told, json);
    const auto step_of = [&](const PMEM& pmem) {
        return arguments.id.empty() ? pmem.info().committed_step : 0;
    };
    std::uint64_t step = step_of(pool.pmem());
    for (std::uint64_t told = 0;;) {
        announce->finish_look(follower);
        if (arguments.count && told >= *arguments.count) return exit_ok;
        auto nap = is_told ? std::chrono::nanoseconds(1s) : interval;
        if (end) nap = std::min<std::chrono::nanoseconds>(nap, *end - Clock::now());
        if (nap <= 0ns) return arguments.count ? exit_missed : exit_ok;
        if (ear) {
            ear->wait(nap);
        } else if (announce->sleep(interrupts, nap)) {
            return exit_ok;
        }
        if (interrupts.came()) return interrupts.exit_status();
        if (const auto fate = pool.look(); fate != Followed::Fate::same) {
            ear.reset();  // it keeps what is gone
            announce->tell(fate);
            follower.begin_anew();
            if (is_told && pool.is_there()) ear = pool.pmem().watch(arguments.id);
        }
        if (!pool.is_there()) continue;
        for (const News& news : follower.look(pool.pmem())) {
            if (arguments.count && told >= *arguments.count) break;
            announce->tell(news);
            ++told;
        }
        const std::uint64_t now = step_of(pool.pmem());
        if (now != step && now != 0) announce->tell_step(now);
        step = now;
    }
}

}  // namespace

void add_watch(CLI::App& command, Invocation& invocation) {
    const auto arguments = std::make_shared<Arguments>();
    Verb(command, invocation, "watch", "Follow what is stored in a pool while it is in use")
        .needs("POOL", arguments->pool, "The pool")
        .takes("ID", arguments->id, "Only this variable, or what is in this group; it need not be there yet")
        .takes("--interval", arguments->interval,
               "How often to look, for example 500ms (default: 1s; at one variable: when somebody stores)")
        .takes("--count", arguments->count, "End after so many news")
        .takes("--timeout", arguments->timeout, "End after this time, for example 30s or 5min")
        .takes_json("Print a JSON object on a line for each news")
        .tells(
            "Of each variable that is stored, a line: when, the step, how many bytes are new, at which rate "
            "they come, "
            "and the id. The rate is that of the variable: the new bytes by the time since the write before. "
            "What came "
            "and went between two looks is not seen. Of a whole pool a line tells once of each step that was "
            "committed, of several between two looks of the newest. A whole pool on a terminal is a table "
            "instead, the "
            "newest "
            "variable first, until q or ^C.\n"
            "\n"
            "Watching only reads. Whoever stores does not wait for it; while one variable is watched without "
            "--interval, each store makes one more call to the kernel. A pool that is removed is waited for, "
            "and one "
            "that takes its place is followed.\n"
            "\n"
            "The exit status is 0 after --count news or --timeout, 1 when --timeout came before --count, and "
            "130 after "
            "^C.\n")
        .runs([arguments](bool json) { return watch(*arguments, json); });
}

}  // namespace pmemcpy::cli
