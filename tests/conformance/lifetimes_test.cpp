// Length: one promise after another of the same two targets.
// How long blocks stay, and when they are copied: triggers, scratch, what goes when it is read, and space that is reserved.

#include <pmemcpy/tiers.hpp>
#include <pmemcpy/watch.hpp>

#include "tests/conformance/outcome.hpp"
#include "tests/conformance/two_targets.hpp"

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace pmemcpy {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

class lifetimes : public TwoTargets {
protected:
    PMEM open(std::uint64_t max_bytes = 16 * mebibyte, Mode mode = Mode::create_or_update) const {
        return TwoTargets::open(max_bytes, mode);
    }
    Hierarchy hierarchy(Buffering mode, std::vector<Trigger> on = {Trigger::period}) const {
        Hierarchy h = TwoTargets::hierarchy(mode, 1000);
        h.flush.on = std::move(on);
        h.promotion = Promotion::never;
        return h;
    }
    static bool is_flushed(const PMEM& pool, std::uint64_t i, const std::string& id) {
        for (const Receipt& receipt : receipts(pool, id)) {
            if (receipt.box.offset[0] == i) return receipt.is_flushed;
        }
        return false;
    }
    /// Runs in a process of its own; its exit code, or 1000 and the signal that ended it.
    static int in_child(const std::function<void()>& f) {
        const pid_t child = fork();
        if (child == 0) {
            try {
                f();
            } catch (...) {
                _exit(99);
            }
            _exit(testing::Test::HasFailure() ? 1 : 0);
        }
        int status = 0;
        waitpid(child, &status, 0);
        return WIFSIGNALED(status) ? 1000 + WTERMSIG(status) : WEXITSTATUS(status);
    }
};

TEST_F(lifetimes, a_store_triggers_the_copying_of_all_that_was_stored_before_it) {
    PMEM pool = open();
    set_hierarchy(pool, hierarchy(Buffering::none, {Trigger::store}));
    alloc(pool);
    for (std::uint64_t i = 0; i < 3; ++i) store(pool, i, 1);
    set_mode(pool, "/", Buffering::write_back);
    store(pool, 3, 1);
    for (const Receipt& receipt : receipts(pool, "a")) {
        EXPECT_TRUE(receipt.is_flushed || receipt.waits_for == Trigger::store);
    }
    wait_until("all four are copied, long before the period is over", [&] { return flushed(pool) == 4; });
    store(pool, 4, 1);
    wait_until("and the next", [&] { return flushed(pool) == 5; });
}

TEST_F(lifetimes, nothing_is_copied_before_the_pool_is_closed_and_then_all_of_it) {
    {
        PMEM pool = open();
        set_hierarchy(pool, hierarchy(Buffering::write_back, {Trigger::close}));
        alloc(pool);
        for (std::uint64_t i = 0; i < 3; ++i) store(pool, i, 1);
        PMEM other = open();
        std::this_thread::sleep_for(400ms);
        EXPECT_EQ(files().size(), 0U);
        const Receipt receipt = receipts(pool, "a").at(0);
        EXPECT_EQ(receipt.waits_for, Trigger::close);
        EXPECT_FALSE(receipt.flushed_in_s) << "nobody knows when that will be";
        other.munmap();
        EXPECT_EQ(files().size(), 3U) << "anybody's closing counts";
        store(pool, 3, 1);
        pool.munmap();
        EXPECT_EQ(files().size(), 4U);
    }
}

TEST_F(lifetimes, the_last_of_those_who_have_the_pool_open_copies_where_the_trigger_is_exit) {
    PMEM pool = open();
    set_hierarchy(pool, hierarchy(Buffering::write_back, {Trigger::exit}));
    alloc(pool);
    store(pool, 0, 1);
    EXPECT_EQ(in_child([&] {
                  PMEM other = open();
                  store(other, 1, 1);
              }),
              0);
    EXPECT_EQ(files().size(), 0U);
    pool.munmap();
    EXPECT_EQ(files().size(), 2U);
}

TEST_F(lifetimes, a_program_that_ends_without_closing_the_pool_waits_too) {
    for (const Trigger trigger : {Trigger::close, Trigger::exit}) {
        {
            PMEM pool = open();
            set_hierarchy(pool, hierarchy(Buffering::write_back, {trigger}));
            if (!pool.exists("a")) alloc(pool);
        }
        const std::size_t before = files().size();
        EXPECT_EQ(in_child([&] {
                      auto* const never_destroyed = new PMEM(open());
                      store(*never_destroyed, before, 1);
                      std::exit(7);
                  }),
                  7);
        EXPECT_EQ(files().size(), before + 1) << name_of(trigger);
    }
}

TEST_F(lifetimes, what_a_killed_process_had_not_copied_the_next_opener_copies_at_once) {
    {
        PMEM pool = open();
        set_hierarchy(pool, hierarchy(Buffering::write_back, {Trigger::close}));
        alloc(pool);
    }
    EXPECT_EQ(in_child([&] {
                  PMEM other = open();
                  store(other, 0, 1);
                  store(other, 1, 1);
                  kill(getpid(), SIGKILL);
              }),
              1000 + SIGKILL);
    EXPECT_EQ(files().size(), 0U);
    PMEM pool = open();
    store(pool, 2, 1);
    wait_until("the two are copied", [&] { return flushed(pool) == 2; });
    std::this_thread::sleep_for(300ms);
    EXPECT_EQ(flushed(pool), 2U) << "its own waits for its closing";
}

TEST_F(lifetimes, scratch_is_not_copied_and_is_gone_when_the_last_has_closed_the_pool) {
    {
        PMEM pool = open();
        Hierarchy h = hierarchy(Buffering::write_back, {Trigger::period, Trigger::close});
        h.flush.period_s = 0.05;
        h.rules = {{.match = "tmp/**", .mode = Buffering::scratch}};
        set_hierarchy(pool, h);
        alloc(pool);
        alloc(pool, "tmp/b");
        store(pool, 0, 1);
        store(pool, 0, 2, "tmp/b");
        pool.store("tmp/number", 5.0);
        wait_until("what is not scratch is copied", [&] { return flushed(pool) == 1; });
        EXPECT_EQ(flush(pool), 0U);
        EXPECT_EQ(unflushed(pool).of_blocks, 0U);
        const Receipt receipt = receipts(pool, "tmp/b").at(0);
        EXPECT_EQ(receipt.mode, Buffering::scratch);
        EXPECT_FALSE(receipt.is_flushed || receipt.flushed_in_s || receipt.waits_for);
        PMEM other = open();
        pool.munmap();
        expect(other, 0, 2, "tmp/b");
    }
    const PMEM pool = open(16 * mebibyte, Mode::read);
    EXPECT_EQ(pool.ids(), std::vector<std::string>{"a"});
    expect(pool, 0, 1);
    EXPECT_TRUE(pool.verify().empty());
    EXPECT_EQ(files().size(), 1U);
}

TEST_F(lifetimes, scratch_of_a_killed_job_is_gone_when_the_next_one_gets_in) {
    {
        PMEM pool = open();
        Hierarchy h = hierarchy(Buffering::none);
        h.rules = {{.match = "tmp/**", .mode = Buffering::scratch}};
        set_hierarchy(pool, h);
        alloc(pool);
        store(pool, 0, 1);
    }
    EXPECT_EQ(in_child([&] {
                  PMEM other = open();
                  alloc(other, "tmp/b");
                  for (std::uint64_t i = 0; i < 4; ++i) store(other, i, 2, "tmp/b");
                  kill(getpid(), SIGKILL);
              }),
              1000 + SIGKILL);
    PMEM pool = open();
    EXPECT_EQ(pool.ids(), std::vector<std::string>{"a"});
    expect(pool, 0, 1);
    alloc(pool, "tmp/b");
    store(pool, 0, 3, "tmp/b");
    expect(pool, 0, 3, "tmp/b");
}

TEST_F(lifetimes, scratch_goes_also_when_who_erases_it_is_killed_at_that) {
    {
        PMEM pool = open();
        Hierarchy h = hierarchy(Buffering::none);
        h.rules = {{.match = "tmp/**", .mode = Buffering::scratch}};
        set_hierarchy(pool, h);
        alloc(pool);
        store(pool, 0, 1);
    }
    for (int round = 0; round < 20; ++round) {
        std::array<int, 2> told{};
        ASSERT_EQ(pipe(told.data()), 0);
        const pid_t child = fork();
        if (child == 0) {
            PMEM other = open();
            for (const char* id : {"tmp/b", "tmp/c", "tmp/d"}) {
                alloc(other, id);
                for (std::uint64_t i = 0; i < 2; ++i) store(other, i, 2, id);
            }
            if (write(told[1], "x", 1) != 1) _exit(1);
            other.munmap();
            _exit(0);
        }
        char byte = 0;
        ASSERT_EQ(read(told[0], &byte, 1), 1);
        std::this_thread::sleep_for(std::chrono::microseconds(150 * round));
        kill(child, SIGKILL);
        int status = 0;
        waitpid(child, &status, 0);
        close(told[0]);
        close(told[1]);
        const PMEM pool = open();
        EXPECT_EQ(pool.ids(), std::vector<std::string>{"a"}) << "round " << round;
        expect(pool, 0, 1);
        EXPECT_TRUE(pool.verify().empty());
    }
}

TEST_F(lifetimes, scratch_outgrows_the_pool_and_leaves_nothing_below_when_it_goes) {
    {
        PMEM pool = open(8 * mebibyte);
        set_hierarchy(pool, hierarchy(Buffering::scratch));
        alloc(pool);
        for (std::uint64_t i = 0; i < 20; ++i) store(pool, i, static_cast<double>(i));
        for (std::uint64_t i = 0; i < 20; ++i) expect(pool, i, static_cast<double>(i));
        EXPECT_GE(files().size(), 12U);
    }
    EXPECT_EQ(files().size(), 0U);
    EXPECT_TRUE(open(8 * mebibyte).ids().empty());
}

TEST_F(lifetimes, views_of_scratch_keep_what_they_show) {
    std::optional<PMEM> pool = open();
    set_hierarchy(*pool, hierarchy(Buffering::scratch));
    alloc(*pool);
    store(*pool, 0, 5);
    const PMEM reader = open(16 * mebibyte, Mode::read);
    const auto view = reader.view<double>("a", Box{{0, 0}, {1, numbers_in_block}});
    pool.reset();
    EXPECT_FALSE(reader.exists("a"));
    pool = open();
    alloc(*pool, "b");
    for (std::uint64_t i = 0; i < 8; ++i) store(*pool, i, 9, "b");
    EXPECT_EQ(std::vector<double>(view.data(), view.data() + numbers_in_block), numbers(5));
}

TEST_F(lifetimes, of_an_array_that_is_scratch_in_part_the_rest_stays) {
    {
        PMEM pool = open();
        Hierarchy h = hierarchy(Buffering::none);
        h.rules = {{.match = "a", .box = Box{{0, 0}, {2, numbers_in_block}}, .mode = Buffering::scratch}};
        set_hierarchy(pool, h);
        alloc(pool);
        for (std::uint64_t i = 0; i < 4; ++i) store(pool, i, static_cast<double>(i));
    }
    const PMEM pool = open();
    EXPECT_EQ(pool.blocks("a").size(), 2U);
    expect(pool, 2, 2);
    EXPECT_TRUE(pool.verify().empty());
}

TEST_F(lifetimes, what_was_stored_before_it_became_scratch_stays) {
    {
        PMEM pool = open();
        set_hierarchy(pool, hierarchy(Buffering::none));
        alloc(pool);
        store(pool, 0, 1);
        pool.store("number", 5.0);
        set_mode(pool, "/", Buffering::scratch);
        store(pool, 1, 2);
        pool.store("other", 5.0);
    }
    const PMEM pool = open();
    EXPECT_EQ(pool.ids(), (std::vector<std::string>{"a", "number"}));
    EXPECT_EQ(pool.blocks("a").size(), 1U);
    expect(pool, 0, 1);
}

TEST_F(lifetimes, what_becomes_persistent_before_the_job_ends_stays) {
    {
        PMEM pool = open();
        set_hierarchy(pool, hierarchy(Buffering::scratch));
        alloc(pool);
        alloc(pool, "b");
        store(pool, 0, 1);
        store(pool, 0, 1, "b");
        set_mode(pool, "a", Buffering::write_through);
    }
    EXPECT_EQ(open().ids(), std::vector<std::string>{"a"});
}

TEST_F(lifetimes, a_mode_is_set_of_a_group_or_variable_while_others_follow_it) {
    PMEM pool = open();
    EXPECT_EQ(code_of([&] { set_mode(pool, "a", Buffering::none); }, "no hierarchy"), Code::invalid_argument);
    Hierarchy h = hierarchy(Buffering::none);
    h.rules = {{.match = "**", .never_evict = true}};
    set_hierarchy(pool, h);
    PMEM other = open();
    alloc(other, "safe/a");
    alloc(other);
    store(other, 0, 1, "safe/a");
    set_mode(pool, "safe/**", Buffering::write_through);
    store(other, 1, 1, "safe/a");
    store(other, 0, 1);
    EXPECT_TRUE(is_flushed(other, 1, "safe/a"));
    EXPECT_EQ(flushed(other), 0U);
    set_mode(pool, "safe/**", Buffering::none);
    set_mode(pool, "a", Buffering::write_through);
    store(other, 1, 1);
    EXPECT_TRUE(is_flushed(other, 1, "a"));
    const auto now = hierarchy_of(pool);
    ASSERT_EQ(now->rules.size(), 3U);
    EXPECT_TRUE(now->rules[0].never_evict) << "what else was said of it still counts";
    EXPECT_EQ(now->rules[1].mode, Buffering::none);
}

TEST_F(lifetimes, moving_tells_how_far_it_is_and_stops_when_it_is_told_to) {
    PMEM pool = open();
    set_hierarchy(pool, hierarchy(Buffering::none));
    alloc(pool);
    for (std::uint64_t i = 0; i < 4; ++i) store(pool, i, static_cast<double>(i));
    std::vector<FlushProgress> seen;
    EXPECT_EQ(move(pool, "a", "pfs",
                   [&](const FlushProgress& p) {
                       seen.push_back(p);
                       return p.blocks < 3;
                   }),
              3 * mebibyte);
    ASSERT_EQ(seen.size(), 3U);
    EXPECT_EQ(seen[1].bytes, 2 * mebibyte);
    EXPECT_EQ(seen[1].of_bytes, 4 * mebibyte);
    EXPECT_EQ(move(pool, "/", "pfs"), mebibyte);
    for (std::uint64_t i = 0; i < 4; ++i) expect(pool, i, static_cast<double>(i));
}

// The scenario of the Hermes paper: a simulation stores each step, an analysis reads it, the next step has the space.
TEST_F(lifetimes, what_was_read_makes_room_for_the_next_step_and_the_pool_never_grows) {
    {
        PMEM pool = open(8 * mebibyte);
        Hierarchy h = hierarchy(Buffering::none);
        h.rules = {{.match = "u", .drop_after_read = true}};
        set_hierarchy(pool, h);
        alloc(pool, "u");
    }
    std::array<int, 2> to_reader{};
    std::array<int, 2> to_writer{};
    ASSERT_EQ(pipe(to_reader.data()), 0);
    ASSERT_EQ(pipe(to_writer.data()), 0);
    constexpr std::uint64_t steps = 20;
    const pid_t analysis = fork();
    if (analysis == 0) {
        PMEM pool = open(8 * mebibyte);
        for (std::uint64_t step = 0; step < steps; ++step) {
            char byte = 0;
            if (read(to_reader[0], &byte, 1) != 1) _exit(2);
            for (std::uint64_t k = 0; k < 2; ++k) expect(pool, 2 * step + k, static_cast<double>(step), "u");
            if (write(to_writer[1], "x", 1) != 1) _exit(3);
        }
        pool.munmap();
        _exit(HasFatalFailure() ? 1 : 0);
    }
    PMEM pool = open(8 * mebibyte);
    std::uint64_t allocated = 0;
    for (std::uint64_t step = 0; step < steps; ++step) {
        for (std::uint64_t k = 0; k < 2; ++k) {
            store(pool, 2 * step + k, static_cast<double>(step), "u");
            expect(pool, 2 * step + k, static_cast<double>(step), "u");  // one's own loads take nothing
        }
        char byte = 0;
        ASSERT_EQ(write(to_reader[1], "x", 1), 1);
        ASSERT_EQ(read(to_writer[0], &byte, 1), 1);
        EXPECT_TRUE(pool.blocks("u").empty()) << "step " << step;
        if (step == 1) allocated = pool.info().allocated_bytes;
    }
    int status = 0;
    waitpid(analysis, &status, 0);
    EXPECT_EQ(status, 0);
    EXPECT_EQ(pool.info().allocated_bytes, allocated);
    EXPECT_EQ(targets(pool).at(1).used_bytes, 0U);
    EXPECT_TRUE(pool.verify().empty());
    for (const int fd : {to_reader[0], to_reader[1], to_writer[0], to_writer[1]}) close(fd);
}

TEST_F(lifetimes, only_loads_of_the_whole_block_by_somebody_else_who_may_write_take_it) {
    PMEM writer = open();
    Hierarchy h = hierarchy(Buffering::none);
    h.rules = {{.match = "a", .drop_after_read = true}};
    set_hierarchy(writer, h);
    alloc(writer);
    store(writer, 0, 1);
    store(writer, 1, 7);  // so that the array stays as long as it is
    expect(writer, 0, 1);
    PMEM other = open();
    std::vector<double> half(numbers_in_block);
    other.load<double>("a", half.data(), Box{{0, 0}, {1, numbers_in_block / 2}});
    other.load<double>("a", half.data(), Box{{0, numbers_in_block / 2}, {1, numbers_in_block / 2}});
    EXPECT_EQ(other.view<double>("a", Box{{0, 0}, {1, numbers_in_block}})[3], 4.0);
    expect(open(16 * mebibyte, Mode::read), 0, 1);
    move(writer, "a", "pfs");
    expect(writer, 0, 1);
    ASSERT_EQ(other.blocks("a").size(), 2U);
    Watch watch = other.watch("a");
    expect(other, 0, 1);
    EXPECT_EQ(writer.blocks("a").size(), 1U);
    EXPECT_FALSE(watch.wait(0ns)) << "that it went is no news";
    EXPECT_EQ(code_of([&] { expect(other, 0, 1); }, "nothing was stored"), Code::not_found);
    store(writer, 0, 2);
    EXPECT_TRUE(watch.wait(0ns));
    expect(other, 0, 2);
}

TEST_F(lifetimes, a_reader_that_dies_half_way_leaves_the_block) {
    PMEM writer = open();
    Hierarchy h = hierarchy(Buffering::none);
    h.rules = {{.match = "a", .drop_after_read = true}};
    set_hierarchy(writer, h);
    alloc(writer);
    store(writer, 0, 1);
    EXPECT_EQ(in_child([&] {
                  const PMEM reader = open();
                  // The load has no memory to write into, so it ends here.
                  reader.load<double>("a", static_cast<double*>(nullptr), Box{{0, 0}, {1, numbers_in_block}});
              }) == 0,
              false);
    PMEM other = open();
    expect(other, 0, 1);
    EXPECT_TRUE(writer.blocks("a").empty());
}

TEST_F(lifetimes, what_hides_older_data_stays_so_that_these_are_not_seen_again) {
    PMEM writer = open();
    set_hierarchy(writer, hierarchy(Buffering::none));
    writer.alloc<double>("b", {8});
    const std::vector<double> old(8, 1.0);
    const std::vector<double> young(4, 2.0);
    writer.store<double>("b", old.data(), Box{{0}, {8}});
    writer.store<double>("b", young.data(), Box{{2}, {4}});
    Hierarchy h = hierarchy(Buffering::none);
    h.rules = {{.match = "b", .drop_after_read = true}};
    set_hierarchy(writer, h);
    PMEM other = open();
    std::vector<double> found(4);
    for (int round = 0; round < 2; ++round) {
        other.load<double>("b", found.data(), Box{{2}, {4}});
        EXPECT_EQ(found, young);
    }
    found.resize(8);
    other.load<double>("b", found.data(), Box{{0}, {8}});
    EXPECT_EQ(found, (std::vector<double>{1, 1, 2, 2, 2, 2, 1, 1}));
}

TEST_F(lifetimes, space_that_is_reserved_is_there_for_who_reserved_it_and_for_nobody_else) {
    PMEM pool = open(16 * mebibyte);
    alloc(pool);
    reserve(pool, 8 * mebibyte);
    EXPECT_EQ(reserved(pool), 8 * mebibyte);
    PMEM other = open(16 * mebibyte);
    std::uint64_t stored = 0;
    EXPECT_EQ(code_of(
                  [&] {
                      for (;; ++stored) store(other, 100 + stored, 1);
                  },
                  "full"),
              Code::no_space);
    EXPECT_GE(stored, 6U);
    EXPECT_LE(stored, 8U);
    EXPECT_EQ(code_of([&] { reserve(other, 4 * mebibyte); }, "full"), Code::no_space);
    EXPECT_EQ(reserved(other), 0U);
    for (std::uint64_t i = 0; i < 8; ++i) store(pool, i, 1);
    EXPECT_EQ(reserved(pool), 0U);
    EXPECT_TRUE(pool.verify().empty());
}

TEST_F(lifetimes, a_reservation_ends_with_its_pmem_or_process_and_can_be_given_up) {
    PMEM pool = open(16 * mebibyte);
    alloc(pool);
    const auto fits = [&] {
        try {
            reserve(pool, 12 * mebibyte);
            reserve(pool, 0);
            return true;
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), Code::no_space);
            return false;
        }
    };
    {
        PMEM other = open(16 * mebibyte);
        reserve(other, 8 * mebibyte);
        EXPECT_FALSE(fits());
        reserve(other, 0);
        EXPECT_TRUE(fits());
        reserve(other, 8 * mebibyte);
    }
    EXPECT_TRUE(fits());
    EXPECT_EQ(in_child([&] {
                  PMEM other = open(16 * mebibyte);
                  reserve(other, 8 * mebibyte);
                  kill(getpid(), SIGKILL);
              }),
              1000 + SIGKILL);
    EXPECT_TRUE(fits()) << "its holder was killed";
}

TEST_F(lifetimes, older_blocks_make_room_for_a_reservation_and_targets_have_them_too) {
    PMEM pool = open(8 * mebibyte);
    Hierarchy h = hierarchy(Buffering::none);
    h.targets[1].capacity_bytes = 20 * mebibyte;
    set_hierarchy(pool, h);
    alloc(pool);
    for (std::uint64_t i = 0; i < 7; ++i) store(pool, i, static_cast<double>(i));
    reserve(pool, 4 * mebibyte);
    for (std::uint64_t i = 0; i < 7; ++i) expect(pool, i, static_cast<double>(i));
    reserve(pool, 0);
    PMEM other = open(8 * mebibyte);
    reserve(other, 14 * mebibyte, "pfs");
    EXPECT_EQ(reserved(other, "pfs"), 14 * mebibyte);
    alloc(pool, "b");
    Hierarchy pinned = h;
    pinned.rules = {{.match = "b", .pin = "pfs"}};
    set_hierarchy(pool, pinned);
    std::uint64_t stored = 0;
    EXPECT_EQ(code_of(
                  [&] {
                      for (;; ++stored) store(pool, stored, 1, "b");
                  },
                  "others have reserved"),
              Code::no_space);
    EXPECT_LT(stored, 6U);
    for (std::uint64_t i = 0; i < 14; ++i) store(other, 100 + i, 1, "b");
    EXPECT_EQ(reserved(other, "pfs"), 0U);
    EXPECT_EQ(code_of([&] { reserve(other, 1, "tape"); }, "tape"), Code::invalid_argument);
}

}  // namespace
}  // namespace pmemcpy
