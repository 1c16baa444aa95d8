#include "persist/ways.hpp"

#include <cstring>
#include <random>
#include <vector>

#include <gtest/gtest.h>
#include <pmemcpy/error.hpp>

#include "base/crc32c.hpp"
#include "os/calls.hpp"
#include "os/map.hpp"
#include "persist/copy.hpp"

namespace {

using namespace pmemcpy;
using namespace pmemcpy::persist;

constexpr std::uint64_t mib = std::uint64_t{1} << 20;
constexpr Medium medium(Durability::none);

std::uint64_t calls_made = 0;

/// A file in memory that is mapped and allocated, and of which no page has been touched.
class WaysTest : public ::testing::Test {
protected:
    WaysTest() {
        file_.allocate(0, size);
        map_ = os::Mapping(file_, size);
        std::mt19937_64 random(7);
        for (double& value : values_) value = static_cast<double>(static_cast<std::int64_t>(random()));
        calls_made = 0;
    }
    Place place(std::uint64_t offset) { return {map_.base() + offset, &file_, offset, &ways_}; }
    const std::byte* source() const { return reinterpret_cast<const std::byte*>(values_.data()); }

    void expect_right(std::uint64_t offset, std::size_t bytes) {
        Characteristic known;
        ASSERT_TRUE(store(medium, place(offset), source(), bytes, {Element::f64, true}, known));
        medium.fence();
        EXPECT_EQ(std::memcmp(map_.base() + offset, source(), bytes), 0);
        const Characteristic expected = characterise(source(), bytes, Element::f64);
        EXPECT_EQ(known.crc, expected.crc);
        EXPECT_EQ(known.minimum, expected.minimum);
        EXPECT_EQ(known.maximum, expected.maximum);
    }

    static constexpr std::uint64_t size = 64 * mib;
    os::File file_ = os::File::create_unnamed("/dev/shm/unnamed", 0600);
    os::Mapping map_;
    Ways ways_;
    std::vector<double> values_ = std::vector<double>(16 * mib / sizeof(double));
};

os::Calls counted() {
    os::Calls counting = os::system_calls();
    counting.pwrite = [](int fd, const void* bytes, size_t length, off_t offset) {
        ++calls_made;
        return ::pwrite(fd, bytes, length, offset);
    };
    return counting;
}

TEST_F(WaysTest, bring_the_same_bytes_checksum_and_range_whatever_the_size_and_place) {
    for (const std::size_t bytes :
         {std::size_t{8}, std::size_t{128} * 1024, 2 * mib, 2 * mib + 64, 7 * mib + 8 * 1001})
        for (const std::uint64_t offset :
             {std::uint64_t{0}, std::uint64_t{64} * 1024 + 64, 2 * mib, 2 * mib - 64})
            expect_right(offset, bytes);
}

TEST_F(WaysTest, write_by_calls_where_nobody_was_before) {
    const os::ScopedCalls counting(counted());
    expect_right(0, 2 * mib);
    EXPECT_GT(calls_made, 0U);
}

// What a simulation overwrites again and again is stored at the memory's speed from the third time on.
TEST_F(WaysTest, map_where_the_process_comes_back_to) {
    expect_right(0, 16 * mib);
    expect_right(0, 16 * mib);
    const os::ScopedCalls counting(counted());
    const std::uint64_t faults = [] {
        struct rusage usage {};
        ::getrusage(RUSAGE_THREAD, &usage);
        return static_cast<std::uint64_t>(usage.ru_minflt);
    }();
    Characteristic known;
    ASSERT_TRUE(store(medium, place(0), source(), 16 * mib, {Element::f64, true}, known));
    struct rusage usage {};
    ::getrusage(RUSAGE_THREAD, &usage);
    EXPECT_EQ(calls_made, 0U);
    EXPECT_LT(static_cast<std::uint64_t>(usage.ru_minflt) - faults, 16U);
}

// Each 32nd piece went the slower way once, which cost a new pool a twelfth where that took four times as long.
TEST(Ways, try_the_slower_one_more_rarely_the_slower_it_is_and_notice_when_it_is_not) {
    using Way = Ways::Way;
    Ways ways;
    const auto maps_of_a_thousand = [&](std::uint64_t nanoseconds_of_map) {
        int maps = 0;
        for (int i = 0; i < 1000; ++i) {
            const Way way = ways.next();
            maps += way == Way::map ? 1 : 0;
            ways.took(way, way == Way::map ? nanoseconds_of_map : 1000, 1000);
        }
        return maps;
    };
    EXPECT_LE(maps_of_a_thousand(4000), 6);
    EXPECT_GE(maps_of_a_thousand(4000), 1);
    maps_of_a_thousand(200);
    EXPECT_GE(maps_of_a_thousand(200), 960);
}

TEST_F(WaysTest, never_write_by_calls_where_lines_are_durable) {
    const os::ScopedCalls counting(counted());
    Characteristic known;
    ASSERT_TRUE(store(Medium(Durability::line), place(0), source(), 4 * mib, {Element::none, true}, known));
    EXPECT_EQ(calls_made, 0U);
    EXPECT_EQ(known.crc, base::crc32c(0, source(), 4 * mib));
}

// ulimit -f would make a signal of a write call, where a store through the mapping is allowed.
TEST_F(WaysTest, never_write_by_calls_beyond_the_limit_of_file_sizes) {
    os::Calls limited = counted();
    limited.getrlimit = [](int resource, struct rlimit* limit) {
        EXPECT_EQ(resource, RLIMIT_FSIZE);
        limit->rlim_cur = limit->rlim_max = mib;
        return 0;
    };
    const os::ScopedCalls replaced(limited);
    expect_right(0, 4 * mib);
    EXPECT_EQ(calls_made, 0U);
}

TEST_F(WaysTest, tell_what_the_file_refuses) {
    os::Calls failing = os::system_calls();
    failing.pwrite = [](int, const void*, size_t, off_t) -> ssize_t {
        errno = EIO;
        return -1;
    };
    const os::ScopedCalls replaced(failing);
    Characteristic known;
    try {
        static_cast<void>(store(medium, place(0), source(), 4 * mib, {Element::none, true}, known));
        FAIL() << "stored what the file refused";
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), Code::io_error);
    }
}

// Processes that write to one file wait for each other, so that the mapping may become the faster way, and stop to be it.
TEST(Ways, take_the_faster_one_and_try_the_other_now_and_then) {
    Ways ways;
    const auto share_of_calls = [&](int turns) {
        int calls = 0;
        for (int turn = 0; turn < turns; ++turn) calls += ways.next() == Ways::Way::call ? 1 : 0;
        return static_cast<double>(calls) / turns;
    };
    EXPECT_EQ(share_of_calls(8), 0.5) << "nothing is known yet";
    ways.took(Ways::Way::call, 1000, 1000);
    ways.took(Ways::Way::map, 500, 1000);
    const double rarely = share_of_calls(640);
    EXPECT_GT(rarely, 0);
    EXPECT_LT(rarely, 0.1);
    for (int turn = 0; turn < 16; ++turn) ways.took(Ways::Way::map, 5000, 1000);
    const double mostly = share_of_calls(640);
    EXPECT_GT(mostly, 0.9);
    EXPECT_LT(mostly, 1);
}

}  // namespace
