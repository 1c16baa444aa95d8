#include "os/process.hpp"

#include <algorithm>
#include <cerrno>
#include <limits>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sys/resource.h>

#include "base/hash.hpp"
#include "os/calls.hpp"
#include "os/directory.hpp"
#include "os/file.hpp"
#include "os/names.hpp"

namespace pmemcpy::os {

namespace {

std::uint64_t read_clock(clockid_t clock) {
    struct timespec time {};
    calls().clock_gettime(clock, &time);  // cannot fail for the clocks asked for here
    return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(time.tv_nsec);
}

}  // namespace

std::uint64_t process_id() { return static_cast<std::uint64_t>(calls().getpid()); }

std::uint64_t pid_namespace() {
    const auto there = identity_at("/proc/self/ns/pid");
    return there ? there->inode : 0;
}

std::uint64_t boot_id() {
    static const std::uint64_t id = [] {
        const auto text = read_text("/proc/sys/kernel/random/boot_id");
        return text ? base::xxh3_64(text->data(), text->size()) : 0;
    }();
    return id;
}

namespace {

// The state follows the program's name, which is in parentheses and may hold some itself.
char state_in(const std::string& folder) {
    const auto text = read_text(folder + "/stat");
    const auto name_ends = text ? text->rfind(") ") : std::string::npos;
    if (name_ends == std::string::npos || name_ends + 2 >= text->size()) return 'X';
    return (*text)[name_ends + 2];
}
bool is_state_of_stopped(char state) { return state == 'T' || state == 't'; }

}  // namespace

std::string described(std::uint64_t process) {
    const std::string number = std::to_string(process);
    const auto program = read_text("/proc/" + number + "/comm");
    return "process " + number + (program ? " (" + *program + ")" : "");
}

bool is_stopped(std::uint64_t process) {
    const std::string folder = "/proc/" + std::to_string(process);
    const char state = state_in(folder);
    if (state != 'Z') return is_state_of_stopped(state);
    // Its first thread has ended, and others may go on.
    const auto threads = File::open_if_exists(folder + "/task", O_RDONLY | O_DIRECTORY);
    if (!threads) return false;
    const std::vector<std::string> all = names_in(*threads);
    return std::any_of(all.begin(), all.end(), [&](const std::string& thread) {
        return is_state_of_stopped(state_in(folder + "/task/" + thread));
    });
}

unsigned user_id() { return calls().geteuid(); }

std::string host_name() {
    char name[256] = {};
    if (calls().gethostname(name, sizeof name - 1) != 0) return "unknown";
    return name;
}

std::string program_name() { return program_invocation_short_name; }

std::uint64_t monotonic_ns() { return read_clock(CLOCK_MONOTONIC); }

std::uint64_t coarse_ns() { return read_clock(CLOCK_MONOTONIC_COARSE); }

std::uint64_t file_size_limit() {
    struct rlimit limit {};
    return calls().getrlimit(RLIMIT_FSIZE, &limit) == 0 ? limit.rlim_cur : RLIM_INFINITY;
}

std::uint64_t page_faults() {
    struct rusage usage {};
    return calls().getrusage(RUSAGE_THREAD, &usage) == 0 ? static_cast<std::uint64_t>(usage.ru_minflt) : 0;
}

void yield() { calls().sched_yield(); }

std::vector<unsigned> cores() {
    cpu_set_t set;
    CPU_ZERO(&set);
    std::vector<unsigned> found;
    if (calls().sched_getaffinity(0, sizeof set, &set) != 0) return found;
    for (unsigned core = 0; core < CPU_SETSIZE; ++core) {
        if (CPU_ISSET(core, &set)) found.push_back(core);
    }
    return found;
}

bool run_on(const std::vector<unsigned>& cores) {
    cpu_set_t set;
    CPU_ZERO(&set);
    for (const unsigned core : cores) {
        if (core < CPU_SETSIZE) CPU_SET(core, &set);
    }
    return calls().sched_setaffinity(0, sizeof set, &set) == 0;
}

// Of the calling thread: 0 is not the process, on Linux.
void give_way() {
    constexpr int nice = 10;
    calls().setpriority(PRIO_PROCESS, 0, nice);
}

void sleep_ns(std::uint64_t time) {
    const struct timespec left {
        static_cast<time_t>(time / 1'000'000'000), static_cast<long>(time % 1'000'000'000)
    };
    calls().nanosleep(&left, nullptr);
}

std::uint64_t wall_ns() {
    struct timespec time {};
    calls().clock_gettime(CLOCK_REALTIME, &time);  // cannot fail, see read_clock
    constexpr std::int64_t per_second = 1'000'000'000;
    constexpr std::int64_t last = std::numeric_limits<std::int64_t>::max();
    if (time.tv_sec < 0) return 1;
    if (time.tv_sec >= last / per_second) return last;
    return std::max<std::uint64_t>(static_cast<std::uint64_t>(time.tv_sec * per_second + time.tv_nsec), 1);
}

}  // namespace pmemcpy::os
