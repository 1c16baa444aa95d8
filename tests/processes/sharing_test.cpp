// Two processes at the same thing: the same new box, a store during an erase, views over overwrites and erases.

#include "worker.hpp"

namespace {

using namespace processes;
using pmemcpy::Box;
using pmemcpy::Code;
using pmemcpy::Error;
using pmemcpy::Options;
using pmemcpy::PMEM;

constexpr std::uint64_t elements = 20'000;  // 160 kB: a run of chunks

Options small_pool() {
    Options options;
    options.max_bytes = 64 << 20;
    options.chunk_bytes = 64 << 10;
    return options;
}

struct Board {
    Word phase;  // what the test wants, or has done
    Word reply;  // how far the worker is
    Word stored;
    Word refused;
};

// Stores a box that nobody has stored before, together with others; phase by phase another array.
int store_same_box(const Arguments& arguments) {
    const Shared<Board> board(arguments[1]);
    PMEM pmem;
    pmem.mmap(arguments[0]);
    const std::vector<std::uint64_t> data(elements, std::stoul(arguments[2]));
    for (std::uint64_t round = 1; round <= 100; ++round) {
        const std::string id = "a" + std::to_string(round);
        pmem.alloc<std::uint64_t>(id, {elements});
        board->reply.fetch_add(1);
        while (board->reply < 2 * round) std::this_thread::yield();
        pmem.store(id, data.data(), Box{{0}, {elements}});
    }
    return 0;
}
const Job store_same_box_job("store_same_box", store_same_box);

int store_until_stopped(const Arguments& arguments) {
    const Shared<Board> board(arguments[1]);
    PMEM pmem;
    pmem.mmap(arguments[0]);
    const std::uint64_t me = std::stoul(arguments[2]);
    const std::vector<std::uint64_t> data(elements, me);
    board->reply.fetch_add(1);
    for (std::uint64_t i = 0; board->phase == 0; ++i) {
        try {
            pmem.store("a", data.data(), Box{{me, 0}, {1, elements}});
            board->stored.fetch_add(1);
        } catch (const Error& error) {
            if (error.kind() != Code::not_found) throw;
            board->refused.fetch_add(1);
        }
    }
    return 0;
}
const Job store_until_stopped_job("store_until_stopped", store_until_stopped);

// Holds a view, and says whether it stays as it is while the test does things to the array.
int hold_view(const Arguments& arguments) {
    const Shared<Board> board(arguments[1]);
    PMEM pmem;
    Options options;
    if (arguments.size() > 2) options.mode = pmemcpy::Mode::read;
    pmem.mmap(arguments[0], options);
    const auto view = pmem.view<std::uint64_t>("a", Box{{0}, {elements}});
    const auto text = pmem.view_bytes("text");
    board->reply = 1;
    while (board->phase == 0) sleep_us(100);
    const bool same = std::all_of(view.begin(), view.end(), [](std::uint64_t v) { return v == 1; });
    const bool same_text = std::all_of(text.bytes().begin(), text.bytes().end(),
                                       [&](std::byte b) { return b == text.bytes()[0]; });
    return same && same_text ? 0 : 1;
}
const Job hold_view_job("hold_view", hold_view);

// A short string's bytes as stored begin with its length, so what is compared is a vector of equal bytes.
void fill(PMEM& pmem, std::uint64_t number) {
    const std::vector<std::uint64_t> data(elements, number);
    pmem.store("a", data.data(), Box{{0}, {elements}});
    pmem.store("text", std::vector<std::uint8_t>(3000, static_cast<std::uint8_t>(number)),
               pmemcpy::SerializerType::none);
}

constexpr std::uint64_t few = 64;
constexpr std::uint64_t most = 30'000;
constexpr std::uint64_t others =
    3985;  // as many as fill the segments, so that free slots lie at their two ends

// Each box covers all before it, so that each store takes a block in another slot than its own out.
int store_ever_more(const Arguments& arguments) {
    const Shared<Board> board(arguments[1]);
    PMEM pmem;
    pmem.mmap(arguments[0]);
    for (std::uint64_t i = 2; board->phase == 0 && i + few < most; ++i) {
        const std::vector<std::uint64_t> data(few + i, i);
        pmem.store("a", data.data(), Box{{0}, {few + i}});
        board->stored = i;
    }
    return 0;
}
const Job store_ever_more_job("store_ever_more", store_ever_more);

// Once, a reader could pass a slot before a block was published in it, and come to another slot after the block there had
// been taken out because of the first: then it saw neither.
TEST(processes, a_reader_finds_all_elements_while_blocks_replace_others) {
    const Folder folder;
    const Shared<Board> board(folder / "board");
    PMEM pmem;
    pmem.mmap(folder / "pool", small_pool());
    pmem.alloc<std::uint64_t>("a", {most + others});
    std::vector<std::uint64_t> data(few, 1);
    for (std::uint64_t i = 0; i < few; i += 4) pmem.store("a", data.data(), Box{{i}, {4}});
    for (std::uint64_t i = 0; i < others; ++i) pmem.store("a", data.data(), Box{{most + i}, {1}});
    pmem.store("a", data.data(), Box{{0}, {few}});
    Worker worker("store_ever_more", Arguments{folder / "pool", folder / "board"});
    std::vector<std::uint64_t> last = data;
    for (int i = 0; i < (is_long() ? 10'000 : 100); ++i) {
        PMEM reader;  // that has to look into every slot, which takes a while
        reader.mmap(folder / "pool");
        ASSERT_NO_THROW(reader.load("a", data.data(), Box{{0}, {few}}));
        for (std::size_t k = 0; k < few; ++k) ASSERT_GE(data[k], last[k]) << "element " << k;
        last = data;
    }
    EXPECT_GT(board->stored, 0u);
    board->phase = 1;
    EXPECT_EQ(worker.wait(), 0);
}

TEST(processes, two_store_the_same_new_box_and_one_block_is_left) {
    const Folder folder;
    const Shared<Board> board(folder / "board");
    PMEM pmem;
    pmem.mmap(folder / "pool", small_pool());
    std::vector<Worker> workers;
    for (const char* number : {"1", "2"})
        workers.emplace_back("store_same_box", Arguments{folder / "pool", folder / "board", number});
    for (Worker& worker : workers) EXPECT_EQ(worker.wait(), 0);
    pmem.compact();
    for (int round = 1; round <= 100; ++round) {
        const std::string id = "a" + std::to_string(round);
        std::vector<std::uint64_t> data(elements);
        pmem.load(id, data.data(), Box{{0}, {elements}});
        EXPECT_TRUE(std::all_of(data.begin(), data.end(), [&](std::uint64_t v) { return v == data[0]; }));
        EXPECT_EQ(pmem.blocks(id).size(), 1u);
    }
    Inside inside(folder / "pool");
    inside.scavenge();
    expect_clean(inside.audit());
}

TEST(processes, a_store_during_an_erase_is_refused_and_leaks_nothing) {
    const Folder folder;
    const Shared<Board> board(folder / "board");
    PMEM pmem;
    pmem.mmap(folder / "pool", small_pool());
    std::vector<Worker> workers;
    for (const char* number : {"0", "1", "2"})
        workers.emplace_back("store_until_stopped", Arguments{folder / "pool", folder / "board", number});
    ASSERT_TRUE(wait_until([&] { return board->reply == 3; }));
    for (int round = 0; round < 300; ++round) {
        pmem.alloc<std::uint64_t>("a", {3, elements});
        sleep_us(300);
        pmem.erase("a");
        EXPECT_FALSE(pmem.exists("a"));
    }
    board->phase = 1;
    for (Worker& worker : workers) EXPECT_EQ(worker.wait(), 0);
    EXPECT_GT(board->stored, 0u);
    EXPECT_GT(board->refused, 0u);
    pmem.compact();
    Inside inside(folder / "pool");
    inside.scavenge();
    expect_clean(inside.audit());
    EXPECT_EQ(pmem.info().data_bytes, 0u);
}

class Views : public ::testing::TestWithParam<bool> {
protected:
    Views() : board_(folder_ / "board"), read_only_(GetParam()) {
        pmem_.mmap(folder_ / "pool", small_pool());
        pmem_.alloc<std::uint64_t>("a", {elements});
        fill(pmem_, 1);
    }
    Worker holder() {
        Arguments arguments{folder_ / "pool", folder_ / "board"};
        if (read_only_) arguments.emplace_back("read");
        Worker worker("hold_view", arguments);
        EXPECT_TRUE(wait_until([&] { return board_->reply == 1; }));
        return worker;
    }
    std::uint64_t taken_after_a_store() {
        pmem_.store("other", 1);
        pmem_.compact();
        return pmem_.info().data_bytes;
    }

    Folder folder_;
    Shared<Board> board_;
    bool read_only_;
    PMEM pmem_;
};

TEST_P(Views, stay_as_they_are_over_overwrites_by_another_process) {
    const std::uint64_t before = taken_after_a_store();
    Worker worker = holder();
    for (std::uint64_t i = 2; i < 40; ++i) fill(pmem_, i);
    EXPECT_GT(taken_after_a_store(), before);
    board_->phase = 1;
    EXPECT_EQ(worker.wait(), 0);
    EXPECT_EQ(taken_after_a_store(), before);
}

TEST_P(Views, stay_as_they_are_over_an_erase_by_another_process) {
    Worker worker = holder();
    pmem_.erase("a");
    pmem_.erase("text");
    pmem_.alloc<std::uint64_t>("b", {elements});
    for (std::uint64_t i = 2; i < 20; ++i) {
        const std::vector<std::uint64_t> data(elements, i);
        pmem_.store("b", data.data(), Box{{0}, {elements}});
    }
    pmem_.erase("b");
    EXPECT_GT(taken_after_a_store(), 0u);
    board_->phase = 1;
    EXPECT_EQ(worker.wait(), 0);
    EXPECT_EQ(taken_after_a_store(), 0u);
}

TEST_P(Views, of_a_killed_process_keep_nothing) {
    const std::uint64_t before = taken_after_a_store();
    Worker worker = holder();
    fill(pmem_, 2);
    EXPECT_GT(taken_after_a_store(), before);
    worker.kill();
    EXPECT_EQ(taken_after_a_store(), before);
    Inside inside(folder_ / "pool");
    expect_clean(inside.audit());
}

TEST_P(Views, outlive_the_process_that_overwrote_what_they_show) {
    Worker worker = holder();
    fill(pmem_, 2);
    pmem_.munmap();
    if (!read_only_) {
        board_->phase = 1;
        EXPECT_EQ(worker.wait(), 0);
    }
    pmem_.mmap(folder_ / "pool");
    fill(pmem_, 3);
    if (read_only_) {
        board_->phase = 1;
        EXPECT_EQ(worker.wait(), 0);
    }
    pmem_.compact();
    Inside inside(folder_ / "pool");
    inside.scavenge();
    const auto audit = inside.audit();
    EXPECT_EQ(audit.retired_records, 0u);
    expect_clean(audit);
}

INSTANTIATE_TEST_SUITE_P(processes, Views, ::testing::Values(false, true),
                         [](const auto& which) { return which.param ? "of_a_mere_reader" : "of_a_writer"; });

}  // namespace
