// Steps: several stores that appear at once, and what an abandoned step leaves.

#include <atomic>
#include <chrono>
#include <pmemcpy/pmemcpy.hpp>
#include <string>
#include <thread>
#include <vector>

#include "pool_suite.hpp"

namespace pmemcpy::conformance {
namespace {

class steps : public PoolSuite {
protected:
    void SetUp() override {
        open();
        reader.mmap(path(), options());
    }
    void store_line(PMEM& by, int value) {
        const std::vector<int> data(8, value);
        by.store<int>("A", data.data(), Box{{0}, {8}});
    }
    int line(const PMEM& by, std::optional<std::uint64_t> step = {}) const {
        std::vector<int> data(8);
        by.load<int>("A", data.data(), Box{{0}, {8}}, step);
        EXPECT_EQ(data, std::vector<int>(8, data[0]));
        return data[0];
    }
    PMEM reader;  // another attachment, as another process would be
};
INSTANTIATE_TEST_SUITE_P(layouts, steps, layouts(), name_of_layout);

TEST_P(steps, are_seen_by_others_only_when_committed) {
    pmem.alloc<int>("A", Dimensions{8});
    store_line(pmem, 1);
    pmem.store("t", 1);
    pmem.begin(1);
    store_line(pmem, 2);
    pmem.store("t", 2);
    pmem.store("new", 3);
    pmem.alloc<int>("B", Dimensions{4});
    pmem.set_attribute("A", "time", 10);
    EXPECT_EQ(line(pmem), 2) << "whoever stores in a step sees what it stored";
    EXPECT_EQ(pmem.load<int>("t"), 2);
    EXPECT_EQ(pmem.load<int>("new"), 3);
    EXPECT_EQ(line(reader), 1);
    EXPECT_EQ(reader.load<int>("t"), 1);
    EXPECT_FALSE(reader.exists("new"));
    EXPECT_FALSE(reader.exists("B"));
    expect_error(Code::not_found, [&] { reader.load<int>("new"); });
    EXPECT_EQ(reader.ids(), (std::vector<std::string>{"A", "t"}));
    EXPECT_TRUE(reader.attributes("A").empty());
    EXPECT_EQ(reader.info().committed_step, 0u);
    pmem.commit(1);
    EXPECT_EQ(line(reader), 2);
    EXPECT_EQ(reader.load<int>("t"), 2);
    EXPECT_EQ(reader.load<int>("new"), 3);
    EXPECT_TRUE(reader.exists("B"));
    EXPECT_EQ(reader.get_attribute<int>("A", "time"), 10);
    EXPECT_EQ(reader.info().committed_step, 1u);
    EXPECT_EQ(reader.blocks("A").back().step, 1u);
}

TEST_P(steps, a_committed_step_is_loaded_while_its_blocks_are_kept) {
    pmem.alloc<int>("A", Dimensions{8});
    pmem.begin(1);
    store_line(pmem, 1);
    pmem.commit(1);
    pmem.begin(2);
    store_line(pmem, 2);
    EXPECT_EQ(line(reader), 1);
    expect_error(Code::not_found, [&] { line(reader, 2); }, {"2", "not committed"});
    pmem.commit(2);
    EXPECT_EQ(line(reader), 2);
    EXPECT_EQ(line(reader, 2), 2);
    EXPECT_EQ(line(reader, 1), 1) << "nobody has stored this box since";
    pmem.begin(3);
    store_line(pmem, 3);
    pmem.commit(3);
    pmem.compact();
    EXPECT_EQ(line(reader, 3), 3);
    expect_error(Code::not_found, [&] { line(reader, 1); }, {"step 1", "not kept"});
}

// What a step replaces goes with the next store. Once, an older block underneath then showed through.
TEST_P(steps, an_old_one_is_not_pieced_together_from_older_blocks) {
    pmem.alloc<int>("A", Dimensions{8});
    const auto store_halves = [&](int value) {
        const std::vector<int> data(4, value);
        for (const std::uint64_t begin : {0U, 4U}) pmem.store<int>("A", data.data(), Box{{begin}, {4}});
    };
    pmem.begin(1);
    store_line(pmem, 1);
    pmem.commit(1);
    for (const int step : {2, 3}) {
        pmem.begin(static_cast<std::uint64_t>(step));
        store_halves(step);
        pmem.commit(static_cast<std::uint64_t>(step));
    }
    EXPECT_EQ(line(reader, 2), 2);
    pmem.begin(4);
    store_halves(4);
    expect_error(Code::not_found, [&] { line(reader, 2); }, {"step 2", "not kept"});
    expect_error(Code::not_found, [&] { line(reader, 1); }, {"step 1", "not kept"});
    EXPECT_EQ(line(reader), 3);
    EXPECT_EQ(line(reader, 3), 3);
    pmem.commit(4);
    EXPECT_EQ(line(reader), 4);
    EXPECT_EQ(line(reader, 3), 3);
    reader.munmap();
    reopen();
    expect_error(Code::not_found, [&] { line(pmem, 2); }, {"step 2", "not kept"});
}

TEST_P(steps, any_rank_may_store_and_one_commits) {
    pmem.alloc<int>("A", Dimensions{16});
    PMEM other;
    other.mmap(path(), options());
    for (std::uint64_t step = 1; step <= 20; ++step) {
        const std::vector<int> data(8, static_cast<int>(step));
        pmem.begin(step);
        other.begin(step);
        pmem.store<int>("A", data.data(), Box{{0}, {8}});
        other.store<int>("A", data.data(), Box{{8}, {8}});
        if (step > 1) {
            std::vector<int> before(16);
            reader.load<int>("A", before.data(), Box{{0}, {16}});
            ASSERT_EQ(before, std::vector<int>(16, static_cast<int>(step) - 1));
        }
        other.commit(step);
        std::vector<int> after(16);
        reader.load<int>("A", after.data(), Box{{0}, {16}});
        ASSERT_EQ(after, std::vector<int>(16, static_cast<int>(step)));
    }
}

TEST_P(steps, an_unlimited_array_grows_when_its_step_is_committed) {
    pmem.alloc<int>("u", Dimensions{unlimited});
    for (std::uint64_t step = 1; step <= 10; ++step) {
        const auto value = static_cast<int>(step);
        pmem.begin(step);
        pmem.store<int>("u", &value, Box{{step - 1}, {1}});
        EXPECT_EQ(reader.load_dims("u"), Dimensions{step - 1});
        EXPECT_EQ(pmem.load_dims("u"), Dimensions{step});
        pmem.commit(step);
        EXPECT_EQ(reader.load_dims("u"), Dimensions{step});
    }
}

TEST_P(steps, several_stores_of_one_value_in_a_step) {
    pmem.store("v", 0);
    for (std::uint64_t step = 1; step <= 50; ++step) {
        pmem.begin(step);
        for (int i = 0; i < 5; ++i) pmem.store("v", static_cast<int>(step) * 10 + i);
        EXPECT_EQ(reader.load<int>("v"), step == 1 ? 0 : static_cast<int>(step - 1) * 10 + 4);
        pmem.commit(step);
        EXPECT_EQ(reader.load<int>("v"), static_cast<int>(step) * 10 + 4);
    }
    pmem.store("v", -1);
    EXPECT_EQ(reader.load<int>("v"), -1);
    pmem.compact();
    EXPECT_EQ(pmem.info().retired_records, 0u);
}

// It went on in step 6, and what was stored in step 5 waited for a commit that nobody knew of.
TEST_P(steps, one_does_not_begin_inside_another_that_nobody_else_could_commit) {
    reader.munmap();
    pmem.begin(5);
    pmem.store("v", 5);
    expect_error(Code::invalid_argument, [&] { pmem.begin(6); }, {"step 6", "inside step 5", "commit(5)"});
    pmem.begin(5);
    pmem.commit(5);
    pmem.begin(6);
    EXPECT_EQ(pmem.load<int>("v"), 5);
    // A rank may be about to commit what this one has done its part of.
    PMEM rank;
    rank.mmap(path(), options());
    rank.begin(6);
    pmem.begin(7);
    rank.commit(6);
    pmem.commit(7);
}

TEST_P(steps, numbers_only_grow) {
    expect_error(Code::invalid_argument, [&] { pmem.begin(0); });
    expect_error(Code::invalid_argument, [&] { pmem.commit(1); }, {"begun"});
    pmem.begin(5);
    pmem.commit(5);
    expect_error(Code::invalid_argument, [&] { pmem.begin(5); }, {"5"});
    expect_error(Code::invalid_argument, [&] { pmem.begin(4); }, {"5"});
    expect_error(Code::invalid_argument, [&] { pmem.commit(5); });
    pmem.begin(1'000'000'000'000);
    pmem.commit(1'000'000'000'000);
    EXPECT_EQ(pmem.info().committed_step, 1'000'000'000'000u);
}

TEST_P(steps, erase_and_rename_wait_until_after_it) {
    pmem.store("v", 1);
    pmem.begin(1);
    expect_error(Code::unsupported, [&] { pmem.erase("v"); }, {"commit"});
    expect_error(Code::unsupported, [&] { pmem.rename("v", "w"); }, {"commit"});
    pmem.commit(1);
    pmem.rename("v", "w");
    pmem.erase("w");
}

TEST_P(steps, one_that_is_given_up_is_dropped_at_once_and_can_be_begun_anew) {
    pmem.alloc<int>("A", Dimensions{8});
    store_line(pmem, 1);
    pmem.store("v", 1);
    const std::uint64_t used = settled_info(pmem).data_bytes;
    pmem.begin(1);
    pmem.store("big", std::string(1 << 20, 'x'));
    store_line(pmem, 2);
    pmem.store("v", 2);
    pmem.alloc<int>("B", Dimensions{8});
    pmem.set_attribute("A", "n", 1);
    pmem.abandon();
    EXPECT_EQ(line(pmem), 1) << "whoever gave it up sees it no more";
    EXPECT_EQ(pmem.load<int>("v"), 1);
    EXPECT_EQ(pmem.ids(), (std::vector<std::string>{"A", "v"}));
    EXPECT_TRUE(pmem.attributes("A").empty());
    EXPECT_LE(settled_info(pmem).data_bytes, 2 * used) << "of what is overwritten a second place stays warm";
    expect_error(Code::invalid_argument, [&] { pmem.abandon(); }, {"none was begun"});
    expect_error(Code::invalid_argument, [&] { pmem.commit(1); });
    pmem.begin(1);
    pmem.store("v", 3);
    pmem.commit(1);
    EXPECT_EQ(reader.load<int>("v"), 3);
    EXPECT_EQ(line(reader), 1);
    EXPECT_FALSE(reader.exists("B"));
    EXPECT_TRUE(pmem.verify().empty());
}

TEST_P(steps, one_that_another_has_given_up_cannot_be_committed) {
    pmem.alloc<int>("A", Dimensions{8});
    store_line(pmem, 1);
    pmem.begin(1);
    EXPECT_FALSE(pmem.info().others_in_step);
    reader.begin(1);
    EXPECT_TRUE(pmem.info().others_in_step);
    reader.store("half", 1);
    store_line(pmem, 2);
    reader.abandon();
    expect_error(Code::busy, [&] { pmem.commit(1); }, {"step 1"});
    pmem.abandon();  // the last one in it drops what both have stored
    EXPECT_EQ(line(pmem), 1);
    EXPECT_FALSE(pmem.exists("half"));
    pmem.begin(1);
    reader.begin(1);
    reader.store("whole", 1);
    pmem.commit(1);
    EXPECT_TRUE(pmem.exists("whole"));
}

// What a thread of the process stores in it belongs to it, or to none: it was published after the step had been dropped, and what was committed
// before went in favour of it.
TEST_P(steps, one_that_is_given_up_waits_for_the_stores_of_other_threads) {
    constexpr std::size_t elements = 1 << 20;
    pmem.alloc<double>("big", Dimensions{elements});
    const std::vector<double> old(elements, 1), fresh(elements, 2);
    pmem.begin(1);
    pmem.store<double>("big", old.data(), Box{{0}, {elements}});
    pmem.commit(1);
    for (std::uint64_t step = 2; step < 12; ++step) {
        pmem.begin(step);
        std::atomic<bool> is_off = false;
        std::thread other([&] {
            is_off = true;
            pmem.store<double>("big", fresh.data(), Box{{0}, {elements}});
        });
        while (!is_off) std::this_thread::yield();
        std::this_thread::sleep_for(std::chrono::microseconds(50 * step));
        pmem.abandon();
        other.join();
        // A store that began behind the end of the step is in none.
        const std::size_t blocks = pmem.blocks("big").size();
        EXPECT_EQ(blocks, 1u);
        EXPECT_NE(pmem.blocks("big")[0].step, step);
        double first = 0;
        reader.load<double>("big", &first, Box{{7}, {1}});
        if (first == 2) pmem.store<double>("big", old.data(), Box{{0}, {elements}});
    }
    pmem.begin(20);
    pmem.store("y", 1);
    pmem.commit(20);
    double first = 0;
    reader.load<double>("big", &first, Box{{7}, {1}});
    EXPECT_EQ(first, 1) << "nothing that was abandoned comes back";
}

// The next one would drop what this process has stored in it, without a word, and the commit of the broken one would show nothing.
TEST_P(steps, one_that_another_has_given_up_is_not_left_for_the_next_by_who_has_stored_in_it) {
    pmem.begin(5);
    reader.begin(5);
    pmem.store("x", 1);
    reader.abandon();
    expect_error(Code::busy, [&] { pmem.commit(5); });
    expect_error(Code::busy, [&] { pmem.begin(6); }, {"begin(5) again", "abandon()"});
    expect_error(Code::busy, [&] { pmem.commit(5); });
    pmem.begin(5);
    EXPECT_FALSE(pmem.exists("x"));
    pmem.store("x", 2);
    pmem.commit(5);
    EXPECT_EQ(reader.load<int>("x"), 2);
}

// A process that has gone on to a later one and commits the one before is still in the later one.
TEST_P(steps, a_commit_of_an_earlier_one_ends_no_later_one) {
    PMEM third;
    third.mmap(path(), options());
    pmem.begin(7);
    pmem.store("a", 7);
    pmem.begin(9);
    pmem.store("b", 9);
    pmem.commit(7);
    pmem.store("c", 9);
    EXPECT_EQ(third.load<int>("a"), 7);
    EXPECT_FALSE(third.exists("b"));
    EXPECT_FALSE(third.exists("c"));
    EXPECT_TRUE(third.info().others_in_step);
    pmem.commit(9);
    EXPECT_EQ(third.load<int>("c"), 9);
}

// What others see of names changes also where a name is there already, for the process in the step.
TEST_P(steps, a_name_that_is_new_in_one_is_listed_when_it_is_stored_in_none) {
    pmem.store("u", 0);
    pmem.begin(1);
    pmem.store("x", 1);
    EXPECT_EQ(reader.ids(), (std::vector<std::string>{"u"}));
    reader.store("x", 2);
    EXPECT_EQ(reader.ids(), (std::vector<std::string>{"u", "x"}));
    EXPECT_EQ(reader.info().variables, 2u);
    pmem.alloc<int>("A", Dimensions{8});
    expect_error(Code::busy, [&] { reader.alloc<int>("A", Dimensions{8}); }, {"step 1", "not committed"});
    pmem.commit(1);
    reader.alloc<int>("A", Dimensions{8});
}

TEST_P(steps, an_abandoned_one_is_gone_when_the_pool_opens_again) {
    pmem.alloc<int>("A", Dimensions{8});
    store_line(pmem, 1);
    pmem.store("v", 1);
    const std::uint64_t used = pmem.info().data_bytes;
    pmem.begin(1);
    for (int i = 0; i < 10; ++i) pmem.store("big " + std::to_string(i), std::string(1 << 20, 'x'));
    store_line(pmem, 2);
    pmem.store("v", 2);
    pmem.store("w", 2);
    pmem.alloc<int>("B", Dimensions{8});
    pmem.set_attribute("A", "n", 1);
    reader.munmap();
    reopen();
    EXPECT_EQ(line(pmem), 1);
    EXPECT_EQ(pmem.load<int>("v"), 1);
    EXPECT_EQ(pmem.ids(), (std::vector<std::string>{"A", "v"}));
    EXPECT_TRUE(pmem.attributes("A").empty());
    EXPECT_EQ(pmem.blocks("A").size(), 1u);
    EXPECT_EQ(pmem.info().data_bytes, used) << "the abandoned step's space came back";
    pmem.begin(1);
    store_line(pmem, 3);
    pmem.commit(1);
    EXPECT_EQ(line(pmem), 3);
    EXPECT_TRUE(pmem.verify().empty());
}

TEST_P(steps, a_committed_one_outlives_everything) {
    pmem.alloc<int>("A", Dimensions{8});
    pmem.munmap();
    reader.munmap();
    in_killed_process([](PMEM& own) {
        const std::vector<int> data(8, 7);
        own.begin(3);
        own.store<int>("A", data.data(), Box{{0}, {8}});
        own.store("v", 7);
        own.commit(3);
        own.begin(4);
        const std::vector<int> lost(8, 8);
        own.store<int>("A", lost.data(), Box{{0}, {8}});
        own.store("v", 8);
    });
    open();
    EXPECT_EQ(pmem.info().committed_step, 3u);
    EXPECT_EQ(line(pmem), 7);
    EXPECT_EQ(line(pmem, 3), 7);
    EXPECT_EQ(pmem.load<int>("v"), 7);
    EXPECT_EQ(pmem.blocks("A").size(), 1u);
}

}  // namespace
}  // namespace pmemcpy::conformance
