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

}  // namespace

/// Whoever is told of forks. Its mutex comes before the other one, because who is told may have files of its own.
struct AtForkRegistry {
    std::mutex mutex;
    std::vector<AtFork*> all;

    static AtForkRegistry& get() {
        static auto* const instance = new AtForkRegistry;
        return *instance;
    }
    void tell(std::function<void()> AtFork::Calls::*what) const {
        for (const AtFork* one : all) (one->calls_.*what)();
    }
};

namespace {

void before_fork() {
    AtForkRegistry::get().mutex.lock();
    AtForkRegistry::get().tell(&AtFork::Calls::before);
    registry().mutex.lock();
}

void after_fork_in_parent() {
    registry().mutex.unlock();
    AtForkRegistry::get().tell(&AtFork::Calls::in_parent);
    AtForkRegistry::get().mutex.unlock();
}

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
    AtForkRegistry::get().tell(&AtFork::Calls::in_child);
    AtForkRegistry::get().mutex.unlock();
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

AtFork::AtFork(Calls calls) : calls_(std::move(calls)) {
    watch_forks();
    const std::lock_guard guard(AtForkRegistry::get().mutex);
    AtForkRegistry::get().all.push_back(this);
}

AtFork::~AtFork() {
    const std::lock_guard guard(AtForkRegistry::get().mutex);
    std::erase(AtForkRegistry::get().all, this);
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
