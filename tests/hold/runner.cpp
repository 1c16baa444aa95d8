#include "runner.hpp"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <new>
#include <sstream>
#include <string_view>

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/process.hpp"
#include "persist/trace.hpp"

namespace pmemcpy::hold {
namespace {

constexpr std::size_t runs_of_a_process = 20'000;  // after which what the dead have left behind goes

/// Leaves out one look.
class LooksAway final : public persist::TraceSink {
public:
    explicit LooksAway(LeftOut left_out) : left_out_(std::move(left_out)) { persist::set_trace_sink(this); }
    void on_store(const void*, std::size_t, const persist::Site&) override {}
    void on_bulk(const void*, std::size_t, const persist::Site&) override {}
    void on_flush(const void*, std::size_t, const persist::Site&) override {}
    void on_fence(const persist::Site&) override {}
    void on_sync(const persist::Site&) override {}
    bool look_enabled(const persist::Site& site) override {
        return site.line() != left_out_.line || !std::string_view(site.file_name()).ends_with(left_out_.file);
    }

private:
    LeftOut left_out_;
};

/// What the processes that explore share.
struct Shared {
    std::atomic<std::size_t> next{0};
    std::atomic<bool> is_wrong{false};
};

void write_result(const Found& found, const std::string& path) {
    std::ofstream out(path, std::ios::app);
    out << found.runs << ' ' << found.schedules << ' ' << found.judged << ' ' << found.waited.size() << ' '
        << found.wrong.size() << '\n';
    for (const std::string& name : found.waited) out << name << '\n';
    for (const std::string& text : found.wrong)
        out << std::count(text.begin(), text.end(), '\n') << '\n' << text << '\n';
}

void read_results(Found& all, const std::string& path) {
    std::ifstream in(path);
    std::string line;
    while (std::getline(in, line)) {
        std::istringstream numbers(line);
        Found found;
        std::size_t waited = 0, wrong = 0;
        numbers >> found.runs >> found.schedules >> found.judged >> waited >> wrong;
        for (; waited > 0 && std::getline(in, line); --waited) found.waited.insert(line);
        for (; wrong > 0 && std::getline(in, line); --wrong) {
            std::string text;
            for (auto lines = std::stoul(line) + 1; lines > 0 && std::getline(in, line); --lines)
                text += line + "\n";
            found.wrong.push_back(text);
        }
        all.add(found);
    }
}

Found explore(const Scenario& scenario) {
    Found found;
    try {
        found = Explorer(scenario).explore();
    } catch (const std::exception& error) {
        found.wrong.push_back(error.what());
    }
    for (std::string& wrong : found.wrong) wrong.insert(0, scenario.name + ": ");
    return found;
}

[[noreturn]] void work(const std::vector<Scenario>& scenarios, const Run& run, Shared& shared,
                       const std::string& path) {
    std::optional<LooksAway> looks_away;
    if (run.left_out) looks_away.emplace(*run.left_out);
    for (std::uint64_t runs = 0; runs < runs_of_a_process && !(run.until_wrong && shared.is_wrong);) {
        const std::size_t number = shared.next++;
        if (number >= scenarios.size()) break;
        const Found found = explore(scenarios[number]);
        if (!found.wrong.empty()) shared.is_wrong = true;
        runs += found.runs;
        write_result(found, path);
    }
    std::fflush(nullptr);
    ::_exit(0);
}

}  // namespace

Found explore_all(const std::vector<Scenario>& scenarios, const Run& run) {
    Found all;
    void* place = ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (place == MAP_FAILED) throw std::bad_alloc();
    auto& shared = *new (place) Shared;
    // Those that this process may use: `taskset` leaves others to work that goes on beside a long run.
    std::vector<unsigned> cores = os::cores();
    if (cores.empty()) cores.push_back(0);
    std::vector<pid_t> workers(cores.size(), -1);
    const std::string results = ::testing::TempDir() + "held." + std::to_string(::getpid()) + ".";
    const auto start = [&](std::size_t worker) {
        std::fflush(nullptr);
        workers[worker] = ::fork();
        if (workers[worker] != 0) return;
        os::run_on({cores[worker]});  // its threads take turns, so that one core serves them best
        work(scenarios, run, shared, results + std::to_string(worker));
    };
    for (std::size_t worker = 0; worker < workers.size(); ++worker) start(worker);
    for (std::size_t running = workers.size(); running > 0;) {
        int status = 0;
        const pid_t ended = ::waitpid(-1, &status, 0);
        const auto worker =
            static_cast<std::size_t>(std::find(workers.begin(), workers.end(), ended) - workers.begin());
        if (worker == workers.size()) continue;
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
            all.wrong.push_back("a process that explored ended with status " + std::to_string(status));
            shared.is_wrong = true;
        }
        if (shared.next < scenarios.size() && !(run.until_wrong && shared.is_wrong)) {
            start(worker);
        } else {
            --running;
        }
    }
    for (std::size_t worker = 0; worker < workers.size(); ++worker) {
        read_results(all, results + std::to_string(worker));
        ::unlink((results + std::to_string(worker)).c_str());
    }
    ::munmap(place, sizeof(Shared));
    return all;
}

void tell(const std::string& name, const Found& found, std::uint64_t fewest_runs) {
    std::printf("held: %s: %llu runs, which stand for %llu schedules, %zu wrong\n", name.c_str(),
                static_cast<unsigned long long>(found.runs), static_cast<unsigned long long>(found.schedules),
                found.wrong.size());
    for (const std::string& wrong : found.wrong) ADD_FAILURE() << wrong;
    EXPECT_GE(found.runs, fewest_runs) << "too little was explored to prove anything";
}

}  // namespace pmemcpy::hold
