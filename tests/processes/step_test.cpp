// Ranks store what belongs to a step, one of them commits: readers see all of it or nothing.

#include "os/lock.hpp"
#include "worker.hpp"

namespace {

using namespace processes;
using pmemcpy::Box;
using pmemcpy::Code;
using pmemcpy::Error;
using pmemcpy::PMEM;

constexpr std::uint64_t ranks = 3;
constexpr std::uint64_t columns = 500;

struct Board {
    Word arrived;  // ranks that have stored their part of a step, summed over steps
    Word committed;
    Word stop;
    Word looked[2];
    Word failures;
    char message[300];
};

void fail(Board& board, const std::string& text) {
    if (board.failures.fetch_add(1) == 0) text.copy(board.message, sizeof board.message - 1);
}

int store_steps(const Arguments& arguments) {
    const Shared<Board> board(arguments[1]);
    const std::uint64_t me = std::stoul(arguments[2]);
    const std::uint64_t steps = std::stoul(arguments[3]);
    PMEM pmem;
    pmem.mmap(arguments[0]);
    for (std::uint64_t step = 1; step <= steps; ++step) {
        pmem.begin(step);
        const std::vector<std::uint64_t> data(columns, step);
        pmem.store("field", data.data(), Box{{me, 0}, {1, columns}});
        pmem.store("time" + std::to_string(me), step);
        pmem.store("long" + std::to_string(me), std::vector<std::uint64_t>(200, step));
        pmem.set_attribute("field", "by" + std::to_string(me), step);
        board->arrived.fetch_add(1);
        while (board->arrived < step * ranks) std::this_thread::yield();
        // The others go on to the next step at once; that is what a barrier before the commit allows.
        if (me == 0) {
            pmem.commit(step);
            board->committed = step;
        }
    }
    while (board->committed < steps) std::this_thread::yield();
    return 0;
}
const Job store_steps_job("store_steps", store_steps);

int watch(const Arguments& arguments) {
    const Shared<Board> board(arguments[1]);
    const std::uint64_t me = std::stoul(arguments[2]);
    pmemcpy::Options options;
    if (me == 1) options.mode = pmemcpy::Mode::read;
    PMEM pmem;
    pmem.mmap(arguments[0], options);
    std::uint64_t last = 0;
    while (board->stop == 0) {
        const std::uint64_t before = pmem.info().committed_step;
        std::vector<std::uint64_t> seen;
        try {
            std::vector<std::uint64_t> field(ranks * columns);
            pmem.load("field", field.data(), Box{{0, 0}, {ranks, columns}});
            seen = field;
            for (std::uint64_t r = 0; r < ranks; ++r) {
                seen.push_back(pmem.load<std::uint64_t>("time" + std::to_string(r)));
                for (const std::uint64_t word :
                     pmem.load<std::vector<std::uint64_t>>("long" + std::to_string(r)))
                    seen.push_back(word);
                seen.push_back(pmem.get_attribute<std::uint64_t>("field", "by" + std::to_string(r)));
            }
        } catch (const Error& error) {
            if (error.kind() != Code::not_found || before != 0)
                fail(*board, "at step " + std::to_string(before) + ": " + error.what());
            seen.clear();
        }
        const std::uint64_t after = pmem.info().committed_step;
        for (const std::uint64_t number : seen) {
            if (number < before || number > after) {
                fail(*board, "saw " + std::to_string(number) + " while " + std::to_string(before) + " to " +
                                 std::to_string(after) + " was committed");
                break;
            }
        }
        if (!seen.empty() && before == after && before != last) {
            last = before;
            board->looked[me].fetch_add(1);
        }
    }
    return 0;
}
const Job watch_job("watch", watch);

TEST(processes, readers_never_see_half_a_step) {
    const Folder folder;
    const Shared<Board> board(folder / "board");
    const std::string steps = is_long() ? "20000" : "300";
    {
        PMEM pmem;
        pmemcpy::Options options;
        options.max_bytes = 128 << 20;
        options.chunk_bytes = 64 << 10;
        pmem.mmap(folder / "pool", options);
        pmem.alloc<std::uint64_t>("field", {ranks, columns});
    }
    Inside inside(folder / "pool");
    std::vector<Worker> watchers;
    for (const char* me : {"0", "1"})
        watchers.emplace_back("watch", Arguments{folder / "pool", folder / "board", me});
    std::vector<Worker> workers;
    for (const char* me : {"0", "1", "2"})
        workers.emplace_back("store_steps", Arguments{folder / "pool", folder / "board", me, steps});
    for (Worker& worker : workers) EXPECT_EQ(worker.wait(), 0);
    board->stop = 1;
    for (Worker& watcher : watchers) EXPECT_EQ(watcher.wait(), 0);
    EXPECT_EQ(board->failures, 0u) << board->message;
    EXPECT_GT(board->looked[0], 0u);
    EXPECT_GT(board->looked[1], 0u);
    inside.scavenge();
    expect_clean(inside.audit());
}

// Stores something of everything in a step, says so, and waits: to be killed, or to go as one should.
int store_in_step(const Arguments& arguments) {
    const Shared<Board> board(arguments[1]);
    PMEM pmem;
    pmem.mmap(arguments[0]);
    const std::uint64_t step = std::stoul(arguments[2]);
    pmem.begin(step);
    const std::vector<std::uint64_t> data(columns, 7);
    pmem.store("field", data.data(), Box{{0, 0}, {1, columns}});
    pmem.store("value", 7);
    pmem.store("value", 8);
    pmem.store("long", std::string(100'000, 'x'));
    pmem.store("new", 7);
    pmem.alloc<int>("array", {3});
    pmem.set_attribute("field", "units", "m");
    pmem.set_attribute("value", "n", 7);
    board->arrived.fetch_add(1);
    while (board->stop == 0) std::this_thread::yield();
    return 0;
}
const Job store_in_step_job("store_in_step", store_in_step);

class DeathInStep : public ::testing::Test {
protected:
    void SetUp() override {
        pmemcpy::Options options;
        options.max_bytes = 64 << 20;
        options.chunk_bytes = 64 << 10;
        pmem.mmap(folder / "pool", options);
        pmem.alloc<std::uint64_t>("field", {ranks, columns});
        const std::vector<std::uint64_t> data(ranks * columns, 1);
        pmem.store("field", data.data(), Box{{0, 0}, {ranks, columns}});
        pmem.store("value", 1);
        pmem.store("long", std::string(50'000, 'a'));
        pmem.set_attribute("value", "n", 1);
    }
    Worker worker_in_step(std::uint64_t step) {
        const std::uint64_t before = board->arrived;
        Worker worker("store_in_step", Arguments{folder / "pool", folder / "board", std::to_string(step)});
        while (board->arrived == before) std::this_thread::yield();
        return worker;
    }
    void expect_as_before() {
        EXPECT_EQ(pmem.load<int>("value"), 1);
        EXPECT_EQ(pmem.load<std::string>("long"), std::string(50'000, 'a'));
        EXPECT_EQ(pmem.ids(), (std::vector<std::string>{"field", "long", "value"}));
        EXPECT_EQ(pmem.get_attribute<int>("value", "n"), 1);
        EXPECT_TRUE(pmem.attributes("field").empty());
        std::vector<std::uint64_t> found(ranks * columns);
        pmem.load("field", found.data(), Box{{0, 0}, {ranks, columns}});
        EXPECT_EQ(found, std::vector<std::uint64_t>(ranks * columns, 1));
    }
    void expect_refused(std::uint64_t step) {
        expect_error(
            Code::busy, [&] { pmem.commit(step); }, "without closing the pool");
    }
    void expect_that_a_newcomer_can_begin_anew() {
        PMEM newcomer;
        newcomer.mmap(folder / "pool");
        newcomer.begin(1);
        newcomer.store("value", 9);
        newcomer.commit(1);
        EXPECT_EQ(pmem.load<int>("value"), 9);
        EXPECT_FALSE(pmem.exists("new"));
        EXPECT_EQ(pmem.load<std::string>("long"), std::string(50'000, 'a'));
    }
    const Folder folder;
    const Shared<Board> board{folder / "board"};
    PMEM pmem;  // of somebody who has the pool open all the time
};

TEST_F(DeathInStep, keeps_it_from_being_committed_and_the_next_begin_drops_what_is_left) {
    const std::uint64_t used = pmem.info().data_bytes;
    worker_in_step(1).kill();
    expect_as_before();
    expect_refused(1);
    pmem.begin(1);
    expect_as_before();  // now also for those who store in this step
    EXPECT_FALSE(pmem.exists("array"));
    pmem.store("other", 5);
    pmem.commit(1);
    EXPECT_EQ(pmem.load<int>("other"), 5);
    pmem.erase("other");
    expect_as_before();
    Inside inside(folder / "pool");
    inside.scavenge();
    expect_clean(inside.audit());
    EXPECT_EQ(pmem.info().data_bytes, used);
    EXPECT_TRUE(pmem.verify().empty());
}

TEST_F(DeathInStep, stays_noticed_when_somebody_has_cleaned_up_after_the_dead) {
    worker_in_step(1).kill();
    pmem.trim();  // takes back what dead processes hold
    expect_refused(1);
    expect_that_a_newcomer_can_begin_anew();
}

TEST_F(DeathInStep, is_noticed_by_who_opens_the_pool_to_begin_the_step_again) {
    worker_in_step(1).kill();
    expect_that_a_newcomer_can_begin_anew();
}

TEST_F(DeathInStep, is_noticed_by_who_gets_the_dead_ones_slot) {
    Inside inside(folder / "pool");
    worker_in_step(1).kill();
    // Every other slot looks as if somebody had died there too, so that the one of the dead worker is not passed over.
    auto& runtime = inside.pool().runtime();
    std::uint64_t left_behind = 0;
    for (std::uint64_t i = 0; i < pmemcpy::pool::slot_count; ++i) {
        if (runtime.slot(i).attached != 0) {
            if (runtime.slot(i).step == 1) ++left_behind;
        } else {
            runtime.slot(i).attached = 1;
        }
    }
    ASSERT_EQ(left_behind, 1u);
    PMEM taker;
    taker.mmap(folder / "pool");
    for (std::uint64_t i = 0; i < pmemcpy::pool::slot_count; ++i) {
        if (runtime.slot(i).attached != 0 && runtime.is_dead(i)) runtime.slot(i).attached = 0;
    }
    EXPECT_EQ(inside.pool().broken_step(), 1u);
    expect_refused(1);
}

// A process that has just begun to clean up after the dead one, and was put off the processor then, made it look alive:
// a newcomer began the step anew over what was left of it, and either that was committed too or the commit was refused.
TEST_F(DeathInStep, is_noticed_also_while_another_has_only_begun_to_clean_up) {
    Inside inside(folder / "pool");
    worker_in_step(1).kill();
    auto& runtime = inside.pool().runtime();
    std::uint64_t dead = 0;
    while (runtime.slot(dead).step != 1) ++dead;
    auto other = pmemcpy::os::File::open(folder / "pool.rt", O_RDWR);
    pmemcpy::os::lock(other, pmemcpy::os::LockKind::exclusive, runtime.estate_byte(dead), 1);
    EXPECT_TRUE(runtime.is_dead(dead));
    std::thread newcomer([&] { expect_that_a_newcomer_can_begin_anew(); });
    sleep_us(20'000);
    EXPECT_EQ(pmem.info().committed_step, 0u);
    pmemcpy::os::unlock(other, runtime.estate_byte(dead), 1);
    newcomer.join();
}

TEST_F(DeathInStep, drops_nothing_while_another_is_still_in_the_step) {
    Worker alive = worker_in_step(1);
    worker_in_step(1).kill();
    pmem.begin(1);
    expect_refused(1);
    board->stop = 1;
    EXPECT_EQ(alive.wait(), 0);
    pmem.begin(1);
    expect_as_before();
    pmem.commit(1);
    expect_as_before();
}

TEST_F(DeathInStep, is_not_what_leaving_before_the_commit_is) {
    Worker worker = worker_in_step(1);
    board->stop = 1;
    EXPECT_EQ(worker.wait(), 0);
    expect_as_before();
    pmem.commit(1);
    EXPECT_EQ(pmem.load<int>("value"), 8);
    EXPECT_EQ(pmem.load<int>("new"), 7);
    EXPECT_EQ(pmem.get_attribute<std::string>("field", "units"), "m");
}

TEST_F(DeathInStep, in_one_that_was_committed_changes_nothing) {
    Worker worker = worker_in_step(1);
    pmem.commit(1);
    worker.kill();
    pmem.begin(2);
    pmem.store("value", 9);
    pmem.commit(2);
    EXPECT_EQ(pmem.load<int>("value"), 9);
    EXPECT_EQ(pmem.load<int>("new"), 7);
}

}  // namespace
