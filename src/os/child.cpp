#include "os/child.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <sstream>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/calls.hpp"
#include "os/failure.hpp"
#include "os/process.hpp"

namespace pmemcpy::os {

namespace {

constexpr std::uint64_t shortest_nap_ns = 200'000;
constexpr std::uint64_t longest_nap_ns = 20'000'000;
constexpr int most_attempts = 1000;

/// What posix_spawn wants to be told; it owns memory.
struct Plan {
    Plan() {
        posix_spawn_file_actions_init(&files);
        posix_spawnattr_init(&attributes);
    }
    ~Plan() {
        posix_spawn_file_actions_destroy(&files);
        posix_spawnattr_destroy(&attributes);
    }
    Plan(const Plan&) = delete;
    Plan& operator=(const Plan&) = delete;

    posix_spawn_file_actions_t files{};
    posix_spawnattr_t attributes{};
};

pid_t start(const Program& program) {
    Plan plan;
    posix_spawn_file_actions_addopen(&plan.files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    for (const int fd : {STDOUT_FILENO, STDERR_FILENO})
        posix_spawn_file_actions_adddup2(&plan.files, program.printed.fd(), fd);
    // Onto itself: what was to be closed is kept.
    for (const File* file : program.files)
        posix_spawn_file_actions_adddup2(&plan.files, file->fd(), file->fd());
    // As if started from a shell, whatever this process, or this thread, has done with signals.
    sigset_t none;
    sigset_t all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&plan.attributes, &none);
    posix_spawnattr_setsigdefault(&plan.attributes, &all);
    posix_spawnattr_setflags(
        &plan.attributes,
        static_cast<short>(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF));
    std::vector<std::string> arguments = program.arguments;
    std::string name = program.path;
    std::vector<char*> pointers = {name.data()};
    for (std::string& argument : arguments) pointers.push_back(argument.data());
    pointers.push_back(nullptr);
    pid_t child = 0;
    int error = ETXTBSY;
    // Somebody who forks just now has for a moment all that is open here, and so a program that has only just been written.
    for (int attempt = 0; error == ETXTBSY && attempt < most_attempts; ++attempt) {
        if (attempt > 0) sleep_ns(shortest_nap_ns);
        error = calls().spawn(&child, program.path.c_str(), &plan.files, &plan.attributes, pointers.data(),
                              environ);
    }
    if (error != 0) throw_failure("start", program.path, error);
    return child;
}

}  // namespace

// While it is not waited for, its number, which is its group's too, is nobody else's.
Ending run(const Program& program, std::uint64_t most_ns, const std::function<bool()>& is_wanted) {
    const pid_t child = start(program);
    const std::uint64_t began = monotonic_ns();
    Ending ending;
    for (std::uint64_t nap = shortest_nap_ns;; nap = std::min(longest_nap_ns, nap * 2)) {
        siginfo_t ended{};
        if (calls().waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOHANG | WNOWAIT) != 0) {
            if (errno != EINTR) break;
        } else if (ended.si_pid == child) {
            ending = {ended.si_code == CLD_EXITED ? Ending::How::exited : Ending::How::killed,
                      ended.si_status};
            break;
        } else if (monotonic_ns() - began > most_ns || !is_wanted()) {
            ending.how = Ending::How::stopped;
            break;
        }
        sleep_ns(nap);
    }
    calls().kill(-child, SIGKILL);  // with what it has left running
    while (calls().waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
    }
    return ending;
}

std::optional<std::string> find_program(const std::string& name) {
    const auto may_run = [](const std::string& path) {
        return calls().faccessat(AT_FDCWD, path.c_str(), X_OK, AT_EACCESS) == 0;
    };
    if (name.find('/') != std::string::npos) return may_run(name) ? std::optional(name) : std::nullopt;
    const char* const all = std::getenv("PATH");
    std::istringstream directories(all == nullptr ? "/usr/bin:/bin" : all);
    for (std::string directory; std::getline(directories, directory, ':');) {
        const std::string path = std::string(directory).append("/").append(name);
        if (!directory.empty() && may_run(path)) return path;
    }
    return std::nullopt;
}

std::string last_printed(const File& printed, std::uint64_t most_bytes) {
    const std::uint64_t size = printed.size();
    std::string text(std::min(size, most_bytes), '\0');
    printed.read_exactly(text.data(), text.size(), size - text.size());
    while (!text.empty() && (text.back() == '\n' || text.back() == ' ' || text.back() == '\0'))
        text.pop_back();
    return text;
}

}  // namespace pmemcpy::os
