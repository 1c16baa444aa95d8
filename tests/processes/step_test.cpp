// Ranks store what belongs to a step, one of them commits: readers see all of it or nothing.

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

}  // namespace
