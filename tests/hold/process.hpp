#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <vector>

#include "accesses.hpp"

namespace pmemcpy::hold {

/// Why a process does not run: its task has ended, it is held before an access, or it waits for another process.
enum class Stop { done, held, waits };

/// A process of the simulated node: a thread with descriptors and an attachment of its own, which runs only when it is told
/// to, one at a time, and can be held before any access to shared memory, or die there.
class Process {
public:
    Process();
    ~Process();
    Process(const Process&) = delete;
    Process& operator=(const Process&) = delete;

    /// Runs a task freely, as nobody watches. Throws what it throws.
    void run(const std::function<void()>& task);
    /// The task that go_on() runs, and whose accesses are counted from 0. It may not throw.
    void begin(std::function<void()> task);
    /// Runs until the access `hold_before` is next, the task has ended, or it has to wait for somebody.
    Stop go_on(std::uint64_t hold_before = forever);
    /// It never runs again, and nothing of it is destroyed: its memory stays. The caller drops its locks.
    void die();

    bool is_done() const;
    bool is_dead() const;
    /// All that the task has done so far.
    const std::vector<Access>& accesses() const;
    /// The descriptors that it has open.
    const std::vector<int>& descriptors() const;

    /// Of the process whose thread this is, or null.
    static Process* current();
    /// In its own thread: what it asked for is somebody else's now. Returns when it is told to try again.
    void wait();
    /// In its own thread: it gives the processor away, or sleeps. After many times it waits.
    void pause();
    void opened(int descriptor);
    void closed(int descriptor);

    static constexpr std::uint64_t forever = ~std::uint64_t{0};

private:
    struct Life;
    Life* life_;
    bool is_dead_ = false;
};

}  // namespace pmemcpy::hold
