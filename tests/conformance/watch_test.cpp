// Somebody waits for what another stores: he hears of it, misses nothing, and sleeps otherwise.

#include <atomic>
#include <chrono>
#include <pmemcpy/pmemcpy.hpp>
#include <string>
#include <thread>
#include <vector>

#include "os/process.hpp"
#include "pool_suite.hpp"

namespace pmemcpy::conformance {
namespace {

using namespace std::chrono_literals;

class watch : public PoolSuite {
protected:
    void SetUp() override {
        open();
        pmem.store("v", 0);
        Options reading = options();
        reading.mode = Mode::read;
        reader.mmap(path(), reading);  // a mere reader, as another process would be
    }
    PMEM reader;
};
INSTANTIATE_TEST_SUITE_P(layouts, watch, layouts(), name_of_layout);

TEST_P(watch, hears_of_whatever_readers_see_anew) {
    const std::vector<int> line(8, 1);
    Watch value = reader.watch("v"), array = reader.watch("A"), name = reader.watch("w");
    EXPECT_FALSE(value.wait(0ns));
    pmem.store("v", 1);
    EXPECT_TRUE(value.wait(0ns));
    EXPECT_FALSE(value.wait(0ns)) << "once";
    EXPECT_FALSE(array.wait(0ns));
    pmem.alloc<int>("A", Dimensions{8});
    EXPECT_TRUE(array.wait(0ns)) << "it is there";
    pmem.store<int>("A", line.data(), Box{{0}, {4}});
    pmem.store<int>("A", line.data(), Box{{4}, {4}});
    EXPECT_TRUE(array.wait(0ns));
    EXPECT_FALSE(array.wait(0ns)) << "several stores in between count once";
    pmem.begin(1);
    pmem.store("v", 2);
    pmem.store<int>("A", line.data(), Box{{0}, {8}});
    EXPECT_FALSE(value.wait(0ns)) << "a step that is not committed is not seen";
    EXPECT_FALSE(array.wait(0ns));
    pmem.commit(1);
    EXPECT_TRUE(value.wait(0ns));
    EXPECT_TRUE(array.wait(0ns));
    pmem.rename("v", "w");
    EXPECT_TRUE(value.wait(0ns));
    EXPECT_TRUE(name.wait(0ns));
    pmem.erase("w");
    EXPECT_TRUE(name.wait(0ns));
    EXPECT_FALSE(name.wait(1ms));
    expect_error(Code::invalid_argument, [&] { static_cast<void>(reader.watch("")); });
}

// Each side waits for the other's answer, so one that was missed would never come.
// A step is committed when others have stored newer versions long since.
TEST_P(watch, hears_of_a_commit_of_what_is_older_than_what_it_has_heard_of) {
    const std::vector<int> line(8, 1);
    PMEM other;
    other.mmap(path(), options());
    pmem.alloc<int>("A", Dimensions{16});
    Watch array = reader.watch("A");
    pmem.begin(1);
    pmem.store<int>("A", line.data(), Box{{0}, {8}});
    other.store<int>("A", line.data(), Box{{8}, {8}});
    EXPECT_TRUE(array.wait(0ns));
    EXPECT_FALSE(array.wait(0ns));
    pmem.commit(1);
    EXPECT_TRUE(array.wait(0ns));
    EXPECT_FALSE(array.wait(0ns));
}

TEST_P(watch, misses_nothing_between_two_that_answer_each_other) {
    constexpr int turns = 2000;
    pmem.store("ping", 0);
    pmem.store("pong", 0);
    PMEM other;
    other.mmap(path(), options());
    std::thread answering([&] {
        Watch ping = other.watch("ping");
        for (int i = 1; i <= turns; ++i) {
            while (other.load<int>("ping") != i) ASSERT_TRUE(ping.wait(20s));
            other.store("pong", i);
        }
    });
    Watch pong = pmem.watch("pong");
    for (int i = 1; i <= turns; ++i) {
        pmem.store("ping", i);
        while (pmem.load<int>("pong") != i && !HasFailure())
            EXPECT_TRUE(pong.wait(20s)) << "the answer to " << i;
    }
    answering.join();
}

TEST_P(watch, sleeps_while_nothing_comes) {
    std::atomic<bool> heard = false;
    std::uint64_t slept_ns = 0;
    std::thread waiting([&] {
        Watch value = reader.watch("v");
        static_cast<void>(value.wait(200ms));  // past the time in which it looks again
        const auto cpu = [] {
            timespec time{};
            ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
            return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 +
                   static_cast<std::uint64_t>(time.tv_nsec);
        };
        const std::uint64_t before = cpu();
        heard = value.wait(20s);
        slept_ns = cpu() - before;
    });
    os::sleep_ns(500'000'000);
    EXPECT_FALSE(heard);
    pmem.store("v", 1);
    waiting.join();
    EXPECT_TRUE(heard);
    EXPECT_LT(slept_ns, 50'000'000u) << "of its processor's time, in 300 ms or more";
}

// A watch keeps the pool, as a view does; its process may close it and others go on.
TEST_P(watch, outlives_munmap) {
    Watch value = reader.watch("v");
    reader.munmap();
    pmem.store("v", 5);
    EXPECT_TRUE(value.wait(10s));
    EXPECT_FALSE(value.wait(0ns));
}

}  // namespace
}  // namespace pmemcpy::conformance
