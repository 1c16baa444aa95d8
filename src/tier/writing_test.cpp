#include "tier/writing.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace pmemcpy::tier {
namespace {

Target target(double bytes_per_second, double latency_s) {
    Target target;
    target.write = {bytes_per_second, latency_s};
    return target;
}

Target measured(double alone, double together, unsigned processes) {
    Target measured = target(alone, 1e-5);
    measured.measured = Measured{.processes = processes, .write = {together, 1e-5}};
    return measured;
}

TEST(writing, is_in_calls_beside_which_the_latency_is_little) {
    EXPECT_EQ(write_bytes(target(10e9, 1e-6)), 256U << 10);  // memory: as little as a cache holds
    EXPECT_EQ(write_bytes(target(2e9, 25e-6)), 512U << 10);  // NVMe
    EXPECT_EQ(write_bytes(target(1e9, 200e-6)), 2U << 20);   // a server near by
    EXPECT_EQ(write_bytes(target(200e6, 10e-3)), 4U << 20);  // a disk: what one has time for
    EXPECT_EQ(write_bytes(target(1e300, 1e300)), 4U << 20);
    EXPECT_EQ(write_bytes(target(0, 0)), 256U << 10);  // nobody has said
    EXPECT_EQ(write_bytes(target(NAN, 1)), 256U << 10);
}

TEST(writing, goes_by_nothing_that_is_only_a_limit) {
    Target slow = measured(1e6, 8e6, 8);
    slow.write.latency_s = 1;
    EXPECT_EQ(write_bytes(slow), 4U << 20);
    EXPECT_EQ(writers({}, slow), 9U);
    slow.limited = true;
    EXPECT_EQ(write_bytes(slow), 256U << 10);
    EXPECT_EQ(writers({}, slow), 2U);
}

TEST(writing, is_done_by_as_many_as_have_more_of_it_together) {
    EXPECT_EQ(writers({}, target(1e9, 1e-5)), 2U);        // one is read while the other is written
    EXPECT_EQ(writers({}, measured(1e9, 1e9, 8)), 2U);    // one writer has it all
    EXPECT_EQ(writers({}, measured(1e9, 0.5e9, 8)), 2U);  // or more, alone
    EXPECT_EQ(writers({}, measured(1e9, 2.5e9, 8)), 4U);
    EXPECT_EQ(writers({}, measured(1e9, 7.9e9, 8)), 9U);
    EXPECT_EQ(writers({}, measured(1e9, 1e15, 8)), 9U);  // no more than were there
    EXPECT_EQ(writers({}, measured(1, 1e15, 4'000'000'000)), 64U);
    EXPECT_EQ(writers({}, measured(0, 1e9, 8)), 2U);
    EXPECT_EQ(writers({}, measured(1e9, NAN, 8)), 2U);
}

TEST(writing, is_done_by_as_many_as_the_user_says) {
    Flush flush;
    flush.threads = 1;
    EXPECT_EQ(writers(flush, measured(1e9, 7.9e9, 8)), 1U);
    flush.threads = 64;
    EXPECT_EQ(writers(flush, measured(1e9, 1e9, 8)), 64U);
}

}  // namespace
}  // namespace pmemcpy::tier
