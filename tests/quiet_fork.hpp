#pragma once

#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>

#include <unistd.h>

namespace pmemcpy {

#ifdef __SANITIZE_ADDRESS__
/// How often each other thread of this process was put off the processor so far; nothing while one of them is on it.
inline std::optional<std::string> switches_of_others() {
    std::ostringstream all;
    const std::string self = std::to_string(::gettid());
    for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
        if (task.path().filename() == self) continue;
        std::ifstream status(task.path() / "status");
        for (std::string line; std::getline(status, line);) {
            if (line.starts_with("State:") && line.find('S', 6) == std::string::npos) return std::nullopt;
            if (line.find("_ctxt_switches") != std::string::npos) all << task.path() << line << '\n';
        }
    }
    return all.str();
}
#endif

/// fork() for a test that has another thread, such as the one that keeps an index. The allocator of GCC 12's address sanitizer takes no
/// lock of its own at a fork: a child that was born while another thread held one waits for it for ever (seen: index_test, one run of 20).
/// A thread that sleeps holds none. So in such a build the fork waits until the others have slept for longer than any nap, or a second.
inline pid_t quiet_fork() {
#ifdef __SANITIZE_ADDRESS__
    constexpr int longer_than_a_nap_us = 100'000;
    std::optional<std::string> before;
    for (int tries = 0; tries < 10; ++tries) {
        const auto now = switches_of_others();
        if (now && now == before) break;
        before = now;
        ::usleep(longer_than_a_nap_us);
    }
#endif
    return ::fork();
}

}  // namespace pmemcpy
