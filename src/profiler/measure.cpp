#include "profiler/measure.hpp"

#include <algorithm>
#include <cmath>
#include <new>
#include <string>
#include <vector>

#include <pmemcpy/error.hpp>

#include "os/cgroup.hpp"
#include "os/forked.hpp"
#include "os/process.hpp"
#include "profiler/steps.hpp"

namespace pmemcpy::profiler {

namespace {

constexpr std::uint64_t nap_ns = 2'000'000;
constexpr std::uint64_t piece_bytes = 64 << 10;

/// No file system is filled, no limit on memory met, no signal for a file that is too large.
std::uint64_t bytes_of_each(const Place& place, unsigned processes, std::uint64_t wanted) {
    std::uint64_t room = place.free_bytes;
    if (place.kind == TargetKind::tmpfs) room = std::min(room, os::cgroup_headroom_bytes());
    const std::uint64_t all = std::min({wanted, room / 8, os::file_size_limit()});
    const std::uint64_t each = all / processes / piece_bytes * piece_bytes;
    if (each == 0)
        throw Error(Code::no_space, place.path + " has only " + std::to_string(room >> 10) +
                                        " KiB free, too little to measure in");
    return each;
}

/// For people: what a measurement does not know is not told.
double rounded(double number) {
    if (!(number > 0)) return 0;
    const double unit = std::pow(10, std::floor(std::log10(number)) - 2);
    return std::max(std::round(number / unit), 1.0) * unit;
}

/// All together, from when the first began until the last was done.
double bandwidth(const std::vector<Account*>& accounts, Step step) {
    std::uint64_t bytes = 0;
    std::uint64_t from = ~std::uint64_t{0};
    std::uint64_t until = 0;
    for (const Account* account : accounts) {
        const Tally& tally = account->steps[step];
        bytes += tally.bytes;
        from = std::min<std::uint64_t>(from, tally.from_ns);
        until = std::max<std::uint64_t>(until, tally.until_ns);
    }
    const std::uint64_t ns = std::max<std::uint64_t>(until - from, 1);
    return std::round(rounded(static_cast<double>(bytes) * 1e9 / static_cast<double>(ns)));
}

double latency(const std::vector<Account*>& accounts, Step step) {
    std::vector<std::uint64_t> samples;
    for (const Account* account : accounts) {
        const Tally& tally = account->steps[step];
        const auto count = std::min<std::size_t>(tally.accesses, sample_count);
        samples.insert(samples.end(), tally.sample_ns.begin(), tally.sample_ns.begin() + count);
    }
    const auto middle = samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 2);
    std::nth_element(samples.begin(), middle, samples.end());
    return std::round(rounded(static_cast<double>(std::max<std::uint64_t>(*middle, 1)))) / 1e9;
}

void check_accounts(const Place& place, const std::vector<Account*>& accounts, double seconds,
                    bool had_time) {
    for (const Account* account : accounts) {
        if (account->state.load(std::memory_order_acquire) == Account::failed)
            throw Error(account->code, place.path + ": " + account->failure.data());
    }
    for (std::size_t step = 0; step < step_count; ++step) {
        const bool is_missing = std::any_of(accounts.begin(), accounts.end(), [&](const Account* account) {
            return account->steps[step].accesses == 0;
        });
        if (!is_missing) continue;
        const std::string what = step_names[step];
        throw Error(Code::io_error,
                    had_time ? place.path + ": whoever measured it was killed before a " + what + " came back"
                             : place.path + " does not answer: no " + what + " came back within " +
                                   std::to_string(seconds).substr(0, 4) + " s");
    }
}

}  // namespace

Figures measure(const Place& place, unsigned processes, std::uint64_t bytes, std::uint64_t limit_ns,
                const Pulse& pulse) {
    const Task task{
        .directory = place.path,
        .bytes = bytes_of_each(place, processes, bytes),
        .step_ns = limit_ns / 6,  // four steps; the rest for an access that was begun, and for opening
        .children = processes,
        .is_memory = place.kind == TargetKind::tmpfs || place.kind == TargetKind::dax};
    const os::SharedPages pages(sizeof(Meeting) + alignof(Account) + processes * sizeof(Account));
    auto* const meeting = new (pages.base()) Meeting;
    std::byte* const first =
        pages.base() + (sizeof(Meeting) + alignof(Account) - 1) / alignof(Account) * alignof(Account);
    std::vector<Account*> accounts;
    const std::uint64_t begin = os::monotonic_ns();
    const auto elapsed_ns = [&] { return os::monotonic_ns() - begin; };
    bool has_ended = false;
    {
        std::vector<os::ForkedChild> children;
        children.reserve(processes);
        for (unsigned i = 0; i < processes; ++i) {
            auto* const account = new (first + i * sizeof(Account)) Account;
            accounts.push_back(account);
            children.emplace_back([=, &task] { take_steps(task, i, *meeting, *account); });
        }
        while (!has_ended && elapsed_ns() < limit_ns) {
            os::sleep_ns(nap_ns);
            pulse();
            has_ended = std::all_of(children.begin(), children.end(),
                                    [](os::ForkedChild& c) { return c.has_ended(); });
        }
    }
    check_accounts(place, accounts, static_cast<double>(limit_ns) / 1e9, has_ended);
    return {.write = {bandwidth(accounts, write_large), latency(accounts, write_small)},
            .read = {bandwidth(accounts, read_large), latency(accounts, read_small)},
            .is_direct = accounts.front()->is_direct,
            .durability = accounts.front()->durability};
}

}  // namespace pmemcpy::profiler
