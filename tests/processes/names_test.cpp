// What people do to a pool's file while it is in use: copy, rename, link, and the same to its .rt.

#include "worker.hpp"

namespace {

using namespace processes;
using pmemcpy::Code;
using pmemcpy::Options;
using pmemcpy::PMEM;
namespace fs = std::filesystem;

Options small_pool() {
    Options options;
    options.max_bytes = 64 << 20;
    options.chunk_bytes = 64 << 10;
    return options;
}

struct Board {
    Word opened;
    Word stop;
    Word stored;
};

int keep_storing(const Arguments& arguments) {
    const Shared<Board> board(arguments[1]);
    PMEM pmem;
    pmem.mmap(arguments[0]);
    for (std::uint64_t i = 0; board->stop == 0; ++i) {
        pmem.store("key" + std::to_string(i % 500), std::vector<std::uint64_t>(i % 300, i));
        board->stored = i;
        board->opened = 1;
    }
    return 0;
}
const Job keep_storing_job("keep_storing", keep_storing);

class Names : public ::testing::Test {
protected:
    Names() : board_(folder_ / "board"), pool_(folder_ / "pool") {
        PMEM pmem;
        pmem.mmap(pool_, small_pool());
        pmem.store("before", 7);
        pmem.munmap();
        worker_.emplace_back("keep_storing", Arguments{pool_, folder_ / "board"});
        EXPECT_TRUE(wait_until([&] { return board_->opened == 1; }));
    }
    void stop() {
        board_->stop = 1;
        EXPECT_EQ(worker_[0].wait(), 0);
    }
    void expect_storing_goes_on() {
        const std::uint64_t before = board_->stored;
        EXPECT_TRUE(wait_until([&] { return board_->stored > before + 10; }));
    }
    static void expect_opens(const std::string& path) {
        PMEM pmem;
        pmem.mmap(path);
        EXPECT_EQ(pmem.load<int>("before"), 7);
        pmem.store("after", 8);
        Inside inside(path);
        expect_clean(inside.audit());
    }
    // Bytes that changed while they were being copied are noticed by their checksums.
    static void expect_whole_or_corrupt(const std::string& path) {
        PMEM pmem;
        Options options;
        options.verify_loads = true;
        pmem.mmap(path, options);
        for (const std::string& id : pmem.ids("key")) {
            try {
                const auto words = pmem.load<std::vector<std::uint64_t>>(id);
                if (words.empty()) continue;
                EXPECT_EQ(words.size(), words[0] % 300);
                EXPECT_TRUE(
                    std::all_of(words.begin(), words.end(), [&](std::uint64_t w) { return w == words[0]; }));
            } catch (const pmemcpy::Error& error) {
                EXPECT_EQ(error.kind(), Code::corrupt);
            }
        }
    }

    Folder folder_;
    Shared<Board> board_;
    std::string pool_;
    std::vector<Worker> worker_;
};

TEST_F(Names, a_copy_made_while_in_use_recovers) {
    for (int i = 0; i < 5; ++i) {
        fs::copy_file(pool_, folder_ / "copy", fs::copy_options::overwrite_existing);
        expect_opens(folder_ / "copy");
        expect_whole_or_corrupt(folder_ / "copy");
    }
    stop();
    expect_opens(pool_);
    PMEM pmem;
    pmem.mmap(pool_);
    EXPECT_TRUE(pmem.verify().empty());
}

TEST_F(Names, a_copy_that_took_the_run_time_file_along_recovers_too) {
    fs::copy_file(pool_ + ".rt", folder_ / "copy.rt");
    fs::copy_file(pool_, folder_ / "copy");
    expect_opens(folder_ / "copy");
}

TEST_F(Names, renamed_while_in_use_refuses_newcomers_until_all_have_closed) {
    fs::rename(pool_, folder_ / "other");
    expect_storing_goes_on();
    expect_error(
        Code::busy, [&] { PMEM().mmap(folder_ / "other"); }, ".rt");
    stop();
    expect_opens(folder_ / "other");
}

TEST_F(Names, a_hard_link_while_in_use_refuses_newcomers_until_all_have_closed) {
    fs::create_hard_link(pool_, folder_ / "link");
    expect_error(
        Code::busy, [&] { PMEM().mmap(folder_ / "link"); }, ".rt");
    expect_storing_goes_on();
    stop();
    expect_opens(folder_ / "link");
    expect_opens(pool_);
    PMEM pmem;
    pmem.mmap(folder_ / "link");
    expect_error(
        Code::busy, [&] { PMEM().mmap(pool_); }, ".rt");
}

TEST_F(Names, the_run_time_file_deleted_while_in_use_refuses_newcomers_until_all_have_closed) {
    fs::remove(pool_ + ".rt");
    expect_error(
        Code::busy, [&] { PMEM().mmap(pool_); }, ".rt");
    expect_storing_goes_on();
    stop();
    expect_opens(pool_);
}

TEST_F(Names, the_run_time_file_replaced_while_in_use_refuses_newcomers_until_all_have_closed) {
    fs::copy_file(pool_ + ".rt", folder_ / "foreign");
    fs::rename(folder_ / "foreign", pool_ + ".rt");
    expect_error(
        Code::busy, [&] { PMEM().mmap(pool_); }, ".rt");
    expect_storing_goes_on();
    stop();
    expect_opens(pool_);
}

TEST_F(Names, with_the_run_time_file_deleted_and_the_user_killed_the_pool_recovers) {
    fs::remove(pool_ + ".rt");
    worker_[0].kill();
    expect_opens(pool_);
}

TEST_F(Names, a_symbolic_link_in_the_place_of_the_run_time_file_is_refused) {
    stop();
    fs::rename(pool_ + ".rt", folder_ / "elsewhere");
    fs::create_symlink(folder_ / "elsewhere", pool_ + ".rt");
    const auto before = fs::last_write_time(folder_ / "elsewhere");
    EXPECT_THROW(PMEM().mmap(pool_), pmemcpy::Error);
    EXPECT_EQ(fs::last_write_time(folder_ / "elsewhere"), before);
    fs::remove(pool_ + ".rt");
    expect_opens(pool_);
}

TEST_F(Names, a_pool_in_use_is_not_replaced) {
    Options options = small_pool();
    options.mode = pmemcpy::Mode::replace;
    expect_error(Code::busy, [&] { PMEM().mmap(pool_, options); });
    stop();
    PMEM pmem;
    pmem.mmap(pool_, options);
    EXPECT_TRUE(pmem.ids().empty());
}

}  // namespace
