#include "node.hpp"

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <span>

#include <linux/futex.h>

#include "base/hash.hpp"
#include "os/calls.hpp"
#include "pool/format.hpp"

namespace pmemcpy::hold {
namespace {

// What the simulated kernel does, once the process has been told that it is about to be asked.
os::Calls simulated;

void told(bool changes) {
    if (listener() != nullptr) before_call(changes, __builtin_return_address(0));
}

int opened(int descriptor) {
    if (Process* process = Process::current(); process != nullptr && descriptor >= 0)
        process->opened(descriptor);
    return descriptor;
}

int open(const char* path, int flags, mode_t mode) {
    told(true);
    return opened(simulated.open(path, flags, mode));
}
int openat(int directory, const char* path, int flags, mode_t mode) {
    told((flags & O_CREAT) != 0);
    return opened(simulated.openat(directory, path, flags, mode));
}
int close(int descriptor) {
    told(true);
    if (Process* process = Process::current(); process != nullptr) process->closed(descriptor);
    return simulated.close(descriptor);
}
int ftruncate(int descriptor, off_t bytes) {
    told(true);
    return simulated.ftruncate(descriptor, bytes);
}
int fallocate(int descriptor, int mode, off_t offset, off_t bytes) {
    told(true);
    return simulated.fallocate(descriptor, mode, offset, bytes);
}
int fcntl_lock(int descriptor, int command, struct flock* lock) {
    for (;;) {
        told(command != F_OFD_GETLK);
        const bool waits = command == F_OFD_SETLKW;
        const int result = simulated.fcntl_lock(descriptor, waits ? F_OFD_SETLK : command, lock);
        Process* process = Process::current();
        if (result == 0 || !waits || errno != EAGAIN || process == nullptr) return result;
        process->wait();
    }
}
// A process sleeps until another has done something, whatever it sleeps on.
long futex(const std::uint32_t* word, int operation, std::uint32_t value, const struct timespec*) {
    if (operation != FUTEX_WAIT) return 0;
    if (std::atomic_ref(*const_cast<std::uint32_t*>(word)).load() != value) {
        errno = EAGAIN;
        return -1;
    }
    if (Process* process = Process::current()) process->wait();
    return 0;
}
int fstat(int descriptor, struct stat* status) {
    told(false);
    return simulated.fstat(descriptor, status);
}
int fstatat(int directory, const char* path, struct stat* status, int flags) {
    told(false);
    return simulated.fstatat(directory, path, status, flags);
}
ssize_t getdents64(int descriptor, void* entries, std::size_t size) {
    told(false);
    return simulated.getdents64(descriptor, entries, size);
}
int mkdirat(int directory, const char* path, mode_t mode) {
    told(true);
    return simulated.mkdirat(directory, path, mode);
}
int linkat(int from_at, const char* from, int to_at, const char* to, int flags) {
    told(true);
    return simulated.linkat(from_at, from, to_at, to, flags);
}
int unlinkat(int directory, const char* path, int flags) {
    told(true);
    return simulated.unlinkat(directory, path, flags);
}
int renameat(int from_at, const char* from, int to_at, const char* to) {
    told(true);
    return simulated.renameat(from_at, from, to_at, to);
}
int renameat2(int from_at, const char* from, int to_at, const char* to, unsigned flags) {
    told(true);
    return simulated.renameat2(from_at, from, to_at, to, flags);
}
int fchmod(int descriptor, mode_t mode) {
    told(true);
    return simulated.fchmod(descriptor, mode);
}
ssize_t pwrite(int descriptor, const void* bytes, std::size_t size, off_t offset) {
    told(true);
    return simulated.pwrite(descriptor, bytes, size, offset);
}
int yield() {
    if (Process* process = Process::current()) process->pause();
    return 0;
}
int nanosleep(const struct timespec* time, struct timespec* left) {
    if (Process* process = Process::current()) process->pause();
    return simulated.nanosleep(time, left);
}

// An entry tells where it was made: so its length, and which others come into its place, are the same everywhere.
int gethostname(char* name, std::size_t size) {
    std::snprintf(name, size, "node");
    return 0;
}

}  // namespace

Node::Node(crash::Model model, Layout layout) : kernel_(model) {
    if (layout == Layout::directory) {
        files_.emplace(os::calls());
        watch_too(files_->shared().data(), files_->shared().size());
    }
    simulated = files_ ? files_->calls() : os::calls();
    os::Calls calls = simulated;
    calls.open = open;
    calls.openat = openat;
    calls.close = close;
    calls.fstat = fstat;
    calls.fstatat = fstatat;
    calls.getdents64 = getdents64;
    calls.mkdirat = mkdirat;
    calls.linkat = linkat;
    calls.unlinkat = unlinkat;
    calls.renameat = renameat;
    calls.renameat2 = renameat2;
    calls.fchmod = fchmod;
    calls.pwrite = pwrite;
    calls.ftruncate = ftruncate;
    calls.fallocate = fallocate;
    calls.fcntl_lock = fcntl_lock;
    calls.futex = futex;
    calls.sched_yield = yield;
    calls.nanosleep = nanosleep;
    calls.gethostname = gethostname;
    before_ = os::calls();
    os::calls() = calls;
    const std::span<std::byte> shared = kernel_.shared();
    watch(shared.data(), shared.size());
}

Node::~Node() {
    watch(nullptr, 0);
    watch_too(nullptr, 0);
    os::calls() = before_;
}

Node::Image Node::image() const {
    const auto pool = kernel_.pool();
    return {{pool.begin(), pool.end()}, kernel_.allocation(), files_ ? files_->image() : Files::Image{}};
}

void Node::put(const Image& image) {
    const auto pool = kernel_.pool();
    std::memcpy(pool.data(), image.bytes.data(), pool.size());
    kernel_.set_allocation(image.allocation);
    if (files_) files_->put(image.files);
}

std::uint64_t Node::hash() const {
    const auto pool = kernel_.pool();
    return base::xxh3_64(pool.data(), pool.size()) * 31 + (files_ ? files_->hash() : 0);
}

std::map<std::string, std::uint64_t> Node::payloads() const {
    return files_ ? files_->contents() : std::map<std::string, std::uint64_t>();
}

std::map<std::string, std::uint64_t> Node::readable() const {
    std::map<std::string, std::uint64_t> all = payloads();
    std::erase_if(all, [](const auto& file) { return file.first.find("/.data/") != std::string::npos; });
    return all;
}

void Node::kill(Process& process) {
    process.die();
    for (const int descriptor : process.descriptors()) simulated.close(descriptor);
}

}  // namespace pmemcpy::hold
