// Targets below a pool that fail one after the other, in every way there is, while stores go on: nothing that was
// acknowledged is lost. PMEMCPY_SOAK_SECONDS: for how long; 10 s, and ten minutes under PMEMCPY_LONG.

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <sys/mount.h>
#include <unistd.h>

#include <pmemcpy/tiers.hpp>

#include "os/calls.hpp"
#include "tests/folder.hpp"

namespace pmemcpy {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using Words = std::vector<std::uint64_t>;

enum class Failing { none, device, full, corrupt, slow, vanished, replaced, unmounted };
constexpr std::array failures = {Failing::device,   Failing::full,     Failing::corrupt,  Failing::slow,
                                 Failing::vanished, Failing::replaced, Failing::unmounted};
constexpr std::uint64_t words = 8192;  // of a block: 64 KiB
constexpr std::uint64_t blocks = 96;   // six times what the pool may have

// What the device of each target does. Plain globals, for the table of calls has room for functions only.
std::array<std::string, 2> devices;
std::array<std::atomic<Failing>, 2> failing;
std::atomic<std::int64_t> seconds_passed = 0;

Failing failure_of(int fd) {
    std::array<char, 512> path{};
    const std::string link = "/proc/self/fd/" + std::to_string(fd);
    const ssize_t length = ::readlink(link.c_str(), path.data(), path.size() - 1);
    const std::string found(path.data(), static_cast<std::size_t>(std::max<ssize_t>(length, 0)));
    for (std::size_t i = 0; i < devices.size(); ++i) {
        if (!devices[i].empty() && found.starts_with(devices[i])) return failing[i];
    }
    return Failing::none;
}

// True where the call fails. A slow one does what it is asked, two seconds later by all clocks.
bool fails(int fd) {
    switch (failure_of(fd)) {
        case Failing::device:
            errno = EIO;
            return true;
        case Failing::full:
            errno = ENOSPC;
            return true;
        case Failing::slow:
            seconds_passed += 2;
            return false;
        default:
            return false;
    }
}

int play_fallocate(int fd, int mode, off_t offset, off_t length) {
    return fails(fd) ? -1 : fallocate(fd, mode, offset, length);
}
int play_fdatasync(int fd) {
    if (failure_of(fd) != Failing::device) return fdatasync(fd);
    errno = EIO;
    return -1;
}
ssize_t play_pwrite(int fd, const void* data, size_t size, off_t offset) {
    const Failing how = failure_of(fd);
    if (how == Failing::device || how == Failing::full) {
        errno = how == Failing::device ? EIO : ENOSPC;
        return -1;
    }
    if (how != Failing::corrupt || size < words * 8) return pwrite(fd, data, size, offset);
    std::vector<char> turned(static_cast<const char*>(data), static_cast<const char*>(data) + size);
    turned[size / 2] = static_cast<char>(turned[size / 2] ^ 1);
    return pwrite(fd, turned.data(), size, offset);
}
int play_clock_gettime(clockid_t clock, struct timespec* time) {
    const int result = clock_gettime(clock, time);
    time->tv_sec += seconds_passed;
    return result;
}

os::Calls played() {
    os::Calls calls = os::system_calls();
    calls.fallocate = play_fallocate;
    calls.fdatasync = play_fdatasync;
    calls.pwrite = play_pwrite;
    calls.clock_gettime = play_clock_gettime;
    return calls;
}

std::chrono::seconds duration() {
    if (const char* given = std::getenv("PMEMCPY_SOAK_SECONDS"))
        return std::chrono::seconds(std::atol(given));
    return std::chrono::seconds(std::getenv("PMEMCPY_LONG") != nullptr ? 600 : 10);
}

Words content(std::uint64_t block, std::uint64_t state) {
    Words all(words);
    for (std::uint64_t i = 0; i < words; ++i) all[i] = (block << 40) ^ (state << 20) ^ i;
    return all;
}

class TargetsSoak : public testing::Test {
protected:
    TargetsSoak() {
        fs::create_directory(below_ / "a");
        fs::create_directory(below_ / "b");
        fs::create_directory(below_ / "other");
        for (std::size_t i = 0; i < devices.size(); ++i) {
            devices[i] = path_of(i);
            failing[i] = Failing::none;
        }
        seconds_passed = 0;
        Options options;
        options.max_bytes = 1 << 20;
        options.chunk_bytes = 4096;
        pool_.mmap(here_ / "pool", options);
        Hierarchy h;
        h.targets = {{.name = "pool", .kind = TargetKind::tmpfs, .write = {8e9, 1e-6}, .read = {9e9, 1e-6}},
                     {.name = "a", .path = path_of(0), .write = {2e9, 1e-4}, .read = {2e9, 1e-4}},
                     {.name = "b", .path = path_of(1), .write = {1e9, 1e-3}, .read = {1e9, 1e-3}}};
        h.granularity_bytes = 4096;
        // Nobody else is in the library while the clocks are put forward.
        h.mode = Buffering::none;
        h.promotion = Promotion::never;
        h.flush.threads = 1;
        set_hierarchy(pool_, h);
        pool_.alloc<std::uint64_t>("u", {blocks, words});
    }
    ~TargetsSoak() override {
        for (std::size_t i = 0; i < devices.size(); ++i) make_well(i);
    }
    std::string path_of(std::size_t target) const {
        return below_ / std::string(1, static_cast<char>('a' + target));
    }

    // False if that cannot be played here.
    bool make_fail(std::size_t target, Failing how) {
        const std::string path = path_of(target);
        if (how == Failing::unmounted) {
            // An empty file system over it: what is seen when the real one is not mounted.
            if (::mount((below_ / "other").c_str(), path.c_str(), nullptr, MS_BIND, nullptr) != 0)
                return false;
        } else if (how == Failing::vanished || how == Failing::replaced) {
            fs::rename(path, path + ".away");
            if (how == Failing::replaced) fs::create_directory(path);
        }
        failing[target] = how;
        return true;
    }
    void make_well(std::size_t target) {
        const std::string path = path_of(target);
        const Failing how = failing[target].exchange(Failing::none);
        if (how == Failing::unmounted) {
            ::umount2(path.c_str(), MNT_DETACH);
        } else if (how == Failing::vanished || how == Failing::replaced) {
            fs::remove_all(path);
            fs::rename(path + ".away", path);
        }
        seconds_passed += 11;  // it is tried again
    }

    void store_some(std::mt19937_64& random) {
        const std::uint64_t block = random() % blocks;
        const std::uint64_t state = acknowledged_[block] + 1;
        try {
            pool_.store("u", content(block, state).data(), Box{{block, 0}, {1, words}});
            acknowledged_[block] = state;
            ++stores_;
        } catch (const Error& error) {
            ADD_FAILURE() << "round " << rounds_
                          << ", a store beside a target that is well: " << error.what();
        }
    }
    void flush_some(std::mt19937_64& random) {
        try {
            random() % 2 == 0 ? flush(pool_, "u") : move(pool_, "u", random() % 2 == 0 ? "a" : "b");
        } catch (const Error&) {
            ++refused_;
        }
    }
    // What is there is what was acknowledged. Of what lies in a target that is away it is said that it is.
    void look_at(std::uint64_t block, bool all_is_well) {
        if (acknowledged_[block] == 0) return;
        Words found(words);
        try {
            pool_.load("u", found.data(), Box{{block, 0}, {1, words}});
        } catch (const Error& error) {
            ++refused_;
            if (all_is_well) ADD_FAILURE() << "block " << block << ": " << error.what();
            return;
        }
        ASSERT_EQ(found, content(block, acknowledged_[block])) << "block " << block;
    }

    Folder here_;
    Folder below_{fs::temp_directory_path()};
    os::ScopedCalls calls_{played()};
    PMEM pool_;
    std::map<std::uint64_t, std::uint64_t> acknowledged_;
    std::uint64_t stores_ = 0, refused_ = 0, rounds_ = 0;
};

TEST_F(TargetsSoak, loses_nothing_acknowledged_whatever_becomes_of_one_target_after_the_other) {
    std::mt19937_64 random(1);
    const auto end = Clock::now() + duration();
    std::map<Failing, int> played;
    // Each way once, also where that takes longer.
    for (; Clock::now() < end || rounds_ < 2 * failures.size(); ++rounds_) {
        const std::size_t target = rounds_ % devices.size();
        const Failing how = failures.at(rounds_ / devices.size() % failures.size());
        if (make_fail(target, how)) ++played[how];
        for (int i = 0; i < 60; ++i) {
            store_some(random);
            look_at(random() % blocks, false);
            if (random() % 16 == 0) flush_some(random);
        }
        make_well(target);
        for (int i = 0; i < 20; ++i) store_some(random);
        if (HasFailure()) break;
    }
    seconds_passed += 11;
    for (std::uint64_t block = 0; block < blocks; ++block) look_at(block, true);
    flush(pool_);
    for (const Receipt& receipt : receipts(pool_, "u")) EXPECT_TRUE(receipt.is_flushed);
    for (const Damage& damage : pool_.verify()) ADD_FAILURE() << damage.what;
    for (const TargetInfo& target : targets(pool_)) EXPECT_EQ(target.trouble, "");
    pool_.munmap();
    pool_.mmap(here_ / "pool");
    for (std::uint64_t block = 0; block < blocks; ++block) look_at(block, true);
    std::printf(
        "faults: targets failed %llu times in %zu ways; %llu stores went on, %llu loads were refused "
        "meanwhile\n",
        static_cast<unsigned long long>(rounds_), played.size(), static_cast<unsigned long long>(stores_),
        static_cast<unsigned long long>(refused_));
}

}  // namespace
}  // namespace pmemcpy
