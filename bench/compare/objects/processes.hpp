#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace compare::objects {

/// Of CLOCK_MONOTONIC, which all processes share.
std::int64_t now_ns();

/// What one process tells of the part that is timed.
struct Part {
    std::int64_t start_ns = 0;  // by now_ns()
    std::int64_t end_ns = 0;
    std::uint64_t faults = 0;  // minor page faults of this process
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
    /// Times `work`, from where all meet.
    Part timed(const std::function<void()>& work) const;

private:
    int index_;
    int count_;
    void* barrier_;  // a pthread_barrier_t in memory that all share
};

/// Forks `count` processes, each of which does `work`. Call it while the program has opened nothing yet.
/// Errors: what the first process that failed threw, as Unsupported or std::runtime_error; the others are ended.
std::vector<Part> run_in_processes(int count, const std::function<Part(const Process&)>& work);

}  // namespace compare::objects
