// What is read from below the pool comes up, and what is read next before it is read.

#include <pmemcpy/tiers.hpp>

#include "tests/conformance/outcome.hpp"
#include "tests/conformance/two_targets.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <thread>

namespace pmemcpy {
namespace {

using namespace std::chrono_literals;

// Twenty blocks of which the first sixteen lie below.
class promoting : public TwoTargets {
protected:
    PMEM filled(Promotion promotion) {
        PMEM pool = open(64 * mebibyte);
        Hierarchy h = hierarchy(Buffering::none);
        h.promotion = Promotion::never;
        set_hierarchy(pool, h);
        alloc(pool);
        for (std::uint64_t i = 0; i < 16; ++i) store(pool, i, static_cast<double>(i));
        move(pool, "a", "pfs");
        for (std::uint64_t i = 16; i < 20; ++i) store(pool, i, static_cast<double>(i));
        h.promotion = promotion;
        set_hierarchy(pool, h);
        return pool;
    }
};

TEST_F(promoting, what_is_read_comes_up_and_the_rest_stays) {
    PMEM pool = filled(Promotion::on_read);
    for (const std::uint64_t i : {3U, 9U, 17U}) expect(pool, i, static_cast<double>(i));
    wait_until("two are back", [&] { return count_in(pool, "a", "pfs") == 14; });
    for (const std::uint64_t i : {3U, 9U}) expect(pool, i, static_cast<double>(i));
    const ReadCounters counters = read_counters(pool);
    EXPECT_EQ(counters.below, 2U);
    EXPECT_EQ(counters.above, 3U);
    EXPECT_EQ(counters.brought_up, 2U);
    EXPECT_EQ(counters.read_ahead, 0U);
    EXPECT_EQ(count_in(pool, "a", "pfs"), 14U);
}

TEST_F(promoting, what_is_read_next_comes_up_before_it_is_read) {
    PMEM pool = filled(Promotion::read_ahead);
    for (std::uint64_t i = 0; i < 3; ++i) expect(pool, i, static_cast<double>(i));
    wait_until("four more are there", [&] { return count_in(pool, "a", "pfs") == 9; });
    for (std::uint64_t i = 3; i < 7; ++i) {
        const auto view = pool.view<double>("a", Box{{i, 0}, {1, numbers_in_block}});
        EXPECT_EQ(view[1], static_cast<double>(i + 1));
    }
    const ReadCounters counters = read_counters(pool);
    EXPECT_EQ(counters.below, 3U);
    EXPECT_EQ(counters.ahead_used, 4U);
}

TEST_F(promoting, nothing_comes_up_where_that_is_not_wanted) {
    PMEM pool = filled(Promotion::never);
    for (std::uint64_t i = 0; i < 8; ++i) expect(pool, i, static_cast<double>(i));
    std::this_thread::sleep_for(300ms);
    EXPECT_EQ(count_in(pool, "a", "pfs"), 16U);
    EXPECT_EQ(read_counters(pool).below, 0U) << "nobody counts";
    Hierarchy h = hierarchy(Buffering::none);
    h.promotion = Promotion::on_read;
    h.rules = {{.match = "a", .pin = "pfs"}};
    set_hierarchy(pool, h);
    for (std::uint64_t i = 0; i < 8; ++i) expect(pool, i, static_cast<double>(i));
    std::this_thread::sleep_for(300ms);
    EXPECT_EQ(count_in(pool, "a", "pfs"), 16U);
}

TEST_F(promoting, makes_room_for_what_is_read_and_never_more_than_the_pool_has) {
    PMEM pool = open(8 * mebibyte);
    set_hierarchy(pool, hierarchy(Buffering::write_back));
    alloc(pool);
    for (std::uint64_t i = 0; i < 30; ++i) store(pool, i, static_cast<double>(i));
    for (int round = 0; round < 4; ++round) {
        for (std::uint64_t i = 0; i < 30; ++i) expect(pool, i, static_cast<double>(i));
    }
    wait_until("what is read again and again is above", [&] {
        expect(pool, 2, 2);
        for (const BlockInfo& block : pool.blocks("a")) {
            if (block.box.offset[0] == 2) return block.target.empty();
        }
        return false;
    });
    EXPECT_GT(read_counters(pool).brought_up + read_counters(pool).read_ahead, 0U);
    EXPECT_TRUE(pool.verify().empty());
}

}  // namespace
}  // namespace pmemcpy
