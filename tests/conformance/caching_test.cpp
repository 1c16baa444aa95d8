// Length: one promise after another of the same pool and the same target below it.
// The pool as a cache: what is hot, what leaves first, what comes up before it is read, and the numbers of all that.

#include <pmemcpy/caching.hpp>

#include "tests/conformance/outcome.hpp"
#include "tests/conformance/two_targets.hpp"

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace pmemcpy {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

class caching : public TwoTargets {
protected:
    PMEM open(Mode mode = Mode::create_or_update, std::uint64_t max_bytes = 8 * mebibyte) const {
        return TwoTargets::open(max_bytes, mode);
    }
    Hierarchy hierarchy(Replacement replacement = Replacement::fifo) const {
        Hierarchy h = TwoTargets::hierarchy(Buffering::none);
        h.flush.threads = 1;
        h.watermarks = {1, 1};  // nobody makes room but who needs it, and no more than that
        h.promotion = Promotion::never;
        h.replacement = replacement;
        h.half_life_s = 3600;
        return h;
    }
    static Box box(std::uint64_t i) { return {{i, 0}, {1, numbers_in_block}}; }
    static void store(PMEM& pool, std::uint64_t i, const std::string& id = "a") {
        pool.store<double>(id, numbers(static_cast<double>(i)).data(), box(i));
    }
    static void read(const PMEM& pool, std::uint64_t i, const std::string& id = "a", int times = 1) {
        std::vector<double> found(numbers_in_block);
        for (int time = 0; time < times; ++time) {
            pool.load<double>(id, found.data(), box(i));
            ASSERT_EQ(found, numbers(static_cast<double>(i))) << id << " block " << i;
        }
    }
    /// Blocks of an array that lie below the pool.
    static std::set<std::uint64_t> below(const PMEM& pool, const std::string& id = "a") {
        std::set<std::uint64_t> all;
        for (const BlockInfo& block : pool.blocks(id)) {
            if (!block.target.empty()) all.insert(block.box.offset[0]);
        }
        return all;
    }
    /// Six blocks in the pool, which takes no seventh; some are read, and then others are stored until two have left.
    std::set<std::uint64_t> first_two_to_leave(const Hierarchy& h, const std::function<void(PMEM&)>& use) {
        PMEM pool = open();
        set_hierarchy(pool, h);
        alloc(pool);
        for (std::uint64_t i = 0; i < 6; ++i) store(pool, i);
        EXPECT_TRUE(below(pool).empty());
        use(pool);
        alloc(pool, "more");
        for (std::uint64_t i = 0; below(pool).size() < 2 && i < 8; ++i) store(pool, i, "more");
        EXPECT_TRUE(pool.verify().empty());
        return below(pool);
    }
    /// Rules that store an array below, and let it come up.
    static void prefer_below(Hierarchy& h, const std::string& match) {
        h.rules.push_back({.match = match, .prefer = {"pfs"}});
    }
    static VariableHeat heat_of_one(const PMEM& pool, const std::string& id) {
        for (const VariableHeat& each : heat_of(pool)) {
            if (each.id == id) return each;
        }
        ADD_FAILURE() << id << " is not among those that have blocks";
        return {};
    }
};

using Blocks = std::set<std::uint64_t>;

TEST_F(caching, heat_is_how_often_a_variable_was_read_by_all_who_count_and_outlives_them) {
    {
        PMEM pool = open();
        EXPECT_TRUE(heat_of(pool).empty());
        set_hierarchy(pool, hierarchy());
        alloc(pool, "hot");
        alloc(pool, "cold");
        for (std::uint64_t i = 0; i < 2; ++i) store(pool, i, "hot");
        store(pool, 0, "cold");
        read(pool, 0, "hot", 5);
        const pid_t child = fork();
        if (child == 0) {
            const PMEM other = open();
            read(other, 1, "hot", 9);
            _exit(testing::Test::HasFailure() ? 1 : 0);
        }
        int status = -1;
        waitpid(child, &status, 0);
        ASSERT_EQ(status, 0);
        EXPECT_NEAR(heat_of_one(pool, "hot").reads, 7, 0.1);
        EXPECT_EQ(heat_of_one(pool, "hot").score, 2U) << "a little less than seven is left";
        EXPECT_EQ(heat_of_one(pool, "cold").score, 0U);
        EXPECT_EQ(heat_of(pool).front().id, "hot");
        pool.rename("hot", "renamed");
        EXPECT_NEAR(heat_of_one(pool, "renamed").reads, 7, 0.1);
    }
    const PMEM later = open(Mode::read);
    read(later, 0, "renamed", 50);
    EXPECT_NEAR(heat_of_one(later, "renamed").reads, 7, 0.1) << "who may only read leaves no trace";
    fs::remove(here_ / "pool.heat");
    EXPECT_TRUE(heat_of(open(Mode::read)).empty());
    PMEM again = open();
    read(again, 0, "renamed");
    EXPECT_NEAR(heat_of_one(again, "renamed").reads, 0.5, 0.1);
    remove_hierarchy(again);
    EXPECT_FALSE(fs::exists(here_ / "pool.heat"));
}

TEST_F(caching, the_first_that_came_leaves_first) {
    EXPECT_EQ(first_two_to_leave(hierarchy(), [](PMEM& pool) { read(pool, 0, "a", 5); }), (Blocks{0, 1}));
}

TEST_F(caching, the_one_that_was_not_read_for_the_longest_time_leaves_first) {
    const auto use = [](PMEM& pool) {
        read(pool, 1, "a", 9);
        for (const std::uint64_t i : {0U, 2U, 3U, 5U, 4U}) {
            std::this_thread::sleep_for(5ms);
            read(pool, i);
        }
    };
    EXPECT_EQ(first_two_to_leave(hierarchy(Replacement::lru), use), (Blocks{1, 0}));
}

TEST_F(caching, the_one_that_was_read_least_leaves_first) {
    const auto use = [](PMEM& pool) {
        for (const std::uint64_t i : {0U, 1U, 2U, 5U}) read(pool, i, "a", 4);
        read(pool, 4);
        read(pool, 3, "a", 2);
    };
    EXPECT_EQ(first_two_to_leave(hierarchy(Replacement::lfu), use), (Blocks{3, 4}));
}

TEST_F(caching, what_was_read_after_somebody_looked_stays) {
    PMEM pool = open();
    set_hierarchy(pool, hierarchy(Replacement::lru));
    alloc(pool);
    for (std::uint64_t i = 0; i < 6; ++i) store(pool, i);
    alloc(pool, "more");
    std::uint64_t next = 0;
    while (below(pool).empty()) store(pool, next++, "more");
    ASSERT_EQ(below(pool), Blocks{0});
    std::this_thread::sleep_for(5ms);
    read(pool, 1);
    while (below(pool).size() < 2) store(pool, next++, "more");
    EXPECT_EQ(below(pool), (Blocks{0, 2}));
}

TEST_F(caching, the_oldest_step_leaves_first) {
    PMEM pool = open();
    set_hierarchy(pool, hierarchy(Replacement::application));
    alloc(pool);
    for (const std::uint64_t step : {1U, 2U, 3U}) {
        pool.begin(step);
        store(pool, step);
        pool.commit(step);
    }
    for (std::uint64_t i = 4; i < 7; ++i) store(pool, i);
    read(pool, 1, "a", 9);
    alloc(pool, "more");
    for (std::uint64_t i = 0; below(pool).size() < 4 && i < 8; ++i) store(pool, i, "more");
    EXPECT_EQ(below(pool), (Blocks{4, 5, 6, 1})) << "what belongs to no step goes before all steps";
}

TEST_F(caching, what_the_application_does_not_need_leaves_first_and_what_it_needs_last) {
    for (const Replacement each :
         {Replacement::fifo, Replacement::lru, Replacement::lfu, Replacement::application}) {
        const auto use = [](PMEM& pool) {
            EXPECT_EQ(wont_need(pool, "a", Box{{4, 0}, {1, 5}}), 1U);
            EXPECT_EQ(will_need(pool, "a", Box{{0, 0}, {3, numbers_in_block}}), 3U);
        };
        EXPECT_EQ(first_two_to_leave(hierarchy(each), use), (Blocks{4, 3})) << name_of(each);
        fs::remove(here_ / "pool");
        fs::remove(here_ / "pool.heat");
    }
}

TEST_F(caching, a_hint_that_comes_late_counts_and_is_over_when_the_block_is_read) {
    PMEM pool = open();
    set_hierarchy(pool, hierarchy());
    alloc(pool);
    for (std::uint64_t i = 0; i < 6; ++i) store(pool, i);
    alloc(pool, "more");
    std::uint64_t next = 0;
    while (below(pool).empty()) store(pool, next++, "more");
    wont_need(pool, "a", box(5));
    wont_need(pool, "a", box(4));
    read(pool, 4);
    while (below(pool).size() < 2) store(pool, next++, "more");
    EXPECT_EQ(below(pool), (Blocks{0, 5}));
    while (below(pool).size() < 3) store(pool, next++, "more");
    EXPECT_EQ(below(pool), (Blocks{0, 1, 5}));
}

TEST_F(caching, what_is_needed_comes_up_also_where_nothing_does_by_itself) {
    PMEM pool = open();
    Hierarchy h = hierarchy();
    prefer_below(h, "**");
    set_hierarchy(pool, h);
    alloc(pool, "g/a");
    alloc(pool, "g/b");
    alloc(pool, "c");
    for (const char* id : {"g/a", "g/b", "c"}) store(pool, 0, id);
    store(pool, 1, "g/a");
    EXPECT_EQ(will_need(pool, "g"), 3U);
    wait_until("the group is up", [&] { return below(pool, "g/a").empty() && below(pool, "g/b").empty(); });
    EXPECT_EQ(below(pool, "c"), Blocks{0});
    EXPECT_EQ(will_need(pool, "c", box(0)), 1U);
    wait_until("the block is up", [&] { return below(pool, "c").empty(); });
    EXPECT_EQ(pool_counters(pool)->read_ahead, 4U);
    read(pool, 0, "c");
    EXPECT_EQ(pool_counters(pool)->ahead_used, 1U);
}

TEST_F(caching, more_than_there_is_room_for_may_be_needed) {
    PMEM pool = open();
    Hierarchy h = hierarchy();
    prefer_below(h, "**");
    set_hierarchy(pool, h);
    alloc(pool);
    for (std::uint64_t i = 0; i < 20; ++i) store(pool, i);
    EXPECT_EQ(will_need(pool, "a"), 20U);
    wait_until("the pool is full", [&] { return below(pool).size() <= 14; });
    std::this_thread::sleep_for(200ms);
    const PoolCounters counters = *pool_counters(pool);
    EXPECT_EQ(counters.ahead_wasted, 0U) << "none takes the place of another that is needed";
    EXPECT_EQ(counters.read_ahead, 20 - below(pool).size());
}

TEST_F(caching, a_hierarchy_that_was_taken_away_and_given_again_is_counted_by_all) {
    PMEM pool = open();
    PMEM other = open();
    set_hierarchy(pool, hierarchy());
    alloc(pool);
    store(pool, 0);
    store(other, 1);
    remove_hierarchy(pool);
    set_hierarchy(pool, hierarchy());
    store(other, 2);  // which hears of it by storing
    read(other, 0);
    read(pool, 0);
    EXPECT_EQ(pool_counters(pool)->hits, 2U);
    EXPECT_EQ(pool_counters(other)->hits, 2U);
}

TEST_F(caching, hints_refuse_what_makes_no_sense) {
    PMEM pool = open();
    alloc(pool, "g/a");
    EXPECT_EQ(code_of([&] { will_need(pool, "g/a"); }, "no hierarchy"), Code::invalid_argument);
    EXPECT_EQ(code_of([&] { set_prefetcher(pool, {}); }, "no hierarchy"), Code::invalid_argument);
    set_hierarchy(pool, hierarchy());
    EXPECT_EQ(will_need(pool, "g/a"), 0U);
    EXPECT_EQ(code_of([&] { will_need(pool, "b"); }, "no 'b'"), Code::not_found);
    EXPECT_EQ(code_of([&] { wont_need(pool, "g", box(0)); }, "is a group"), Code::invalid_argument);
    EXPECT_EQ(code_of([&] { will_need(pool, "g/a", Box{{0}, {1}}); }), Code::invalid_argument);
    EXPECT_EQ(code_of([&] { set_prefetcher(pool, {}); }, "promotion: never"), Code::invalid_argument);
    store(pool, 0, "g/a");
    PMEM reader = open(Mode::read);
    EXPECT_EQ(code_of([&] { will_need(reader, "g/a"); }), Code::permission_denied);
    EXPECT_EQ(code_of([&] { set_prefetcher(reader, {}); }), Code::permission_denied);
}

TEST_F(caching, under_hot_data_what_is_hot_comes_up_and_what_is_cold_gives_way_without_anybody_waiting) {
    PMEM pool = open();
    Hierarchy h = hierarchy();
    h.policy = Policy::hot_data;
    h.promotion = Promotion::on_read;
    set_hierarchy(pool, h);
    alloc(pool, "cold");
    for (std::uint64_t i = 0; i < 7; ++i) store(pool, i, "cold");
    alloc(pool, "hot");
    store(pool, 0, "hot");
    move(pool, "hot", "pfs");
    read(pool, 0, "hot", 40);
    wait_until("what is hot is up", [&] { return below(pool, "hot").empty(); });
    const Blocks left = below(pool, "cold");
    // All the others are read once; they never take the place of what was read forty times.
    for (int round = 0; round < 3; ++round) {
        for (std::uint64_t i = 0; i < 7; ++i) read(pool, i, "cold");
        std::this_thread::sleep_for(120ms);
        EXPECT_TRUE(below(pool, "hot").empty());
    }
    EXPECT_TRUE(pool.verify().empty());
}

TEST_F(caching, under_hot_data_a_new_block_of_a_cold_variable_leaves_the_pool_to_what_is_hot) {
    PMEM pool = open();
    Hierarchy h = hierarchy();
    h.policy = Policy::hot_data;
    h.promotion = Promotion::on_read;
    set_hierarchy(pool, h);
    alloc(pool, "hot");
    for (std::uint64_t i = 0; i < 6; ++i) store(pool, i, "hot");
    for (std::uint64_t i = 0; i < 6; ++i) read(pool, i, "hot", 40);
    std::this_thread::sleep_for(
        200ms);  // somebody has looked how hot the coldest of them is, or will when room is made
    alloc(pool, "cold");
    for (std::uint64_t i = 0; i < 12; ++i) store(pool, i, "cold");
    EXPECT_LE(below(pool, "hot").size(), 1U);
    EXPECT_GE(below(pool, "cold").size(), 10U);
    for (std::uint64_t i = 0; i < 12; ++i) read(pool, i, "cold");
}

TEST_F(caching, what_follows_in_time_comes_up_before_it_is_read) {
    PMEM pool = open(Mode::create_or_update, 64 * mebibyte);
    Hierarchy h = hierarchy();
    prefer_below(h, "**");
    h.promotion = Promotion::read_ahead;
    set_hierarchy(pool, h);
    const auto id = [](int step) { return "u/000" + std::to_string(step); };
    for (int step = 1; step < 8; ++step) {
        alloc(pool, id(step));
        store(pool, 0, id(step));
    }
    for (int step = 1; step < 4; ++step) read(pool, 0, id(step));
    wait_until("the next two steps are up",
               [&] { return below(pool, id(4)).empty() && below(pool, id(5)).empty(); });
    EXPECT_EQ(below(pool, id(6)), Blocks{0});
    read(pool, 0, id(4));
    EXPECT_EQ(read_counters(pool).ahead_used, 1U);
    EXPECT_EQ(pool_counters(pool)->ahead_used, 1U);
}

TEST_F(caching, a_function_says_what_comes_up) {
    PMEM pool = open(Mode::create_or_update, 64 * mebibyte);
    Hierarchy h = hierarchy();
    prefer_below(h, "**");
    h.promotion = Promotion::read_ahead;
    set_hierarchy(pool, h);
    alloc(pool);
    alloc(pool, "b");
    for (std::uint64_t i = 0; i < 10; ++i) store(pool, i);
    store(pool, 0, "b");
    set_prefetcher(pool, [](const ReadBlock& block) -> std::vector<Ahead> {
        if (block.id == "b") throw std::runtime_error("not this one");
        EXPECT_EQ(block.box.count, (Dimensions{1, numbers_in_block}));
        if (block.box.offset[0] == 0) return {{"a", Box{{9, 0}, {1, 1}}}, {"b", {}}};
        return {{"nothing", {}}};
    });
    read(pool, 0);
    wait_until("what it says is up", [&] { return below(pool, "b").empty() && !below(pool).contains(9); });
    for (std::uint64_t i = 1; i < 4; ++i) read(pool, i);
    wait_until("those that were read are up", [&] { return below(pool).size() == 5; });
    EXPECT_EQ(below(pool), (Blocks{4, 5, 6, 7, 8})) << "patterns are not asked beside it";
    EXPECT_EQ(read_counters(pool).read_ahead, 2U);
    read(pool, 0, "b");
    wait_until("it has failed", [&] { return read_counters(pool).prefetcher_failed == 1; });
    set_prefetcher(pool, {});
    for (std::uint64_t i = 4; i < 7; ++i) read(pool, i);
    wait_until("patterns are asked again", [&] { return below(pool).empty(); });
}

TEST_F(caching, what_came_up_and_left_unread_was_wasted) {
    PMEM pool = open();
    set_hierarchy(pool, hierarchy());
    alloc(pool);
    for (std::uint64_t i = 0; i < 2; ++i) store(pool, i);
    move(pool, "a", "pfs");
    will_need(pool, "a");
    wait_until("they are up", [&] { return below(pool).empty(); });
    read(pool, 1);
    move(pool, "a", "pfs");
    PoolCounters counters = *pool_counters(pool);
    EXPECT_EQ(counters.read_ahead, 2U);
    EXPECT_EQ(counters.ahead_used, 1U);
    EXPECT_EQ(counters.ahead_wasted, 1U);
    wait_until("this process knows it, too", [&] { return read_counters(pool).ahead_wasted == 1; });
    read(pool, 0, "a", 3);
    counters = *pool_counters(pool);
    EXPECT_EQ(counters.hits, 1U);
    EXPECT_EQ(counters.misses, 3U);
    EXPECT_EQ(counters.returned, 3U);
    EXPECT_EQ(counters.targets[0].moved_out_bytes, 4 * mebibyte);
    EXPECT_EQ(counters.targets[0].stored_bytes, 2 * mebibyte);
    EXPECT_EQ(counters.targets[1].reads, 3U);
    EXPECT_EQ(counters.targets[1].moved_out_bytes, 2 * mebibyte);
    set_hierarchy(pool, hierarchy());
    EXPECT_EQ(pool_counters(pool)->misses, 0U) << "another hierarchy begins to count anew";
}

TEST_F(caching, processes_that_read_store_and_are_killed_leave_a_whole_pool) {
    {
        PMEM pool = open();
        Hierarchy h = hierarchy(Replacement::lfu);
        h.policy = Policy::hot_data;
        h.promotion = Promotion::read_ahead;
        h.watermarks = {0.9, 0.75};
        set_hierarchy(pool, h);
        alloc(pool);
        for (std::uint64_t i = 0; i < 16; ++i) store(pool, i);
    }
    for (int round = 0; round < 4; ++round) {
        std::vector<pid_t> children;
        for (unsigned k = 0; k < 2; ++k) {
            const pid_t child = fork();
            if (child == 0) {
                PMEM pool = open();
                set_prefetcher(pool, [](const ReadBlock& block) -> std::vector<Ahead> {
                    return {{"a", box((block.box.offset[0] * 7 + 3) % 16)}};
                });
                for (std::uint64_t i = k;; i = (i * 5 + 1) % 16) {
                    read(pool, i);
                    if (i % 3 == 0) store(pool, i);
                    if (i % 5 == 0) wont_need(pool, "a", box(i));
                    if (i % 7 == 0) will_need(pool, "a", box(i));
                }
            }
            children.push_back(child);
        }
        std::this_thread::sleep_for(300ms);
        for (const pid_t child : children) kill(child, SIGKILL);
        for (const pid_t child : children) waitpid(child, nullptr, 0);
        PMEM pool = open();
        for (std::uint64_t i = 0; i < 16; ++i) read(pool, i);
        EXPECT_TRUE(pool.verify().empty());
    }
}

TEST_F(caching, threads_may_do_all_of_it_at_once) {
    PMEM pool = open();
    Hierarchy h = hierarchy(Replacement::lru);
    h.promotion = Promotion::read_ahead;
    set_hierarchy(pool, h);
    alloc(pool);
    for (std::uint64_t i = 0; i < 12; ++i) store(pool, i);
    std::vector<std::thread> threads;
    for (unsigned k = 0; k < 2; ++k) {
        threads.emplace_back([&pool, k] {
            for (std::uint64_t i = 0; i < 40; ++i) read(pool, (i * (k + 1)) % 12);
        });
    }
    threads.emplace_back([&pool] {
        for (std::uint64_t i = 0; i < 20; ++i) {
            will_need(pool, "a", box(i % 12));
            wont_need(pool, "a", box((i + 5) % 12));
            static_cast<void>(heat_of(pool));
            static_cast<void>(pool_counters(pool));
            set_prefetcher(
                pool,
                i % 2 == 0 ? std::function<std::vector<Ahead>(const ReadBlock&)>{}
                           : [](const ReadBlock&) -> std::vector<Ahead> {
                    return {{"a", box(1)}};
                });
        }
    });
    for (std::thread& thread : threads) thread.join();
    EXPECT_TRUE(pool.verify().empty());
    EXPECT_EQ(pool_counters(pool)->hits + pool_counters(pool)->misses, 80U);
}

}  // namespace
}  // namespace pmemcpy
