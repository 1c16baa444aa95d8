// Users with less than all rights: of another uid who may only read, and of another PID namespace. Both want root.

#include "worker.hpp"

#include <grp.h>

namespace {

using namespace processes;
using pmemcpy::Box;
using pmemcpy::Code;
using pmemcpy::Error;
using pmemcpy::Mode;
using pmemcpy::Options;
using pmemcpy::PMEM;

constexpr std::uint64_t elements = 20'000;

Options small_pool() {
    Options options;
    options.max_bytes = 64 << 20;
    options.chunk_bytes = 64 << 10;
    options.permissions = 0644;
    return options;
}

struct Board {
    Word looked;
    Word viewing;
    Word dropped;
    Word stop;
};

// From here on somebody else, who owns nothing. Said again after the exec, which makes /proc/self readable again.
void become_nobody() {
    if (::setgroups(0, nullptr) != 0 || ::setgid(65534) != 0 || ::setuid(65534) != 0)
        throw std::runtime_error("cannot become nobody");
    ::prctl(PR_SET_DUMPABLE, 1);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
}

int read_as_nobody(const Arguments& arguments) {
    const Shared<Board> board(arguments[1]);
    become_nobody();
    bool refused = false;
    try {
        PMEM().mmap(arguments[0]);
    } catch (const Error& error) {
        refused = error.kind() == Code::permission_denied;
    }
    if (!refused) return 2;
    if (::open((arguments[0] + ".rt").c_str(), O_RDONLY) >= 0) return 3;
    PMEM pmem;
    Options options;
    options.mode = Mode::read;
    pmem.mmap(arguments[0], options);
    auto view = pmem.view<std::uint64_t>("a", Box{{0}, {elements}});
    const std::uint64_t first = view[0];
    board->viewing = 1;
    while (board->stop == 0) {
        std::vector<std::uint64_t> data(elements);
        pmem.load("a", data.data(), Box{{0}, {elements}});
        for (const std::uint64_t word : data) {
            if (word != data[0]) return 4;
        }
        const auto text = pmem.load<std::vector<std::uint64_t>>("text");
        for (const std::uint64_t word : text) {
            if (word != text[0]) return 5;
        }
        // More views than there are locks for single records.
        std::vector<pmemcpy::View<const std::uint64_t>> many;
        for (int i = 0; i < 40; ++i)
            many.push_back(pmem.view<std::uint64_t>("b" + std::to_string(i), Box{{0}, {50}}));
        for (const auto& one : many) {
            for (const std::uint64_t word : one) {
                if (word != one[0]) return 6;
            }
        }
        board->looked.fetch_add(1);
    }
    for (const std::uint64_t word : view) {
        if (word != first) return 7;
    }
    view = {};
    board->dropped = 1;
    while (board->stop == 1) sleep_us(100);
    return 0;
}
const Job read_as_nobody_job("read_as_nobody", read_as_nobody);

int store_and_exit(const Arguments& arguments) {
    PMEM pmem;
    pmem.mmap(arguments[0]);
    for (std::uint64_t i = 0; i < 3000; ++i) {
        const std::string id = "k" + std::to_string(i);
        pmem.store(id, i);
        if (pmem.load<std::uint64_t>(id) != i) return 1;
        pmem.store(arguments[1] + "/own" + std::to_string(i % 10), std::vector<std::uint64_t>(i % 500, i));
    }
    return 0;
}
const Job store_and_exit_job("store_and_exit", store_and_exit);

int store_for_ever(const Arguments& arguments) {
    const Shared<Board> board(arguments[1]);
    PMEM pmem;
    pmem.mmap(arguments[0]);
    const auto view = pmem.view<std::uint64_t>("a", Box{{0}, {elements}});
    for (std::uint64_t i = 0;; ++i) {
        pmem.store(arguments[2] + std::to_string(i % 20), std::vector<std::uint64_t>(i % 500, i));
        board->looked.fetch_add(1);
    }
}
const Job store_for_ever_job("store_for_ever", store_for_ever);

void fill(PMEM& pmem, std::uint64_t number) {
    const std::vector<std::uint64_t> data(elements, number);
    pmem.store("a", data.data(), Box{{0}, {elements}});
    pmem.store("text", std::vector<std::uint64_t>(400, number));
    for (int i = 0; i < 40; ++i) pmem.store("b" + std::to_string(i), data.data(), Box{{0}, {50}});
}

void make_arrays(PMEM& pmem) {
    pmem.alloc<std::uint64_t>("a", {elements});
    for (int i = 0; i < 40; ++i) pmem.alloc<std::uint64_t>("b" + std::to_string(i), {50});
    fill(pmem, 1);
}

bool namespaces_are_permitted() {
    const int status = std::system("unshare -p -f true >/dev/null 2>&1");
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST(processes, a_mere_reader_of_another_uid_beside_a_writer) {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can become another user";
    const Folder folder;
    std::filesystem::permissions(folder.path(), std::filesystem::perms(0755));
    const Shared<Board> board(folder / "board");
    const mode_t mask = ::umask(022);
    PMEM pmem;
    pmem.mmap(folder / "pool", small_pool());
    ::umask(mask);
    make_arrays(pmem);
    pmem.compact();
    const std::uint64_t before = pmem.info().data_bytes;
    Worker reader("read_as_nobody", {folder / "pool", folder / "board"});
    ASSERT_TRUE(wait_until([&] { return board->viewing == 1 || !reader.is_running(); }));
    for (std::uint64_t i = 2; board->looked < 100; ++i) {
        ASSERT_TRUE(reader.is_running()) << reader.last();
        fill(pmem, i);
    }
    pmem.compact();
    EXPECT_GT(pmem.info().data_bytes, before);
    board->stop = 1;
    ASSERT_TRUE(wait_until([&] { return board->dropped == 1 || !reader.is_running(); }));
    pmem.compact();
    EXPECT_EQ(pmem.info().data_bytes, before);
    EXPECT_EQ(pmem.info().attached, 1u);
    board->stop = 2;
    EXPECT_EQ(reader.wait(), 0);
    Inside inside(folder / "pool");
    expect_clean(inside.audit());
}

TEST(processes, a_killed_mere_reader_of_another_uid_keeps_nothing) {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can become another user";
    const Folder folder;
    std::filesystem::permissions(folder.path(), std::filesystem::perms(0755));
    const Shared<Board> board(folder / "board");
    PMEM pmem;
    pmem.mmap(folder / "pool", small_pool());
    make_arrays(pmem);
    const std::uint64_t before = pmem.info().data_bytes;
    Worker reader("read_as_nobody", {folder / "pool", folder / "board"});
    ASSERT_TRUE(wait_until([&] { return board->viewing == 1 || !reader.is_running(); }));
    ASSERT_TRUE(reader.is_running()) << reader.last();
    for (std::uint64_t i = 2; i < 5; ++i) fill(pmem, i);
    pmem.compact();
    EXPECT_GT(pmem.info().data_bytes, before);
    reader.kill();
    pmem.compact();
    EXPECT_EQ(pmem.info().data_bytes, before);
}

TEST(processes, two_pid_namespaces_share_a_pool) {
    if (!namespaces_are_permitted()) GTEST_SKIP() << "unshare -p is not permitted here";
    const Folder folder;
    PMEM pmem;
    pmem.mmap(folder / "pool", small_pool());
    std::vector<Worker> workers;
    for (const char* name : {"one", "two"}) {
        workers.emplace_back("store_and_exit", Arguments{folder / "pool", name},
                             Arguments{"unshare", "-p", "-f", "--kill-child"});
    }
    workers.emplace_back("store_and_exit", Arguments{folder / "pool", "three"});
    for (Worker& worker : workers) EXPECT_EQ(worker.wait(), 0);
    EXPECT_EQ(pmem.ids("k").size(), 3000u);
    for (std::uint64_t i = 0; i < 3000; ++i) ASSERT_EQ(pmem.load<std::uint64_t>("k" + std::to_string(i)), i);
    Inside inside(folder / "pool");
    expect_clean(inside.audit());
}

// In each namespace the worker has the same pid, 1.
TEST(processes, who_dies_in_one_pid_namespace_is_dead_and_its_like_in_another_lives) {
    if (!namespaces_are_permitted()) GTEST_SKIP() << "unshare -p is not permitted here";
    const Folder folder;
    const Shared<Board> board(folder / "board");
    PMEM pmem;
    pmem.mmap(folder / "pool", small_pool());
    make_arrays(pmem);
    std::vector<Worker> workers;
    for (const char* name : {"one", "two"}) {
        workers.emplace_back("store_for_ever", Arguments{folder / "pool", folder / "board", name},
                             Arguments{"unshare", "-p", "-f", "--kill-child"});
    }
    ASSERT_TRUE(wait_until([&] { return pmem.info().attached == 3 && board->looked > 50; }));
    workers[0].kill();
    ASSERT_TRUE(wait_until([&] { return pmem.info().attached == 2; }));
    const std::uint64_t looked = board->looked;
    ASSERT_TRUE(wait_until([&] { return board->looked > looked + 50; }));
    workers[1].kill();
    ASSERT_TRUE(wait_until([&] { return pmem.info().attached == 1; }));
    pmem.compact();
    Inside inside(folder / "pool");
    inside.scavenge();
    expect_clean(inside.audit());
}

}  // namespace
