// A fork in a process that has a pool open.

#include "worker.hpp"

#include <pmemcpy/buckets.hpp>
#include <pmemcpy/index.hpp>
#include <pmemcpy/messages.hpp>
#include <pmemcpy/operations.hpp>
#include <pmemcpy/query.hpp>
#include <pmemcpy/tiers.hpp>

namespace {

using namespace processes;
using pmemcpy::Box;
using pmemcpy::Code;
using pmemcpy::Error;
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
    Word stop;
    Word failures;
};

/// Runs f in a forked child; its exit code.
template <class F>
int in_child(F&& f) {
    const pid_t child = ::fork();
    if (child == 0) {
        int code = 98;
        try {
            code = f();
        } catch (const std::exception& error) {
            std::cerr << "child: " << error.what() << "\n";
        }
        ::_exit(code);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFSIGNALED(status) ? 1000 + WTERMSIG(status) : WEXITSTATUS(status);
}

bool is_busy(const std::function<void()>& f) {
    try {
        f();
        return false;
    } catch (const Error& error) {
        return error.kind() == Code::busy;
    }
}

// Has a forked child that lives on when it is killed itself.
int fork_and_stay(const Arguments& arguments) {
    const Shared<Board> board(arguments[1]);
    PMEM pmem;
    pmem.mmap(arguments[0]);
    pmem.store("stayed", 1);
    const auto view = pmem.view<int>("a", Box{{0}, {20'000}});
    if (::fork() == 0) {
        board->opened.fetch_add(1);
        while (board->stop == 0) sleep_us(1000);
        board->opened.fetch_add(1);
        ::_exit(0);
    }
    board->opened.fetch_add(1);
    for (;;) sleep_us(1000);
}
const Job fork_and_stay_job("fork_and_stay", fork_and_stay);

TEST(processes, a_forked_child_gets_a_clear_error_until_it_opens_the_pool_itself) {
    const Folder folder;
    PMEM pmem;
    pmem.mmap(folder / "pool", small_pool());
    pmem.store("x", 1);
    pmemcpy::set_index_mode(pmem, pmemcpy::IndexMode::async);
    pmemcpy::flush_index(pmem);
    pmemcpy::Matches matches = pmemcpy::query(pmem, "value = 1");
    EXPECT_EQ(
        in_child([&] {
            int wrong = 0;
            wrong += is_busy([&] { pmem.store("x", 2); }) ? 0 : 1;
            wrong += is_busy([&] { static_cast<void>(pmem.load<int>("x")); }) ? 0 : 2;
            wrong += is_busy([&] { pmem.sync(); }) ? 0 : 4;
            wrong += is_busy([&] { pmem.erase("x"); }) ? 0 : 8;
            wrong += is_busy([&] { static_cast<void>(pmem.info()); }) ? 0 : 16;
            for (const std::function<void()>& call : std::vector<std::function<void()>>{
                     [&] { pmemcpy::flush_index(pmem); }, [&] { pmemcpy::index_info(pmem); },
                     [&] { pmemcpy::index_mode(pmem); }, [&] { pmemcpy::operation_mask(pmem, {"max"}); },
                     [&] { pmemcpy::operation_names(pmem, 1); },
                     [&] { pmemcpy::registered_operations(pmem); },
                     [&] { pmemcpy::remove_operation(pmem, "none"); }, [&] { pmemcpy::unstaged(pmem); },
                     [&] { matches.next(); }})
                wrong += is_busy(call) ? 0 : 16;
            PMEM own;
            own.mmap(folder / "pool");
            wrong += own.load<int>("x") == 1 ? 0 : 32;
            own.store("by_child", 3);
            wrong += own.info().attached == 2 ? 0 : 64;
            return wrong;
        }),
        0);
    EXPECT_EQ(pmem.load<int>("by_child"), 3);
    pmem.store("x", 4);
    EXPECT_EQ(pmem.load<int>("x"), 4);
}

TEST(processes, a_forked_child_that_exits_does_not_disturb_its_parent) {
    const Folder folder;
    auto pmem = std::make_unique<PMEM>();
    pmem->mmap(folder / "pool", small_pool());
    pmem->alloc<int>("a", {20'000});
    std::vector<int> ones(20'000, 1);
    pmem->store("a", ones.data(), Box{{0}, {20'000}});
    auto view = pmem->view<int>("a", Box{{0}, {20'000}});
    // The child's copies of the objects are destroyed there.
    EXPECT_EQ(in_child([&] {
                  view = {};
                  pmem.reset();
                  return 0;
              }),
              0);
    EXPECT_EQ(pmem->info().attached, 1u);
    std::vector<int> twos(20'000, 2);
    for (int i = 0; i < 10; ++i) pmem->store("a", twos.data(), Box{{0}, {20'000}});
    EXPECT_TRUE(std::all_of(view.begin(), view.end(), [](int v) { return v == 1; }));
    view = {};
    pmem->munmap();
    Inside inside(folder / "pool");
    EXPECT_EQ(inside.pool().recovery_count(), 0u);
    expect_clean(inside.audit());
}

// The child did what the error told it: it opened the pool itself, and let go of what it had of its parent. That unmapped the parent's
// range of addresses, in which the child's own pool lay by then, or memory of malloc.
TEST(processes, a_forked_child_that_lets_go_of_what_its_parent_had_keeps_what_is_its_own) {
    const Folder folder;
    for (const std::string slash : {"", "/"}) {
        const std::string path = folder / (slash.empty() ? "file" : "directory/");
        auto pmem = std::make_unique<PMEM>();
        pmem->mmap(path, small_pool());
        pmem->alloc<int>("a", {20'000});
        const std::vector<int> ones(20'000, 1);
        pmem->store("a", ones.data(), Box{{0}, {20'000}});
        auto view = pmem->view<int>("a", Box{{0}, {20'000}});
        auto buckets = std::make_unique<pmemcpy::BucketPool>(
            pmemcpy::BucketPool::open_or_create(folder / "buckets", {.bucket_bytes = 64 << 10, .count = 64}));
        auto held = buckets->acquire(100'000);
        auto queue =
            std::make_unique<pmemcpy::MessageQueue>(pmemcpy::MessageQueue::open_or_create(folder / "queue"));
        const auto let_go = [&] {
            view = {};
            held = {};
            buckets.reset();
            queue.reset();
            pmem.reset();
        };
        EXPECT_EQ(in_child([&] {
                      // Several, so that wherever the kernel puts them one lies where the parent's lay.
                      std::vector<std::unique_ptr<PMEM>> own;
                      for (int i = 0; i < 4; ++i) {
                          own.push_back(std::make_unique<PMEM>());
                          own.back()->mmap(path);
                          own.back()->store("by_child", i);
                      }
                      let_go();
                      for (int i = 0; i < 4; ++i) {
                          own[static_cast<std::size_t>(i)]->store("by_child", i);
                          if (own[static_cast<std::size_t>(i)]->load<int>("by_child") != i) return 1;
                      }
                      return 0;
                  }),
                  0)
            << path;
        EXPECT_EQ(in_child([&] {
                      std::vector<std::vector<char>> memory;
                      for (int i = 0; i < 8; ++i) memory.emplace_back(16 << 20, 'm');
                      let_go();
                      for (const auto& one : memory) {
                          if (std::any_of(one.begin(), one.end(), [](char c) { return c != 'm'; })) return 1;
                      }
                      return 0;
                  }),
                  0)
            << path;
        // The parent has all of it still.
        EXPECT_TRUE(std::all_of(view.begin(), view.end(), [](int v) { return v == 1; }));
        EXPECT_EQ(pmem->load<int>("by_child"), 3);
        EXPECT_EQ(held.count(), 2u);
        EXPECT_EQ(buckets->count(pmemcpy::Region::available), 62u);
        let_go();
    }
}

// It was a SIGSEGV, and multiprocessing.Pool of Python began its workers again and again.
TEST(processes, a_forked_child_reads_its_parents_views_though_the_parent_lets_go_of_them) {
    const Folder folder;
    for (const bool reads_only : {false, true}) {
        for (const std::string slash : {"", "/"}) {
            const std::string path =
                folder / ((reads_only ? "r" : "w") + std::string(slash.empty() ? "f" : "d/"));
            const Shared<Board> board(folder / "board" + (reads_only ? "r" : "w") +
                                      (slash.empty() ? "f" : "d"));
            PMEM writer;
            writer.mmap(path, small_pool());
            writer.alloc<int>("a", {20'000});
            const std::vector<int> ones(20'000, 1);
            writer.store("a", ones.data(), Box{{0}, {20'000}});
            Options options = small_pool();
            options.mode = reads_only ? pmemcpy::Mode::read : pmemcpy::Mode::update;
            PMEM parent;
            parent.mmap(path, options);
            auto view = parent.view<int>("a", Box{{0}, {20'000}});
            const auto is_as_it_was = [&] {
                return std::all_of(view.begin(), view.end(), [](int v) { return v == 1; });
            };
            const pid_t child = ::fork();
            if (child == 0) {
                board->opened = is_as_it_was() ? 1 : 2;
                while (board->stop == 0) sleep_us(1000);
                const bool is_refused = is_busy([&] { static_cast<void>(parent.exists("a")); });
                ::_exit(is_as_it_was() && is_refused ? 0 : 1);
            }
            ASSERT_TRUE(wait_until([&] { return board->opened != 0; }));
            EXPECT_EQ(board->opened, 1u);
            view = {};
            parent.munmap();
            writer.erase("a");
            for (int i = 0; i < 200; ++i) writer.store("b" + std::to_string(i), std::vector<int>(20'000, 2));
            EXPECT_GT(writer.info().retired_records, 0u);
            board->stop = 1;
            int status = 0;
            ::waitpid(child, &status, 0);
            EXPECT_EQ(status, 0) << path;
            writer.compact();
            EXPECT_EQ(writer.info().retired_records, 0u) << "its space comes back when the child has ended";
        }
    }
}

TEST(processes, a_killed_parent_is_dead_to_the_pool_though_its_forked_child_lives) {
    const Folder folder;
    const Shared<Board> board(folder / "board");
    PMEM pmem;
    pmem.mmap(folder / "pool", small_pool());
    pmem.alloc<int>("a", {20'000});
    std::vector<int> ones(20'000, 1);
    pmem.store("a", ones.data(), Box{{0}, {20'000}});
    Worker parent("fork_and_stay", {folder / "pool", folder / "board"});
    ASSERT_TRUE(wait_until([&] { return board->opened == 2; }));
    EXPECT_EQ(pmem.info().attached, 2u);
    pmem.erase("a");
    EXPECT_GT(pmem.info().data_bytes, 0u);
    parent.kill();
    EXPECT_EQ(pmem.info().attached, 1u);
    EXPECT_GT(pmem.info().data_bytes, 0u) << "the child may read the view yet";
    board->stop = 1;
    ASSERT_TRUE(wait_until([&] { return board->opened == 3; }));
    ASSERT_TRUE(wait_until([&] {
        pmem.compact();
        return pmem.info().data_bytes == 0;
    }));
    pmem.munmap();
    Inside inside(folder / "pool");
    EXPECT_EQ(inside.pool().recovery_count(), 0u);
    expect_clean(inside.audit());
}

TEST(processes, a_thread_that_stores_while_another_one_forks_goes_on) {
    const Folder folder;
    PMEM pmem;
    pmem.mmap(folder / "pool", small_pool());
    std::atomic<bool> stop = false;
    std::uint64_t stored = 0;
    std::thread thread([&] {
        for (; !stop; ++stored)
            pmem.store("x" + std::to_string(stored % 100), std::vector<std::uint64_t>(stored % 2000, stored));
    });
    for (int i = 0; i < 50; ++i) {
        const pid_t child = ::fork();
        if (child == 0) ::_exit(0);
        int status = 0;
        ::waitpid(child, &status, 0);
        EXPECT_EQ(status, 0);
    }
    stop = true;
    thread.join();
    EXPECT_GT(stored, 0u);
    Inside inside(folder / "pool");
    expect_clean(inside.audit());
}

}  // namespace
