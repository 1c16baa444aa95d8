#include "os/fork.hpp"

#include <algorithm>
#include <mutex>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <pthread.h>

#include "os/calls.hpp"

namespace pmemcpy::os {

namespace {

/// The descriptors to be closed in a child. Leaked on purpose: a fork may come from another object's
/// destructor.
struct Registry {
    std::mutex mutex;
    std::vector<int> descriptors;
};

Registry& registry() {
    static auto* const instance = new Registry;
    return *instance;
}

void before_fork() { registry().mutex.lock(); }

void after_fork_in_parent() { registry().mutex.unlock(); }

void after_fork_in_child() {
    known_fork_generation.fetch_add(1, std::memory_order_relaxed);
    std::vector<int>& descriptors = registry().descriptors;
    // An O_PATH descriptor of a directory: reads, writes, locks and mappings of it all fail with EBADF.
    const int stub = calls().open("/", O_PATH | O_CLOEXEC, 0);
    for (const int fd : descriptors) {
        if (stub < 0 || calls().dup3(stub, fd, O_CLOEXEC) < 0) calls().close(fd);
    }
    if (stub >= 0) calls().close(stub);
    descriptors.clear();
    registry().mutex.unlock();
}

}  // namespace

std::atomic<std::uint64_t> known_fork_generation{0};

std::uint64_t watch_forks() noexcept {
    static std::once_flag once;
    std::call_once(once, [] {
        pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
        known_fork_generation.store(1, std::memory_order_relaxed);
    });
    return known_fork_generation.load(std::memory_order_relaxed);
}

ClosedInChild::ClosedInChild(const File& file) : fd_(file.fd()) {
    watch_forks();
    const std::lock_guard guard(registry().mutex);
    registry().descriptors.push_back(fd_);
}

ClosedInChild& ClosedInChild::operator=(ClosedInChild&& other) noexcept {
    if (this != &other) {
        forget();
        fd_ = std::exchange(other.fd_, -1);
    }
    return *this;
}

void ClosedInChild::forget() noexcept {
    if (fd_ < 0) return;
    const std::lock_guard guard(registry().mutex);
    std::erase(registry().descriptors, std::exchange(fd_, -1));
}

}  // namespace pmemcpy::os
