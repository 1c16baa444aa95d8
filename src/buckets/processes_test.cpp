// Processes that borrow, hand over and die at any moment.

#include <chrono>
#include <csignal>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>
#include <pmemcpy/buckets.hpp>

#include "tests/folder.hpp"

namespace pmemcpy {
namespace {

constexpr std::uint64_t page = 4096;
constexpr std::uint64_t bucket_count = 96;

struct Marked {
    Buckets buckets;
    std::uint64_t mark = 0;

    void write() const {
        for_each_page([&](std::byte* bytes) { std::memcpy(bytes, &mark, 8); });
    }
    bool is_whole() const {
        bool is = true;
        for_each_page([&](const std::byte* bytes) { is = is && std::memcmp(bytes, &mark, 8) == 0; });
        return is;
    }

private:
    template <typename F>
    void for_each_page(F&& look) const {
        for (std::size_t i = 0; i < buckets.pieces(); ++i) {
            const auto bytes = buckets.piece(i);
            for (std::size_t at = 0; at < bytes.size(); at += page) look(bytes.data() + at);
        }
    }
};

bool is_not_found(const Error& error) { return error.kind() == Code::not_found; }

/// Fills what it has with its own number and looks whether it stays so: a bucket that is lent twice shows at once. Returns only if it does not.
void work(const std::string& path, std::uint64_t seed) {
    BucketPool pool = BucketPool::open(path);
    std::mt19937_64 random(seed);
    std::vector<Marked> held;
    for (;;) {
        auto got = pool.try_acquire(1 + random() % ((random() % 2 == 0 ? 3 : 12) * page));
        if (got) {
            Marked some{std::move(*got), random()};
            some.write();
            if (random() % 4 == 0) some.buckets.set_full(some.mark, some.buckets.bytes());
            if (random() % 4 == 0) some.buckets.move(Region::nvme);
            if (!some.is_whole()) return;
            if (random() % 4 == 0) {
                const auto ids = some.buckets.offer(some.mark, some.buckets.bytes());
                if (random() % 2 == 0) {
                    try {
                        some.buckets = pool.take(ids);
                        if (!some.is_whole()) return;
                    } catch (const Error& error) {
                        if (!is_not_found(error)) return;
                    }
                }
            } else if (random() % 2 == 0) {
                held.push_back(std::move(some));
            }
        }
        for (const BucketInfo& info : random() % 8 == 0 ? pool.list() : std::vector<BucketInfo>{})
            if (info.state == BucketState::offered) pool.discard(info.id);
        if (random() % 8 == 0) {
            const std::vector<BucketInfo> left = pool.left_behind();
            for (std::size_t i = random() % 3; i < left.size(); i += 1 + random() % 4) {
                try {
                    Marked one{pool.take({&left[i].id, 1}), random()};
                    one.write();
                    held.push_back(std::move(one));
                } catch (const Error& error) {
                    if (!is_not_found(error)) return;
                }
            }
        }
        while (!held.empty() && (random() % 2 == 0 || held.size() > 4)) {
            if (!held.front().is_whole()) return;
            held.erase(held.begin());
        }
        if (random() % 16 == 0) pool.reclaim();
    }
}

TEST(buckets_of_many, are_none_lost_and_none_lent_twice_whoever_is_killed) {
    const Folder folder;
    const std::string path = folder / "b";
    BucketPool pool = BucketPool::create(path, {.bucket_bytes = page, .count = bucket_count});
    std::mt19937_64 random(1);
    std::vector<pid_t> workers;
    std::uint64_t seed = 1;
    const auto start = [&] {
        const pid_t child = ::fork();
        if (child == 0) {
            work(path, seed);
            ::_exit(1);
        }
        ++seed;
        return child;
    };
    for (int i = 0; i < 4; ++i) workers.push_back(start());
    for (int deaths = 0; deaths < 150; ++deaths) {
        std::this_thread::sleep_for(std::chrono::microseconds(random() % 8000));
        pid_t& chosen = workers[random() % workers.size()];
        ::kill(chosen, SIGKILL);
        int status = 0;
        ::waitpid(chosen, &status, 0);
        ASSERT_TRUE(WIFSIGNALED(status)) << "a worker found another's mark in its bucket, or an error";
        chosen = start();
    }
    for (const pid_t worker : workers) {
        ::kill(worker, SIGKILL);
        int status = 0;
        ::waitpid(worker, &status, 0);
        ASSERT_TRUE(WIFSIGNALED(status));
    }
    // Nobody lives: each bucket is free, on offer or left behind; and then all can be had.
    for (const BucketInfo& info : pool.list()) {
        EXPECT_TRUE(info.is_left_behind || info.state == BucketState::offered);
        if (info.state == BucketState::offered) pool.discard(info.id);
    }
    pool.reclaim();
    EXPECT_EQ(pool.count(Region::available), bucket_count);
    EXPECT_EQ(pool.acquire(bucket_count * page).count(), bucket_count);
}

}  // namespace
}  // namespace pmemcpy
