// Length: one promise after another of the same two targets.
// Copies below a pool: made in the background, before a store returns or when somebody asks; a block may give up its place for its copy.

#include <pmemcpy/tiers.hpp>

#include "tests/conformance/outcome.hpp"
#include "tests/conformance/two_targets.hpp"

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

namespace pmemcpy {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

class flushing : public TwoTargets {};

TEST_F(flushing, goes_on_in_the_background_and_leaves_blocks_where_they_are) {
    // With room for the next burst, which else is made in the pause after this one.
    PMEM pool = open(16 * mebibyte);
    set_hierarchy(pool, hierarchy(Buffering::write_back));
    alloc(pool);
    for (std::uint64_t i = 0; i < 4; ++i) store(pool, i, static_cast<double>(i));
    wait_until("all blocks are flushed", [&] { return flushed(pool) == 4; });
    EXPECT_EQ(count_in(pool, "a", ""), 4U);
    EXPECT_EQ(unflushed(pool).of_blocks, 0U);
    for (const Receipt& receipt : receipts(pool, "a")) {
        EXPECT_EQ(receipt.target, "pool");
        EXPECT_FALSE(receipt.flushed_in_s);
    }
}

TEST_F(flushing, stores_that_outgrow_the_pool_go_on_while_older_blocks_live_on_in_their_copies) {
    PMEM pool = open();
    set_hierarchy(pool, hierarchy(Buffering::write_back));
    alloc(pool);
    for (std::uint64_t i = 0; i < 40; ++i) store(pool, i, static_cast<double>(i));
    for (std::uint64_t i = 0; i < 40; ++i) expect(pool, i, static_cast<double>(i));
    EXPECT_TRUE(pool.verify().empty());
    wait_until("all blocks are flushed", [&] { return flushed(pool) == 40; });
    EXPECT_LE(files().size(), 40U);
}

TEST_F(flushing, before_the_store_returns_where_the_mode_is_write_through) {
    PMEM pool = open();
    Hierarchy h = hierarchy(Buffering::none);
    h.rules = {{.match = "safe", .mode = Buffering::write_through}};
    h.flush.period_s = 1000;
    set_hierarchy(pool, h);
    alloc(pool);
    alloc(pool, "safe");
    store(pool, 0, 1);
    store(pool, 0, 2, "safe");
    EXPECT_EQ(flushed(pool), 0U);
    EXPECT_EQ(flushed(pool, "safe"), 1U);
    pool.begin(1);
    store(pool, 1, 3, "safe");
    EXPECT_EQ(files().size(), 1U) << "nobody sees the step yet";
    pool.commit(1);
    EXPECT_EQ(flushed(pool, "safe"), 2U);
}

TEST_F(flushing, bypass_stores_in_the_flush_target) {
    PMEM pool = open();
    set_hierarchy(pool, hierarchy(Buffering::bypass));
    alloc(pool);
    store(pool, 0, 1);
    EXPECT_EQ(count_in(pool, "a", "pfs"), 1U);
    EXPECT_EQ(flushed(pool), 1U);
    expect(pool, 0, 1);
}

TEST_F(flushing, closing_waits_for_it_where_it_was_asked_for) {
    {
        PMEM pool = open();
        Hierarchy h = hierarchy(Buffering::write_back);
        h.flush.period_s = 1000;
        h.flush.on = {Trigger::close};
        set_hierarchy(pool, h);
        alloc(pool);
        for (std::uint64_t i = 0; i < 4; ++i) store(pool, i, static_cast<double>(i));
    }
    EXPECT_EQ(files().size(), 4U);
}

TEST_F(flushing, what_was_pending_when_everybody_left_is_shown_and_goes_on_with_the_next_opener) {
    {
        PMEM pool = open();
        Hierarchy h = hierarchy(Buffering::write_back);
        h.flush.bytes_per_second = 1000;  // a block takes a quarter of an hour
        set_hierarchy(pool, h);
        alloc(pool);
        store(pool, 0, 1);
        EXPECT_EQ(unflushed(pool).of_bytes, mebibyte);
        const auto receipt = receipts(pool, "a").at(0);
        ASSERT_TRUE(receipt.flushed_in_s);
        EXPECT_GE(*receipt.flushed_in_s, 1000);
    }
    PMEM pool = open();
    std::this_thread::sleep_for(300ms);  // it has gone on, as slowly
    EXPECT_EQ(flushed(pool), 0U);
    set_hierarchy(pool, hierarchy(Buffering::write_back));
    wait_until("it is flushed, for nobody waits any more", [&] { return flushed(pool) == 1; });
}

// Who looks in the background goes by versions, and a commit had none of its own: what was stored in a step was not flushed unless
// something else was stored after it.
TEST_F(flushing, what_was_stored_in_a_step_is_flushed_when_that_is_committed) {
    PMEM pool = open(16 * mebibyte);
    set_hierarchy(pool, hierarchy(Buffering::write_back));
    alloc(pool);
    pool.begin(1);
    store(pool, 0, 1);
    std::this_thread::sleep_for(500ms);
    EXPECT_TRUE(files().empty());
    pool.commit(1);
    wait_until("it is flushed", [&] { return flushed(pool) == 1; });
}

TEST_F(flushing, copies_go_when_their_blocks_are_gone) {
    PMEM pool = open();
    set_hierarchy(pool, hierarchy(Buffering::write_back));
    alloc(pool);
    for (int step = 0; step < 30; ++step) {
        for (std::uint64_t i = 0; i < 3; ++i) store(pool, i, step);
        if (step % 10 == 0) wait_until("they are flushed", [&] { return flushed(pool) == 3; });
    }
    wait_until("copies of what was overwritten are gone",
               [&] { return flushed(pool) == 3 && files().size() == 3; });
    for (std::uint64_t i = 0; i < 3; ++i) expect(pool, i, 29);
    pool.erase("a");
    wait_until("all copies are gone", [&] { return files().empty() && targets(pool).at(1).used_bytes == 0; });
}

// What a program could not free when it stored, because somebody was reading it, it freed when it stored again; so if it did not, block and
// copy stayed until it closed the pool.
TEST_F(flushing, copies_go_though_the_program_stores_no_more) {
    PMEM pool = open(16 * mebibyte);
    set_hierarchy(pool, hierarchy(Buffering::write_back));
    alloc(pool);
    store(pool, 0, 1);
    wait_until("it is flushed", [&] { return flushed(pool) == 1; });
    {
        PMEM reader = open(16 * mebibyte);
        const auto view = reader.view<double>("a");
        store(pool, 0, 2);
        wait_until("the new one is flushed", [&] { return flushed(pool) == 1; });
        EXPECT_EQ(files().size(), 2U);
    }
    wait_until("the copy of what was overwritten is gone", [&] { return files().size() == 1; });
    expect(pool, 0, 2);
}

TEST_F(flushing, a_block_may_give_up_its_place_when_there_is_a_copy) {
    PMEM pool = open();
    Hierarchy h = hierarchy(Buffering::write_back);
    h.rules = {{.match = "log/**", .drop_after_flush = true}};
    set_hierarchy(pool, h);
    alloc(pool, "log/a");
    alloc(pool);
    store(pool, 0, 1, "log/a");
    store(pool, 0, 2);
    wait_until("one is only below",
               [&] { return count_in(pool, "log/a", "pfs") == 1 && flushed(pool) == 1; });
    EXPECT_EQ(count_in(pool, "a", ""), 1U);
    expect(pool, 0, 1, "log/a");
}

// Who had made room and then saw that others had stored there was told that the pool is full.
TEST_F(flushing, processes_that_fill_a_pool_at_once_all_find_room) {
    for (const Policy policy : {Policy::max_bandwidth, Policy::max_locality}) {
        const std::string path = here_ / (std::string("pool-") + name_of(policy));
        const auto open_it = [&] {
            Options options;
            options.max_bytes = 8 * mebibyte;
            options.chunk_bytes = 64 << 10;
            PMEM pool;
            pool.mmap(path, options);
            return pool;
        };
        {
            PMEM pool = open_it();
            Hierarchy h = hierarchy(Buffering::write_back);
            h.policy = policy;
            set_hierarchy(pool, h);
        }
        std::vector<pid_t> processes;
        for (int rank = 0; rank < 4; ++rank) {
            processes.push_back(fork());
            if (processes.back() != 0) continue;
            try {
                PMEM pool = open_it();
                const std::string id = "rank" + std::to_string(rank);
                alloc(pool, id);
                for (std::uint64_t i = 0; i < 40; ++i) store(pool, i, static_cast<double>(i), id);
                for (std::uint64_t i = 0; i < 40; ++i) expect(pool, i, static_cast<double>(i), id);
                pool.munmap();
                _exit(HasFailure() ? 1 : 0);
            } catch (const std::exception& error) {
                std::fprintf(stderr, "%s\n", error.what());
                _exit(1);
            }
        }
        for (const pid_t process : processes) {
            int status = 0;
            waitpid(process, &status, 0);
            EXPECT_EQ(status, 0) << name_of(policy);
        }
    }
}

// It would cost the time of the target between, which has to make room itself, and nothing would be gained by it.
TEST_F(flushing, what_has_a_copy_passes_a_target_that_is_full) {
    PMEM pool = open(8 * mebibyte);
    fs::create_directory(below_ / "nvme");
    Hierarchy h = hierarchy(Buffering::none);
    h.targets.insert(h.targets.begin() + 1, {.name = "nvme",
                                             .path = below_ / "nvme",
                                             .capacity_bytes = 2 * mebibyte,
                                             .write = {1e9, 1e-4},
                                             .read = {1e9, 1e-4}});
    h.promotion = Promotion::never;
    set_hierarchy(pool, h);
    alloc(pool);
    alloc(pool, "b");
    for (std::uint64_t i = 0; i < 2; ++i) store(pool, i, static_cast<double>(i), "b");
    move(pool, "b", "nvme");
    for (std::uint64_t i = 0; i < 5; ++i) store(pool, i, static_cast<double>(i));
    flush(pool);
    for (std::uint64_t i = 5; i < 10; ++i) store(pool, i, static_cast<double>(i));
    EXPECT_EQ(count_in(pool, "b", "nvme"), 2U);
    EXPECT_GE(count_in(pool, "a", "pfs"), 3U);
    // What comes then has none: the target between makes room for it.
    for (std::uint64_t i = 10; i < 20; ++i) store(pool, i, static_cast<double>(i));
    EXPECT_EQ(count_in(pool, "b", "nvme"), 0U);
    for (std::uint64_t i = 0; i < 20; ++i) expect(pool, i, static_cast<double>(i));
}

TEST_F(flushing, by_hand_and_then_up_and_down_without_copying_again) {
    PMEM pool = open(16 * mebibyte);  // else a slow machine makes room in it meanwhile
    set_hierarchy(pool, hierarchy(Buffering::none));
    alloc(pool);
    for (std::uint64_t i = 0; i < 3; ++i) store(pool, i, static_cast<double>(i));
    std::vector<FlushProgress> seen;
    EXPECT_EQ(flush(pool, "a", [&](const FlushProgress& p) { return seen.push_back(p), true; }),
              3 * mebibyte);
    EXPECT_EQ(seen.size(), 3U);
    EXPECT_EQ(seen.back().bytes, seen.back().of_bytes);
    const auto before = files();
    EXPECT_EQ(before.size(), 3U);
    EXPECT_EQ(flush(pool), 0U);
    for (int round = 0; round < 3; ++round) {
        move(pool, "a", "pfs");
        EXPECT_EQ(count_in(pool, "a", "pfs"), 3U);
        for (std::uint64_t i = 0; i < 3; ++i) expect(pool, i, static_cast<double>(i));
        EXPECT_EQ(files(), before);
        move(pool, "a", "pool");
        EXPECT_EQ(count_in(pool, "a", ""), 3U);
        EXPECT_EQ(files(), before) << "the copies are still good";
    }
    move(pool, "a", "pfs");
    auto view = pool.view<double>("a", Box{{0, 0}, {1, numbers_in_block}});
    pool.erase("a");
    flush(pool);
    EXPECT_EQ(view[7], 7.0) << "a view keeps what it shows";
}

TEST_F(flushing, a_copy_whose_bytes_have_changed_is_not_taken_for_the_block) {
    PMEM pool = open();
    set_hierarchy(pool, hierarchy(Buffering::none));
    alloc(pool);
    store(pool, 0, 1);
    flush(pool);
    {
        std::fstream file(files().at(0), std::ios::in | std::ios::out | std::ios::binary);
        file.seekp(4711);
        file.put('\x55');
    }
    move(pool, "a", "pfs");
    expect(pool, 0, 1);
    EXPECT_TRUE(pool.verify().empty());
}

TEST_F(flushing, another_process_takes_over_when_the_leader_is_killed) {
    {
        PMEM pool = open(32 * mebibyte);
        set_hierarchy(pool, hierarchy(Buffering::write_back));
        alloc(pool);
    }
    std::array<int, 2> led{};
    ASSERT_EQ(pipe(led.data()), 0);
    const pid_t leader = fork();
    if (leader == 0) {
        PMEM pool = open(32 * mebibyte);
        store(pool, 0, 1);
        while (flushed(pool) != 1) std::this_thread::sleep_for(1ms);
        const bool told = write(led[1], "x", 1) == 1;
        for (std::uint64_t i = 1; told; ++i) store(pool, i % 8, static_cast<double>(i));
        _exit(1);
    }
    char byte = 0;
    ASSERT_EQ(read(led[0], &byte, 1), 1);
    PMEM pool = open(32 * mebibyte);
    kill(leader, SIGKILL);
    int status = 0;
    waitpid(leader, &status, 0);
    store(pool, 20, 20);
    wait_until("the survivor flushes", [&] { return unflushed(pool).of_blocks == 0; });
    EXPECT_EQ(flushed(pool), pool.blocks("a").size());
    wait_until("only copies of blocks are left", [&] { return files().size() == pool.blocks("a").size(); });
    close(led[0]);
    close(led[1]);
}

TEST_F(flushing, an_organizer_does_the_work_of_the_others_who_go_on_when_it_is_gone) {
    PMEM pool = open(32 * mebibyte);
    alloc(pool);
    std::array<int, 2> works{};
    ASSERT_EQ(pipe(works.data()), 0);
    const pid_t process = fork();
    if (process == 0) {
        const Organizer organizer(here_ / "pool");
        const bool told = write(works[1], "x", 1) == 1;
        while (told) pause();
        _exit(1);
    }
    char byte = 0;
    ASSERT_EQ(read(works[0], &byte, 1), 1);
    EXPECT_EQ(code_of([&] { const Organizer another(here_ / "pool"); }, "has an organizer already"),
              Code::busy);
    // Nobody here is asked to wait for what the organizer does.
    Hierarchy h = hierarchy(Buffering::write_back);
    h.flush.bytes_per_second = 4096;
    h.flush.on = {Trigger::period, Trigger::close};
    set_hierarchy(pool, h);
    for (std::uint64_t i = 0; i < 4; ++i) store(pool, i, static_cast<double>(i));
    pool.munmap();
    pool = open(32 * mebibyte);
    EXPECT_EQ(flushed(pool), 0U);
    h.flush.bytes_per_second = 0;
    set_hierarchy(pool, h);
    wait_until("the organizer flushes", [&] { return flushed(pool) == 4; });
    kill(process, SIGKILL);
    int status = 0;
    waitpid(process, &status, 0);
    store(pool, 4, 4);
    wait_until("the others go on", [&] { return flushed(pool) == 5; });
    EXPECT_EQ(code_of([&] { const Organizer none(here_ / "pool", "one"); }, "names no processors"),
              Code::invalid_argument);
    EXPECT_EQ(code_of([&] { const Organizer none(here_ / "pool", "1023"); }, "may run on: 0"),
              Code::invalid_argument);
    const Organizer organizer(here_ / "pool", "0-1023");
    EXPECT_EQ(organizer.trouble(), "");
    close(works[0]);
    close(works[1]);
}

TEST_F(flushing, an_organizer_says_what_it_cannot_do) {
    PMEM pool = open(32 * mebibyte);
    alloc(pool);
    set_hierarchy(pool, hierarchy(Buffering::write_back));
    const Organizer organizer(here_ / "pool");
    fs::rename(below_ / "pfs", below_ / "away");
    store(pool, 0, 1);
    wait_until("it says that the target is away",
               [&] { return organizer.trouble().find("pfs") != std::string::npos; });
    fs::rename(below_ / "away", below_ / "pfs");
    wait_until("it goes on", [&] { return flushed(pool) == 1 && organizer.trouble().empty(); });
}

TEST_F(flushing, loads_views_erasures_and_overwrites_go_on_beside_it) {
    PMEM pool = open(12 * mebibyte);
    set_hierarchy(pool, hierarchy(Buffering::write_back));
    alloc(pool);
    for (std::uint64_t i = 0; i < 6; ++i) store(pool, i, 0);
    std::atomic<bool> stops = false;
    std::thread mover([&] {
        while (!stops) {
            move(pool, "a", "pfs");
            move(pool, "a", "pool");
        }
    });
    std::thread reader([&] {
        Options options;
        options.verify_loads = true;
        PMEM other;
        other.mmap(here_ / "pool", options);
        std::vector<double> found(numbers_in_block);
        for (std::uint64_t i = 0; !stops; i = (i + 1) % 6) {
            other.load<double>("a", found.data(), Box{{i, 0}, {1, numbers_in_block}});
            ASSERT_EQ(found[1], found[0] + 1);
            const auto view = other.view<double>("a", Box{{i, 0}, {1, numbers_in_block}});
            ASSERT_EQ(view[numbers_in_block - 1], view[0] + static_cast<double>(numbers_in_block - 1));
        }
    });
    for (int round = 1; round <= 40; ++round) store(pool, static_cast<std::uint64_t>(round % 6), round);
    stops = true;
    mover.join();
    reader.join();
    EXPECT_TRUE(pool.verify().empty());
    wait_until("only copies of blocks are left", [&] {
        pool.trim();  // what it has retired while the mover looked at it, it frees itself, when it does something
        return unflushed(pool).of_blocks == 0 && files().size() == 6;
    });
}

TEST_F(flushing, a_limited_target_takes_its_time_for_all_processes_together) {
    std::array<int, 2> go{};
    ASSERT_EQ(pipe(go.data()), 0);
    const pid_t child = fork();
    if (child == 0) {
        char byte = 0;
        if (read(go[0], &byte, 1) != 1) _exit(1);
        PMEM other = open(64 * mebibyte);
        for (std::uint64_t i = 0; i < 4; ++i) store(other, i, 1);
        other.munmap();
        _exit(0);
    }
    PMEM pool = open(64 * mebibyte);
    Hierarchy h = hierarchy(Buffering::bypass);
    h.promotion = Promotion::never;
    h.targets[1].write = {.bytes_per_second = 16.0 * mebibyte, .latency_s = 1e-3};
    h.targets[1].read = {.bytes_per_second = 32.0 * mebibyte, .latency_s = 1e-3};
    h.targets[1].limited = true;
    set_hierarchy(pool, h);
    EXPECT_TRUE(hierarchy_of(pool)->targets[1].limited);
    alloc(pool);
    const auto begun = std::chrono::steady_clock::now();
    ASSERT_EQ(write(go[1], "x", 1), 1);
    for (std::uint64_t i = 4; i < 8; ++i) store(pool, i, 1);
    int status = 0;
    waitpid(child, &status, 0);
    const auto stored = std::chrono::steady_clock::now();
    EXPECT_EQ(status, 0);
    EXPECT_GE(stored - begun, 490ms) << "eight mebibytes at sixteen a second";
    for (std::uint64_t i = 0; i < 8; ++i) expect(pool, i, 1);
    EXPECT_GE(std::chrono::steady_clock::now() - stored, 240ms);
    close(go[0]);
    close(go[1]);
    h.targets[0].limited = true;
    EXPECT_EQ(code_of([&] { set_hierarchy(pool, h); }, "limited"), Code::invalid_argument);
}

// Who leads removes what killed processes have left; the first that did so took a copy that was just begun for such a thing.
TEST_F(flushing, what_is_begun_is_not_taken_for_what_was_left) {
    PMEM pool = open(32 * mebibyte);
    set_hierarchy(pool, hierarchy(Buffering::none));
    alloc(pool);
    const fs::path left = (*fs::directory_iterator(below_ / "pfs")).path() / "copying-00000000000003e8";
    std::ofstream(left) << "half a blo";
    for (int round = 0; round < 30; ++round) {
        for (std::uint64_t i = 0; i < 4; ++i) store(pool, i, round);
        std::thread other([&] {
            PMEM too = open(32 * mebibyte);
            flush(too);
        });
        flush(pool);
        other.join();
        ASSERT_EQ(flushed(pool), 4U) << "round " << round;
    }
    EXPECT_FALSE(fs::exists(left));
}

// Each copied all of it, and each half as fast.
TEST_F(flushing, what_one_is_copying_others_wait_for) {
    PMEM pool = open(32 * mebibyte);
    Hierarchy h = hierarchy(Buffering::none);
    h.promotion = Promotion::never;
    h.targets[1].write.bytes_per_second = 32.0 * mebibyte;
    h.targets[1].limited = true;
    set_hierarchy(pool, h);
    alloc(pool);
    for (std::uint64_t i = 0; i < 8; ++i) store(pool, i, 1);
    PMEM too = open(32 * mebibyte);
    std::uint64_t theirs = 0;
    std::thread other([&] { theirs = flush(too); });
    const std::uint64_t ours = flush(pool);
    other.join();
    EXPECT_EQ(files().size(), 8U);
    // What the other made while it waited counts for both; what is written does not.
    EXPECT_LE(ours, 8 * mebibyte);
    EXPECT_LE(theirs, 8 * mebibyte);
    std::uint64_t busy_until_ns = 0;
    std::ifstream pace(below_ / "pfs/pmemcpy-pace", std::ios::binary);
    pace.read(reinterpret_cast<char*>(&busy_until_ns), sizeof busy_until_ns);
    EXPECT_TRUE(pace);
    EXPECT_EQ(targets(pool).at(1).used_bytes, 8 * (mebibyte + 48)) << "counted once";
}

// Both had taken the bandwidth of a slow target, where one of them was enough; max-locality lost a tenth of it.
TEST_F(flushing, what_is_just_being_moved_is_left_until_the_others_are_copied) {
    fs::create_directory(below_ / "slow");
    PMEM pool = open(32 * mebibyte);
    Hierarchy h = hierarchy(Buffering::none);
    h.flush.threads = 1;
    h.targets[1].write.bytes_per_second = 1.0 * mebibyte;  // so it says
    h.targets.insert(h.targets.begin() + 1, {.name = "slow",
                                             .kind = TargetKind::shared,
                                             .path = below_ / "slow",
                                             .write = {2.0 * mebibyte, 1e-4},
                                             .read = {2e8, 1e-4},
                                             .limited = true});
    set_hierarchy(pool, h);
    for (const char* id : {"moved", "other"}) {
        alloc(pool, id);
        store(pool, 0, 1, id);
    }
    std::atomic<bool> is_moved = false;
    std::thread moving([&] {
        move(pool, "moved", "slow");
        is_moved = true;
    });
    const auto has_begun = [&] {
        for (const auto& entry : fs::recursive_directory_iterator(below_ / "slow"))
            if (entry.is_regular_file() && fs::file_size(entry) >= mebibyte) return true;
        return false;
    };
    while (!has_begun()) std::this_thread::yield();
    std::vector<std::string> order;
    flush(pool, "/", [&](const FlushProgress&) {
        for (const char* id : {"moved", "other"}) {
            if (flushed(pool, id) == 1 && std::find(order.begin(), order.end(), id) == order.end())
                order.emplace_back(id);
        }
        return true;
    });
    moving.join();
    EXPECT_EQ(order, (std::vector<std::string>{"other", "moved"})) << is_moved;
    EXPECT_EQ(count_in(pool, "moved", "slow"), 1U);
    expect(pool, 0, 1, "moved");
}

TEST_F(flushing, refuses_what_makes_no_sense) {
    PMEM pool = open();
    EXPECT_EQ(code_of([&] { flush(pool); }, "no target to flush to"), Code::invalid_argument);
    alloc(pool);
    store(pool, 0, 1);
    EXPECT_EQ(code_of([&] { receipts(pool, "a"); }, "no targets below"), Code::invalid_argument);
    Hierarchy h = hierarchy(Buffering::write_back);
    h.flush.to = "pool";
    EXPECT_EQ(code_of([&] { set_hierarchy(pool, h); }, "nothing to flush to"), Code::invalid_argument);
    h.flush.to = "tape";
    EXPECT_EQ(code_of([&] { set_hierarchy(pool, h); }, "tape"), Code::invalid_argument);
    h = hierarchy(Buffering::write_back);
    h.watermarks = {.high = 0.5, .low = 0.8};
    EXPECT_EQ(code_of([&] { set_hierarchy(pool, h); }, "watermarks"), Code::invalid_argument);
    h = hierarchy(Buffering::write_back);
    h.flush.period_s = 0;
    EXPECT_EQ(code_of([&] { set_hierarchy(pool, h); }, "every"), Code::invalid_argument);
    set_hierarchy(pool, hierarchy(Buffering::none));
    EXPECT_EQ(code_of([&] { flush(pool, "nobody"); }, "nobody"), Code::not_found);
}

TEST_F(flushing, a_target_that_is_away_is_flushed_to_when_it_is_back) {
    PMEM pool = open();
    set_hierarchy(pool, hierarchy(Buffering::write_back));
    fs::rename(below_ / "pfs", below_ / "away");
    alloc(pool);
    store(pool, 0, 1);
    EXPECT_NE(targets(pool).at(1).trouble, "");
    EXPECT_EQ(unflushed(pool).of_blocks, 1U);
    EXPECT_FALSE(receipts(pool, "a").at(0).flushed_in_s) << "nobody knows";
    EXPECT_EQ(code_of([&] { flush(pool); }, "pfs"), Code::io_error);
    expect(pool, 0, 1);
    fs::rename(below_ / "away", below_ / "pfs");
    wait_until("it is flushed", [&] { return flushed(pool) == 1; });
}

}  // namespace
}  // namespace pmemcpy
