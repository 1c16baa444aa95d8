// Length: one promise after another of the same file of buckets.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <numeric>
#include <set>
#include <thread>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>
#include <pmemcpy/buckets.hpp>

#include "buckets/format.hpp"
#include "members/format.hpp"
#include "members/word.hpp"
#include "tests/folder.hpp"

namespace pmemcpy {
namespace {

constexpr std::uint64_t page = 4096;

Code code_of(const std::function<void()>& call) {
    try {
        call();
    } catch (const Error& error) {
        return error.kind();
    }
    return Code{};
}

class BucketsOfAFile : public ::testing::Test {
protected:
    BucketPool make(std::uint64_t count, std::uint64_t bytes = page) {
        return BucketPool::create(path_, {.bucket_bytes = bytes, .count = count});
    }
    /// Another process does it, and is killed then.
    static void in_a_process_that_dies(const std::function<void()>& what) {
        const pid_t child = ::fork();
        if (child == 0) {
            what();
            ::kill(::getpid(), SIGKILL);
        }
        int status = 0;
        ::waitpid(child, &status, 0);
        EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    }
    void overwrite(std::uint64_t offset, std::uint64_t word) const {
        std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
        file.seekp(static_cast<std::streamoff>(offset));
        file.write(reinterpret_cast<const char*>(&word), sizeof word);
    }

    Folder folder_;
    std::string path_ = folder_ / "b";
};

TEST_F(BucketsOfAFile, are_as_many_as_the_bytes_need_aligned_and_given_back) {
    BucketPool pool = make(8);
    for (const auto& [bytes, count] :
         {std::pair{0ULL, 1U}, {1ULL, 1U}, {page, 1U}, {page + 1, 2U}, {8 * page, 8U}}) {
        Buckets held = pool.acquire(bytes);
        EXPECT_EQ(held.count(), count);
        EXPECT_EQ(held.bytes(), count * page);
        EXPECT_EQ(held.pieces(), 1U);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(held.piece(0).data()) % page, 0U);
        EXPECT_EQ(pool.count(Region::ram), count);
        EXPECT_EQ(pool.count(BucketState::filling), count);
        EXPECT_EQ(pool.count(Region::available), 8 - count);
    }
    EXPECT_EQ(pool.count(Region::available), 8U);
    EXPECT_TRUE(pool.list().empty());
}

TEST_F(BucketsOfAFile, run_out_with_an_error_and_none_is_lost) {
    BucketPool pool = make(4);
    const Buckets three = pool.acquire(3 * page);
    EXPECT_EQ(code_of([&] { pool.acquire(2 * page); }), Code::no_space);
    EXPECT_FALSE(pool.try_acquire(2 * page));
    EXPECT_FALSE(pool.try_acquire(~0ULL));
    EXPECT_EQ(pool.count(Region::available), 1U);
    EXPECT_EQ(pool.acquire(page).count(), 1U);
}

TEST_F(BucketsOfAFile, hold_what_was_written_whatever_pieces_they_are) {
    BucketPool pool = make(128);
    std::vector<Buckets> every;
    for (int i = 0; i < 128; ++i) every.push_back(pool.acquire(page));
    for (std::size_t i = 0; i < 128; i += 2) every[i].release();
    Buckets held = pool.acquire(5 * page);
    EXPECT_EQ(held.pieces(), 5U);
    std::vector<std::uint8_t> numbers(5 * page - 100), back(numbers.size());
    std::iota(numbers.begin(), numbers.end(), std::uint8_t{3});
    held.write(numbers.data(), numbers.size(), 50);
    held.read(back.data(), back.size(), 50);
    EXPECT_EQ(back, numbers);
    held.write("x", 1, 2 * page + 50);
    held.read(back.data(), 1, 2 * page + 50);
    EXPECT_EQ(back[0], 'x');
    EXPECT_EQ(code_of([&] { held.write(numbers.data(), 2, 5 * page - 1); }), Code::out_of_range);
    EXPECT_EQ(code_of([&] { held.read(back.data(), 1, ~0ULL); }), Code::out_of_range);
    EXPECT_EQ(code_of([&] { static_cast<void>(held.piece(5)); }), Code::out_of_range);
}

// Of a process that holds little that was written they go through the cache, of one that holds much past it.
TEST_F(BucketsOfAFile, large_writes_are_whole_too) {
    BucketPool pool = make(512, 64 << 10);
    for (const std::uint64_t beside : {std::uint64_t{0}, std::uint64_t{20} << 20}) {
        Buckets others = pool.acquire(beside);
        others.write("x", 1);
        Buckets held = pool.acquire(3 << 20);
        std::vector<std::uint32_t> numbers((3 << 20) / 4 - 7), back(numbers.size());
        std::iota(numbers.begin(), numbers.end(), static_cast<std::uint32_t>(beside) + 1U);
        held.write(numbers.data(), numbers.size() * 4, 12);
        held.read(back.data(), back.size() * 4, 12);
        EXPECT_EQ(back, numbers) << beside;
    }
}

TEST_F(BucketsOfAFile, say_their_region_and_what_is_in_them) {
    BucketPool pool = make(8);
    Buckets held = pool.acquire(2 * page + 1, Region::nvme);
    EXPECT_EQ(pool.count(Region::nvme), 3U);
    held.move(Region::burst_buffer);
    EXPECT_EQ(pool.count(Region::nvme), 0U);
    held.set_full(42, 2 * page + 1);
    const std::vector<BucketInfo> list = BucketPool::open(path_).list();
    ASSERT_EQ(list.size(), 3U);
    for (std::uint32_t i = 0; i < 3; ++i) {
        EXPECT_EQ(list[i].region, Region::burst_buffer);
        EXPECT_EQ(list[i].state, BucketState::full);
        EXPECT_EQ(list[i].id, held.ids()[i]);
        EXPECT_EQ(list[i].tag, 42U);
        EXPECT_EQ(list[i].bytes, i < 2 ? page : 1);
        EXPECT_EQ(list[i].part, i);
        EXPECT_EQ(list[i].parts, 3U);
        EXPECT_FALSE(list[i].is_left_behind);
    }
    EXPECT_EQ(code_of([&] { held.move(Region::available); }), Code::invalid_argument);
    EXPECT_EQ(code_of([&] { pool.acquire(1, Region::available); }), Code::invalid_argument);
    EXPECT_EQ(code_of([&] { held.set_full(1, 3 * page + 1); }), Code::out_of_range);
}

TEST_F(BucketsOfAFile, go_to_whom_they_are_offered_and_to_one_alone) {
    BucketPool pool = make(8);
    std::vector<BucketId> ids;
    {
        Buckets held = pool.acquire(2 * page);
        held.write("hello", 6);
        ids = held.offer(7, 6);
        EXPECT_TRUE(held.empty());
    }
    BucketPool other = BucketPool::open(path_);
    EXPECT_EQ(other.count(BucketState::offered), 2U);
    EXPECT_EQ(other.reclaim(), 0U);
    EXPECT_EQ(other.list()[0].tag, 7U);
    Buckets taken = other.take(ids);
    char text[6];
    taken.read(text, 6);
    EXPECT_STREQ(text, "hello");
    EXPECT_EQ(code_of([&] { pool.take(ids); }), Code::not_found);
    taken.release();
    EXPECT_EQ(code_of([&] { pool.take(ids); }), Code::not_found);
    // The same bucket, but another use of it.
    const std::vector<BucketId> then = pool.acquire(page).offer(8, 1);
    EXPECT_EQ(then[0].index, ids[0].index);
    EXPECT_EQ(code_of([&] { pool.take(std::span(ids).first(1)); }), Code::not_found);
    EXPECT_FALSE(pool.discard(ids[0]));
    EXPECT_TRUE(pool.discard(then[0]));
    EXPECT_EQ(pool.count(Region::available), 8U);
}

TEST_F(BucketsOfAFile, of_which_one_is_gone_are_not_taken_at_all) {
    BucketPool pool = make(8);
    std::vector<BucketId> ids = pool.acquire(3 * page).offer(1, 3);
    EXPECT_TRUE(pool.discard(ids[1]));
    EXPECT_EQ(code_of([&] { pool.take(ids); }), Code::not_found);
    EXPECT_EQ(pool.count(BucketState::offered), 2U);
    EXPECT_EQ(code_of([&] { pool.take(std::vector<BucketId>{{8, 1}}); }), Code::not_found);
    EXPECT_EQ(code_of([&] { pool.take(std::vector<BucketId>{{7, 0}}); }), Code::not_found);
}

// The second one makes the call wait for a tenth of a second, and then fail. It held the first one meanwhile, and another process did not get it.
TEST_F(BucketsOfAFile, of_which_one_is_none_are_not_held_before_the_call_fails) {
    BucketPool pool = make(4), other = BucketPool::open(path_);
    const std::vector<BucketId> ids = pool.acquire(page).offer(1, 1);
    ASSERT_EQ(ids[0].index, 0U);
    const buckets::Layout layout = buckets::lay_out(page, 4);
    overwrite(layout.words + 16, members::Word{buckets::state_parting, 1, {0, 1}, 1}.packed());
    std::atomic<bool> is_over{false};
    std::thread failing([&] {
        EXPECT_EQ(code_of([&] { pool.take(std::vector<BucketId>{ids[0], {2, 1}}); }), Code::not_found);
        is_over = true;
    });
    while (!is_over) EXPECT_EQ(other.count(BucketState::offered), 1U);
    failing.join();
    EXPECT_EQ(code_of([&] { pool.take(std::vector<BucketId>{ids[0], ids[0]}); }), Code::not_found);
    EXPECT_EQ(other.take(ids).count(), 1U);
}

// In the order of the ids, whatever order they are taken in.
TEST_F(BucketsOfAFile, come_in_the_order_of_the_ids) {
    BucketPool pool = make(4);
    std::vector<BucketId> ids = pool.acquire(3 * page).offer(1, 3 * page);
    std::swap(ids[0], ids[2]);
    EXPECT_EQ(pool.take(ids).ids(), ids);
}

// The buckets that were left behind in a seat are nobody's before another process can have the name of the dead one.
TEST_F(BucketsOfAFile, of_the_dead_are_left_behind_also_beside_one_with_the_same_tag) {
    BucketPool pool = make(8);
    in_a_process_that_dies([&] {
        BucketPool there = BucketPool::open(path_);
        static Buckets run = there.acquire(5 * page);
        static Buckets full = there.acquire(2 * page);
        full.set_full(9, 5);
    });
    const std::vector<BucketInfo> before = pool.left_behind();
    overwrite(members::lives_offset + 8, (std::uint64_t{1} << members::life_bits) - 1);
    const BucketPool same = BucketPool::open(path_);
    const std::vector<BucketInfo> left = same.left_behind();
    ASSERT_EQ(left.size(), 7U);
    for (std::size_t i = 0; i < left.size(); ++i) EXPECT_EQ(left[i].id, before[i].id);
    EXPECT_EQ(left[6].tag, 9U);
    EXPECT_EQ(pool.reclaim(), 7U);
}

// A process that puts back a bucket of a dead one does not write the name of the dead one: the seat may have another life with that name by then.
TEST_F(BucketsOfAFile, that_are_put_back_are_nobodys) {
    BucketPool pool = make(8);
    in_a_process_that_dies([&] { static Buckets five = BucketPool::open(path_).acquire(5 * page); });
    const std::vector<BucketInfo> left = pool.left_behind();
    ASSERT_EQ(left.size(), 5U);
    const Buckets third = pool.take({&left[2].id, 1});  // which leaves the others in single ones
    const buckets::Layout layout = buckets::lay_out(page, 8);
    for (const std::uint64_t i : {0U, 1U, 3U, 4U}) {
        std::uint64_t bits = 0;
        std::ifstream file(path_, std::ios::binary);
        file.seekg(static_cast<std::streamoff>(layout.words + 8 * i));
        file.read(reinterpret_cast<char*>(&bits), 8);
        EXPECT_EQ(members::Word::of(bits), (members::Word{1, 1, members::nobody, left[i].id.turn}));
    }
    EXPECT_EQ(pool.left_behind().size(), 4U);
}

TEST_F(BucketsOfAFile, of_the_dead_are_listed_taken_or_free_again) {
    BucketPool pool = make(8);
    const Buckets mine = pool.acquire(page);
    in_a_process_that_dies([&] {
        BucketPool there = BucketPool::open(path_);
        static Buckets full = there.acquire(2 * page);
        full.write("left", 5);
        full.set_full(9, 5);
        static Buckets filling = there.acquire(3 * page);
    });
    std::vector<BucketInfo> left = pool.left_behind();
    ASSERT_EQ(left.size(), 5U);
    EXPECT_EQ(std::count_if(left.begin(), left.end(),
                            [](const BucketInfo& b) { return b.state == BucketState::full && b.tag == 9; }),
              2);
    {
        Buckets taken = pool.take(std::vector{left[0].id, left[1].id});
        char text[5];
        taken.read(text, 5);
        EXPECT_STREQ(text, "left");
        EXPECT_EQ(pool.left_behind().size(), 3U);
    }
    EXPECT_EQ(pool.reclaim(), 3U);
    EXPECT_EQ(pool.count(Region::available), 7U);
    EXPECT_EQ(mine.count(), 1U);
}

TEST_F(BucketsOfAFile, of_the_dead_are_used_when_there_are_no_others) {
    BucketPool pool = make(8);
    in_a_process_that_dies([&] { static Buckets all = BucketPool::open(path_).acquire(8 * page); });
    EXPECT_EQ(pool.acquire(1).count(), 1U);
    EXPECT_EQ(pool.acquire(8 * page).count(), 8U);
}

TEST_F(BucketsOfAFile, of_the_dead_that_were_one_piece_are_taken_one_by_one_too) {
    BucketPool pool = make(8);
    in_a_process_that_dies([&] { static Buckets five = BucketPool::open(path_).acquire(5 * page); });
    const std::vector<BucketInfo> left = pool.left_behind();
    ASSERT_EQ(left.size(), 5U);
    {
        const Buckets third = pool.take({&left[2].id, 1});
        BucketPool other = BucketPool::open(path_);
        const Buckets ends = other.take(std::vector{left[0].id, left[4].id});
        EXPECT_EQ(ends.pieces(), 2U);
        const std::vector<BucketInfo> still = pool.left_behind();
        ASSERT_EQ(still.size(), 2U);
        EXPECT_EQ(still[0].id, left[1].id);
        EXPECT_EQ(still[1].id, left[3].id);
        EXPECT_EQ(code_of([&] { pool.take({&left[0].id, 1}); }), Code::not_found);
    }
    EXPECT_EQ(pool.reclaim(), 2U);
    const Buckets all = pool.acquire(8 * page);
    for (const BucketInfo& info : left)
        EXPECT_EQ(code_of([&] { pool.take({&info.id, 1}); }), Code::not_found);
}

TEST_F(BucketsOfAFile, of_one_use_have_other_ids_than_those_of_any_other) {
    BucketPool pool = make(8);
    std::set<std::pair<std::uint32_t, std::uint32_t>> seen;
    for (const std::uint64_t pages : {3U, 3U, 8U, 1U, 3U, 8U, 8U, 2U, 3U}) {
        Buckets held = pool.acquire(pages * page);
        const std::vector<BucketId> ids = held.ids();
        for (const BucketId& id : ids) EXPECT_TRUE(seen.insert({id.index, id.turn}).second);
        if (pages == 3) held.set_full(1, 1);
        EXPECT_EQ(held.ids(), ids);
    }
}

// They are all somebody's for a moment who wants a part of them.
TEST_F(BucketsOfAFile, are_waited_for_while_another_gives_a_part_of_them_back) {
    BucketPool pool = make(4);  // the first seat, and its first life
    const buckets::Layout layout = buckets::lay_out(page, 4);
    overwrite(layout.words, members::Word{buckets::state_parting, 1, {0, 1}, 1}.packed());
    for (std::uint64_t i = 1; i < 4; ++i)
        overwrite(layout.words + 8 * i, members::Word{buckets::state_follows, 0, {}, 0}.packed());
    EXPECT_EQ(pool.count(BucketState::filling), 4U);
    std::thread other([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        overwrite(layout.words, members::Word{0, 0, {}, 1}.packed());
    });
    EXPECT_EQ(BucketPool::open(path_).acquire(3 * page).count(), 3U);
    other.join();
    EXPECT_EQ(pool.count(BucketState::available), 4U);
}

TEST_F(BucketsOfAFile, of_a_pool_that_was_closed_stay_with_who_holds_them) {
    Buckets held;
    {
        BucketPool pool = make(2);
        held = pool.acquire(page);
    }
    EXPECT_TRUE(BucketPool::open(path_).left_behind().empty());
    held.release();
    EXPECT_EQ(BucketPool::open(path_).count(Region::available), 2U);
}

TEST_F(BucketsOfAFile, are_not_a_forked_childs) {
    BucketPool pool = make(4);
    Buckets held = pool.acquire(page);
    const pid_t child = ::fork();
    if (child == 0) {
        const bool is_right = held.empty() && code_of([&] { pool.acquire(1); }) == Code::busy &&
                              code_of([&] { pool.list(); }) == Code::busy;
        held.release();
        ::_exit(is_right ? 0 : 1);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
    EXPECT_EQ(held.count(), 1U);
    EXPECT_EQ(pool.count(BucketState::filling), 1U);
}

TEST_F(BucketsOfAFile, are_opened_or_made_as_the_options_say) {
    BucketPool first = BucketPool::open_or_create(path_, {.bucket_bytes = 8192, .count = 3});
    EXPECT_EQ(BucketPool::open_or_create(path_, {.bucket_bytes = 8192, .count = 3}).count(), 3U);
    EXPECT_EQ(code_of([&] { BucketPool::open_or_create(path_, {.bucket_bytes = 8192, .count = 4}); }),
              Code::invalid_argument);
    EXPECT_EQ(code_of([&] { BucketPool::create(path_); }), Code::already_exists);
    EXPECT_EQ(code_of([&] { BucketPool::open(folder_ / "nothing"); }), Code::not_found);
    first.prepare();
    for (const BucketOptions& options : {BucketOptions{0, 1},
                                         {4095, 1},
                                         {4096, 0},
                                         {4096, 1ULL << 25},
                                         {1ULL << 40, 1ULL << 24},
                                         {~0ULL << 12, 3}})
        EXPECT_EQ(code_of([&] { BucketPool::create(folder_ / "c", options); }), Code::invalid_argument);
    EXPECT_EQ(code_of([&] { BucketPool::create(folder_ / "c", {.bucket_bytes = 1ULL << 40, .count = 512}); }),
              Code::no_space);
    EXPECT_FALSE(std::filesystem::exists(folder_ / "c"));
}

TEST_F(BucketsOfAFile, with_words_that_make_no_sense_are_an_error_and_never_lent) {
    make(4);
    const buckets::Layout layout = buckets::lay_out(page, 4);
    for (const members::Word& nonsense :
         {members::Word{7, 1, {}, 0}, members::Word{1, 0, {}, 0}, members::Word{0, 1, {}, 0},
          members::Word{buckets::state_follows, 0, {}, 0}}) {
        overwrite(layout.words, nonsense.packed());
        BucketPool pool = BucketPool::open(path_);
        EXPECT_EQ(code_of([&] { pool.list(); }), Code::corrupt);
        EXPECT_EQ(code_of([&] { pool.reclaim(); }), Code::corrupt);
    }
    overwrite(layout.words, members::Word{2, 1, {1023, 77}, 3}.packed());  // of a seat that nobody has had
    EXPECT_EQ(BucketPool::open(path_).left_behind().size(), 1U);
    overwrite(layout.hints, ~std::uint64_t{0});
    BucketPool pool = BucketPool::open(path_);
    EXPECT_EQ(pool.acquire(4 * page).count(), 4U);
    EXPECT_FALSE(pool.try_acquire(5 * page));
}

TEST_F(BucketsOfAFile, are_lent_to_one_thread_at_a_time) {
    BucketPool pool = make(40);
    std::atomic<bool> is_wrong{false};
    std::vector<std::thread> threads;
    for (std::uint64_t id = 1; id <= 3; ++id) {
        threads.emplace_back([&, id] {
            for (std::uint64_t turn = 0; turn < 1000; ++turn) {
                auto held = pool.try_acquire((1 + turn % 9) * page);
                if (!held) continue;
                for (std::size_t i = 0; i < held->pieces(); ++i)
                    std::memset(held->piece(i).data(), static_cast<int>(id), held->piece(i).size());
                for (std::size_t i = 0; i < held->pieces(); ++i) {
                    const auto bytes = held->piece(i);
                    if (bytes.front() != std::byte(id) || bytes.back() != std::byte(id)) is_wrong = true;
                }
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_FALSE(is_wrong);
    EXPECT_EQ(pool.count(Region::available), 40U);
}

}  // namespace
}  // namespace pmemcpy
