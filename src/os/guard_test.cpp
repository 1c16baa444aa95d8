#include "os/guard.hpp"

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "os/file.hpp"
#include "os/map.hpp"

namespace {

using namespace pmemcpy::os;

/// Two pages mapped of a file of one: the second is SIGBUS.
struct HalfGone {
    HalfGone() {
        file.resize(4096);
        map = Mapping(file, 8192);
    }
    File file = File::create_unnamed("/dev/shm/unnamed", 0600);
    Mapping map;
};

TEST(os, a_guarded_copy_from_vanished_memory_says_false) {
    const HalfGone memory;
    char bytes[8192];
    for (int again = 0; again < 3; ++again) {
        EXPECT_TRUE(guarded(memory.map.base(), 4096, [&] { std::memcpy(bytes, memory.map.base(), 4096); }));
        EXPECT_FALSE(guarded(memory.map.base(), 8192, [&] { std::memcpy(bytes, memory.map.base(), 8192); }));
        EXPECT_FALSE(guarded(memory.map.base(), 8192, [&] { std::memset(memory.map.base(), 0, 8192); }));
    }
}

TEST(os, guards_nest_and_each_catches_its_own) {
    const HalfGone a;
    const HalfGone b;
    char bytes[8192];
    bool inner = true;
    EXPECT_TRUE(guarded(a.map.base(), 8192, [&] {
        inner = guarded(b.map.base(), 8192, [&] { std::memcpy(bytes, b.map.base(), 8192); });
    }));
    EXPECT_FALSE(inner);
    EXPECT_FALSE(guarded(a.map.base(), 8192, [&] {
        inner = guarded(b.map.base(), 4096, [&] { std::memcpy(bytes, a.map.base(), 8192); });
    }));
    EXPECT_FALSE(guarded(b.map.base(), 8192, [&] { std::memcpy(bytes, b.map.base(), 8192); }));
}

TEST(os, threads_are_guarded_apart) {
    std::vector<std::thread> threads;
    threads.reserve(4);
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([] {
            const HalfGone memory;
            char bytes[8192];
            for (int again = 0; again < 100; ++again) {
                EXPECT_FALSE(
                    guarded(memory.map.base(), 8192, [&] { std::memcpy(bytes, memory.map.base(), 8192); }));
            }
        });
    }
    for (auto& thread : threads) thread.join();
}

void fault_outside_of_a_guard() {
    const HalfGone memory;
    const HalfGone elsewhere;
    const auto touch = [&] { *const_cast<volatile std::byte*>(elsewhere.map.base() + 5000) = std::byte{1}; };
    (void)guarded(memory.map.base(), 8192, touch);
}

// The death tests run in fresh processes ("threadsafe"), where no guard has been used yet.
TEST(os, a_fault_elsewhere_still_kills) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_DEATH(fault_outside_of_a_guard(), "");
}

TEST(os, a_fault_elsewhere_goes_to_the_handler_that_was_there_before) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT(
        {
            std::signal(SIGBUS, [](int) { std::_Exit(42); });
            fault_outside_of_a_guard();
        },
        testing::ExitedWithCode(42), "");
}

}  // namespace
