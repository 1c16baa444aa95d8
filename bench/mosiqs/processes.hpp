#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace mosiqs {

/// What one process tells of the part that is timed, by CLOCK_MONOTONIC, which all processes share.
struct Part {
    std::int64_t start_ns = 0;
    std::int64_t published_ns = 0;  // others see what was stored
    std::int64_t end_ns = 0;        // and find it
    bool verified = false;
};

/// One of the processes that run_in_processes() has made.
class Process {
public:
    Process(int index, int count, void* barrier) : index_(index), count_(count), barrier_(barrier) {}
    int index() const { return index_; }
    int count() const { return count_; }
    /// Returns when all have called it.
    void meet() const;
    /// Calls `turn` in one process after the other.
    void in_turns(const std::function<void()>& turn) const;

private:
    int index_;
    int count_;
    void* barrier_;  // a pthread_barrier_t in memory that all share
};

std::int64_t now_ns();

/// Forks `count` processes, each of which does `work`. Call it while the program has opened nothing yet.
/// Errors: what the first process that failed threw, as Unsupported or std::runtime_error; the others are ended.
std::vector<Part> run_in_processes(int count, const std::function<Part(const Process&)>& work);

/// Seconds that a new process of this program needs for these arguments, from its start to its end; its output is `output`.
/// Errors: std::runtime_error when it fails.
double seconds_of_a_new_process(const std::vector<std::string>& arguments, std::string& output);

}  // namespace mosiqs
