// Processes that come and go.

#include <fcntl.h>

#include <thread>

#include "os/lock.hpp"
#include "pool/locks.hpp"
#include "worker.hpp"

namespace {

using namespace processes;
using pmemcpy::Options;
using pmemcpy::PMEM;

Options small_pool() {
    Options options;
    options.max_bytes = 64 << 20;
    options.chunk_bytes = 64 << 10;
    return options;
}

struct Board {
    Word opened;
    Word leave;
};

int come_and_go(const Arguments& arguments) {
    for (int i = 0; i < std::stoi(arguments[1]); ++i) {
        PMEM pmem;
        pmem.mmap(arguments[0]);
        pmem.store("visits/" + arguments[2], i);
    }
    return 0;
}
const Job come_and_go_job("come_and_go", come_and_go);

int stay(const Arguments& arguments) {
    const Shared<Board> board(arguments[1]);
    PMEM pmem;
    pmem.mmap(arguments[0]);
    pmem.store("stayed/" + arguments[2], 1);
    board->opened.fetch_add(1);
    while (board->leave == 0) sleep_us(is_long() ? 500'000 : 2000);  // thousands that look often are a load
    return 0;
}
const Job stay_job("stay", stay);

int open_and_hang(const Arguments& arguments) {
    const Shared<Board> board(arguments[1]);
    for (int i = 0;; ++i) {
        PMEM pmem;
        pmem.mmap(arguments[0]);
        board->opened.fetch_add(1);
        pmem.store("hung", i);
    }
}
const Job open_and_hang_job("open_and_hang", open_and_hang);

// Does nothing of what whoever is alone does before others get in, but says that it was to.
int be_first(const Arguments& arguments) {
    const Shared<Board> board(arguments[1]);
    pmemcpy::pool::Pool pool(arguments[0], false, pmemcpy::MapSync::off);
    pmemcpy::heap::Heap heap(pool);
    pmemcpy::catalog::Catalog catalog(pool, heap);
    pool.attach(catalog, [&] {
        board->opened.fetch_add(1);
        while (board->leave == 0) sleep_us(1000);
    });
    pool.detach(catalog);
    return 0;
}
const Job be_first_job("be_first", be_first);

// Odd while somebody rebuilds, and two higher after each rebuild.
std::uint64_t recoveries(const std::string& path) {
    pmemcpy::pool::PoolState state{};
    std::ifstream file(path, std::ios::binary);
    file.seekg(pmemcpy::pool::state_offset);
    file.read(reinterpret_cast<char*>(&state), sizeof state);
    return state.recovery_count.value;
}

// Which of the files below the pool are nobody's, and what is scratch, was left by processes that are gone. Who died while he removed it
// had let in others before, and they took it for done: the files stayed, and what they took was counted wrongly.
TEST(processes, who_waits_for_one_that_dies_before_he_lets_others_in_begins_as_he_did) {
    const Folder folder;
    { PMEM().mmap(folder / "pool", small_pool()); }
    const Shared<Board> board(folder / "board");
    const Arguments arguments{folder / "pool", folder / "board"};
    Worker first("be_first", arguments);
    ASSERT_TRUE(wait_until([&] { return board->opened == 1; }));
    Worker second("be_first", arguments);
    sleep_us(100'000);  // so that it waits for the lock; if it does not yet, it is alone later, too
    EXPECT_EQ(board->opened, 1u);
    first.kill();
    board->leave = 1;
    EXPECT_EQ(second.wait(), 0);
    EXPECT_EQ(board->opened, 2u);
}

TEST(processes, many_open_and_close_at_once_and_the_last_one_leaves_a_clean_pool) {
    const Folder folder;
    { PMEM().mmap(folder / "pool", small_pool()); }
    std::vector<Worker> workers;
    for (int i = 0; i < 12; ++i)
        workers.emplace_back("come_and_go", Arguments{folder / "pool", "40", std::to_string(i)});
    for (Worker& worker : workers) EXPECT_EQ(worker.wait(), 0);
    EXPECT_EQ(recoveries(folder / "pool"), 0u);
    PMEM pmem;
    pmem.mmap(folder / "pool");
    EXPECT_EQ(recoveries(folder / "pool"), 0u);
    for (int i = 0; i < 12; ++i) EXPECT_EQ(pmem.load<int>("visits/" + std::to_string(i)), 39);
    EXPECT_EQ(pmem.info().attached, 1u);
    Inside inside(folder / "pool");
    expect_clean(inside.audit());
}

// Of those who open at the same moment each asks first whether he is alone, and so keeps the others from being it. A thousand
// tries of that take a few milliseconds, and once on a busy machine twelve processes made them all in step: one got `busy`.
TEST(processes, who_is_kept_from_being_alone_for_a_moment_opens_the_pool_a_moment_later) {
    const Folder folder;
    { PMEM().mmap(folder / "pool", small_pool()); }
    auto file = pmemcpy::os::File::open(folder / "pool", O_RDWR);
    pmemcpy::os::lock(file, pmemcpy::os::LockKind::shared, pmemcpy::pool::attach_byte, 1);
    std::thread leaving([&] {
        sleep_us(300'000);
        pmemcpy::os::unlock(file, pmemcpy::pool::attach_byte, 1);
    });
    PMEM pmem;
    EXPECT_NO_THROW(pmem.mmap(folder / "pool"));
    leaving.join();
}

TEST(processes, many_stay_attached_at_the_same_time) {
    const Folder folder;
    const Shared<Board> board(folder / "board");
    const std::uint64_t many = is_long() ? 4095 : 72;
    Options options = small_pool();
    options.chunk_bytes = 16 << 10;
    options.max_bytes = (many + 1) * (256 << 10);  // each process has slabs of its own
    PMEM pmem;
    pmem.mmap(folder / "pool", options);
    std::vector<Worker> workers;
    for (std::uint64_t i = 0; i < many; ++i) {
        workers.emplace_back("stay", Arguments{folder / "pool", folder / "board", std::to_string(i)});
        // So many at once are a matter of the machine; a few at once are enough of a crowd.
        if (is_long()) {
            ASSERT_TRUE(wait_until([&] { return board->opened + 64 > i; }));
        }
    }
    ASSERT_TRUE(wait_until([&] { return board->opened == many; }, 500));
    EXPECT_EQ(pmem.info().attached, many + 1);
    if (many == 4095)
        expect_error(
            pmemcpy::Code::busy, [&] { PMEM().mmap(folder / "pool"); }, "4096");
    board->leave = 1;
    for (Worker& worker : workers) EXPECT_EQ(worker.wait(), 0);
    EXPECT_EQ(pmem.info().attached, 1u);
    EXPECT_EQ(pmem.ids("stayed/").size(), many);
}

TEST(processes, killed_while_opening_or_closing_leaves_a_pool_that_opens) {
    const Folder folder;
    std::mt19937_64 random(seed());
    const Shared<Board> board(folder / "board");
    { PMEM().mmap(folder / "pool", small_pool()); }
    for (int kill = 0; kill < 60; ++kill) {
        std::vector<Worker> workers;
        const std::uint64_t before = board->opened;
        for (int i = 0; i < 3; ++i)
            workers.emplace_back("open_and_hang", Arguments{folder / "pool", folder / "board"});
        ASSERT_TRUE(wait_until([&] { return board->opened > before; }));
        sleep_us(random() % 2000);
        for (Worker& worker : workers) EXPECT_TRUE(worker.is_running()) << worker.last();
        for (Worker& worker : workers) ::kill(worker.pid(), SIGKILL);
        workers.clear();
        PMEM pmem;
        pmem.mmap(folder / "pool");
        ASSERT_TRUE(!pmem.exists("hung") || pmem.load<int>("hung") >= 0);
        ASSERT_EQ(pmem.info().attached, 1u);
    }
    Inside inside(folder / "pool");
    expect_clean(inside.audit());
}

TEST(processes, after_a_death_beside_a_survivor_the_pool_still_closes_clean) {
    const Folder folder;
    const Shared<Board> board(folder / "board");
    {
        PMEM pmem;
        pmem.mmap(folder / "pool", small_pool());
        Worker dead("stay", {folder / "pool", folder / "board", "0"});
        ASSERT_TRUE(wait_until([&] { return board->opened == 1; }));
        EXPECT_EQ(pmem.info().attached, 2u);
        dead.kill();
        EXPECT_EQ(pmem.info().attached, 1u);
    }
    EXPECT_EQ(recoveries(folder / "pool"), 0u);
    PMEM pmem;
    pmem.mmap(folder / "pool");
    EXPECT_EQ(recoveries(folder / "pool"), 0u);
    EXPECT_EQ(pmem.load<int>("stayed/0"), 1);
}

TEST(processes, alone_and_killed_the_pool_is_scanned_once) {
    const Folder folder;
    const Shared<Board> board(folder / "board");
    { PMEM().mmap(folder / "pool", small_pool()); }
    Worker dead("stay", {folder / "pool", folder / "board", "0"});
    ASSERT_TRUE(wait_until([&] { return board->opened == 1; }));
    dead.kill();
    { PMEM().mmap(folder / "pool"); }
    const std::uint64_t after = recoveries(folder / "pool");
    EXPECT_GT(after, 0u);
    EXPECT_EQ(after % 2, 0u);
    PMEM pmem;
    pmem.mmap(folder / "pool");
    EXPECT_EQ(recoveries(folder / "pool"), after);
    EXPECT_EQ(pmem.load<int>("stayed/0"), 1);
}

}  // namespace
