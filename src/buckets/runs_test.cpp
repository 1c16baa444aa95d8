#include "buckets/runs.hpp"

#include <atomic>
#include <random>
#include <set>
#include <thread>

#include <gtest/gtest.h>

namespace pmemcpy::buckets {
namespace {

using members::Owner;
using members::Word;
using Piece = members::Run;
using Pieces = std::vector<Piece>;

constexpr Owner me{7, 1}, other{8, 1};

/// Words in memory, and a process that uses them.
class Things {
public:
    explicit Things(std::uint32_t count)
        : bits_(members::bytes_of_bits(count) / 8), words_(count), runs_(another()) {
        runs_.set_up();
    }
    /// As another process has them.
    Runs another() { return {bytes(bits_), bytes(words_), static_cast<std::uint32_t>(words_.size())}; }
    Runs& runs() { return runs_; }
    std::vector<std::uint64_t>& bits() { return bits_; }
    Pieces take(std::uint32_t want, std::uint32_t gets, Owner owner = me) {
        Pieces pieces;
        EXPECT_EQ(runs_.take(want, {1, 1, owner, 0}, pieces).count, gets);
        return pieces;
    }
    /// As the pool takes them.
    std::uint32_t take_run(std::uint32_t want) {
        const Pieces pieces = take(want, want);
        EXPECT_EQ(pieces.size(), 1U);
        runs_.join(pieces[0]);
        return pieces[0].first;
    }
    std::optional<std::uint32_t> take_kept(std::uint32_t want) {
        return runs_.take_kept(want, Word{1, 1, me, 0}.packed());
    }
    std::vector<std::uint32_t> turns() {
        std::vector<std::uint32_t> all;
        for (std::uint32_t i = 0; i < words_.size(); ++i) all.push_back(runs_.said_of(i).turn);
        return all;
    }
    std::uint32_t free_count() {
        std::uint32_t n = 0;
        for (std::uint32_t i = 0; i < words_.size(); ++i) n += runs_.said_of(i).state == 0 ? 1U : 0U;
        return n;
    }

private:
    static std::byte* bytes(std::vector<std::uint64_t>& words) {
        return reinterpret_cast<std::byte*>(words.data());
    }
    std::vector<std::uint64_t> bits_, words_;
    Runs runs_;
};

TEST(runs, all_are_taken_once_and_no_more_than_there_are) {
    for (const std::uint32_t count : {1U, 63U, 64U, 65U, 200U}) {
        for (const std::uint32_t want : {1U, 3U, 64U, 100U}) {
            Things things(count);
            std::set<std::uint32_t> taken;
            for (std::uint32_t left = count; left > 0; left -= std::min(left, want)) {
                for (const Piece& piece : things.take(want, std::min(left, want))) {
                    for (std::uint32_t i = piece.first; i < piece.first + piece.count; ++i)
                        EXPECT_TRUE(taken.insert(i).second);
                }
            }
            EXPECT_EQ(taken.size(), count);
            EXPECT_TRUE(things.take(1, 0).empty());
        }
    }
}

TEST(runs, what_is_given_back_as_one_is_taken_as_one_by_its_first_word_alone) {
    Things things(64);
    const std::uint32_t first = things.take_run(5);
    EXPECT_EQ(things.runs().length(first), 5U);
    things.runs().give_back({first, 5}, me);
    EXPECT_EQ(things.free_count(), 64U);
    std::vector<Word> before;
    for (std::uint32_t i = 0; i < 64; ++i) before.push_back(things.runs().load(i));
    EXPECT_FALSE(things.take_kept(4));
    EXPECT_EQ(things.take_kept(5), first);
    for (std::uint32_t i = 0; i < 64; ++i) EXPECT_EQ(things.runs().load(i) == before[i], i != first);
    EXPECT_EQ(things.free_count(), 59U);
    EXPECT_FALSE(things.take_kept(5));
}

TEST(runs, each_use_of_each_bucket_has_a_turn_of_its_own_however_runs_are_cut) {
    Things things(8);
    std::vector<std::uint32_t> before = things.turns();
    const auto have_grown = [&](std::uint32_t from, std::uint32_t to) {
        const std::vector<std::uint32_t> now = things.turns();
        for (std::uint32_t i = 0; i < 8; ++i) EXPECT_GE(now[i], before[i] + (i >= from && i < to ? 1 : 0));
        before = now;
    };
    for (const std::uint32_t want : {3U, 8U, 2U, 8U, 8U, 5U, 1U, 8U}) {
        const std::uint32_t first = things.take_run(want);
        have_grown(first, first + want);
        things.runs().cut({first, want});
        EXPECT_EQ(things.turns(), before);
        things.runs().join({first, want});
        EXPECT_EQ(things.turns(), before);
        things.runs().give_back({first, want}, me);
        EXPECT_EQ(things.turns(), before);
    }
}

TEST(runs, lie_next_to_each_other_where_there_is_room) {
    Things things(256);
    EXPECT_EQ(things.take(32, 32), (Pieces{{0, 32}}));
    for (std::uint32_t i = 0; i < 32; i += 2) things.runs().give_back({i, 1}, me);
    EXPECT_EQ(things.take(20, 20), (Pieces{{32, 20}}));
    things.take(204, 204);  // two of three words whole, and what is left between
    things.take(100, 16);
}

TEST(runs, pieces_will_do_where_there_is_no_row) {
    Things things(64);
    things.take(64, 64);
    for (std::uint32_t i = 0; i < 64; i += 2) things.runs().give_back({i, 1}, me);
    EXPECT_EQ(things.take(3, 3), (Pieces{{0, 1}, {2, 1}, {4, 1}}));
}

TEST(runs, of_other_lengths_are_cut_and_put_together) {
    Things things(64);
    things.runs().give_back({things.take_run(64), 64}, me);
    EXPECT_EQ(things.take_run(1), 0U);
    EXPECT_EQ(things.runs().length(1), 63U);
    EXPECT_EQ(things.take_run(8), 1U);
    EXPECT_EQ(things.free_count(), 55U);
    things.runs().give_back({1, 8}, me);
    things.runs().give_back({0, 1}, me);
    EXPECT_EQ(things.take_run(16), 0U);
    EXPECT_EQ(things.free_count(), 48U);
}

TEST(runs, that_are_longer_than_a_word_of_bits_are_several) {
    Things things(200);
    const std::uint32_t first = things.take_run(150);
    EXPECT_EQ(things.runs().length(first), 64U);
    things.runs().give_back({first, 150}, me);
    EXPECT_EQ(things.free_count(), 200U);
    EXPECT_TRUE(things.take_kept(64));
    EXPECT_TRUE(things.take_kept(64));
    EXPECT_TRUE(things.take_kept(22));
}

TEST(runs, that_their_owner_has_cut_are_given_back_as_one) {
    Things things(8);
    const std::uint32_t first = things.take_run(4);
    things.runs().cut({first, 4});
    EXPECT_EQ(things.runs().length(first), 1U);
    things.runs().give_back({first, 4}, me);
    EXPECT_EQ(things.take_kept(4), first);
}

// Who dies between a word and its bit leaves a bit that is wrong; and of what is taken again and again they stay set.
TEST(runs, bits_that_are_wrong_lose_nothing) {
    Things things(130);
    things.bits() = {0, 0, 0};
    things.take(70, 70);
    things.bits() = {~std::uint64_t{0}, ~std::uint64_t{0}, ~std::uint64_t{0}};
    things.take(70, 60);
    things.bits() = {0, 0, 0};
    things.take(1, 0);
}

TEST(runs, that_are_taken_with_their_bits_set_hide_no_row) {
    Things things(64);
    for (int i = 0; i < 8; ++i) things.take_run(4);
    for (std::uint32_t i = 0; i < 32; i += 4) things.runs().give_back({i, 4}, me);
    for (int i = 0; i < 8; ++i) EXPECT_TRUE(things.take_kept(4));
    EXPECT_EQ(things.bits()[0], ~std::uint64_t{0});
    EXPECT_EQ(things.take(4, 4), (Pieces{{32, 4}}));
}

TEST(runs, are_given_back_by_their_owner_and_nobody_else) {
    Things things(200);
    Pieces pieces = things.take(150, 150);
    for (const Piece& piece : things.take(50, 50, other)) pieces.push_back(piece);
    for (const Piece& piece : pieces) things.runs().give_back(piece, me);
    EXPECT_EQ(things.free_count(), 150U);
    for (std::uint32_t i = 150; i < 200; ++i) EXPECT_EQ(things.runs().load(i).owner, other);
}

// What this process remembers was another's meanwhile, and is shorter, or the same and not as it was.
TEST(runs, that_were_another_process_s_meanwhile_are_no_more_what_is_remembered) {
    for (const std::uint32_t of_other : {1U, 2U, 4U, 8U}) {
        Things things(8);
        Runs there = things.another();
        things.runs().give_back({things.take_run(4), 4}, me);
        Pieces pieces;
        EXPECT_EQ(there.take(of_other, {1, 1, other, 0}, pieces).count, of_other);
        EXPECT_FALSE(things.take_kept(4));
        there.join(pieces[0]);
        there.give_back(pieces[0], other);
        EXPECT_FALSE(things.take_kept(4));
        EXPECT_EQ(things.free_count(), 8U);
        EXPECT_EQ(things.take_run(8), 0U);
    }
}

TEST(runs, that_have_the_turn_again_that_is_remembered_are_taken_only_if_they_are_as_long) {
    Things things(8);
    const std::uint32_t first = things.take_run(4);
    things.runs().give_back({first, 4}, me);
    const std::uint32_t turn = things.runs().load(first).turn;
    things.take_run(1);
    things.runs().give_back({first, 1}, me);
    const Word found = things.runs().load(first);
    Word again = found;
    again.turn = turn;  // as it is when it was taken four billion times
    ASSERT_TRUE(things.runs().change(first, found, again));
    EXPECT_FALSE(things.take_kept(4));
    EXPECT_EQ(things.runs().length(first), 1U);
}

// What a process leaves that is killed while it joins six, from the first on, or cuts them, from the last on.
TEST(runs, are_whole_wherever_their_owner_stopped_joining_or_cutting) {
    for (std::uint32_t stop = 1; stop <= 6; ++stop) {
        Things things(8);
        things.runs().give_back({things.take_run(3), 3}, me);  // their turns differ
        things.take(6, 6);
        const std::vector<std::uint32_t> turns = things.turns();
        things.runs().join({0, stop});
        EXPECT_EQ(things.turns(), turns);
        for (std::uint32_t i = 0; i < 8; ++i) {
            EXPECT_EQ(things.runs().said_of(i).owner, i < 6 ? me : Owner{});
            EXPECT_EQ(things.runs().first_of(i), i < stop ? 0 : i);
        }
        things.runs().give_back({0, 6}, me);
        things.take(8, 8);
    }
}

TEST(runs, whose_owner_gives_a_part_back_say_so_to_who_needs_it) {
    Things things(8);
    const std::uint32_t first = things.take_run(8);
    const Word taken = things.runs().load(first);
    Word parting = taken;
    parting.state = state_parting;
    Pieces pieces;
    EXPECT_TRUE(things.runs().take(1, {1, 1, other, 0}, pieces).is_settled);
    ASSERT_TRUE(things.runs().change(first, taken, parting));
    EXPECT_FALSE(things.runs().take(1, {1, 1, other, 0}, pieces).is_settled);
    EXPECT_TRUE(pieces.empty());
}

TEST(runs, of_which_one_is_taken_are_said_to_be_parted_until_the_others_are_free) {
    Things things(64);
    std::atomic<bool> is_done{false}, is_wrong{false};
    std::thread looker([&] {
        while (!is_done) {
            const Word last = things.runs().said_of(63);
            if (last.owner == me && last.state != state_parting) is_wrong = true;
        }
    });
    for (int turn = 0; turn < 20000; ++turn) {
        const Pieces all = things.take(64, 64, other);
        things.runs().join(all[0]);
        things.runs().give_back(all[0], other);
        const Pieces one = things.take(1, 1);
        EXPECT_EQ(things.runs().load(one[0].first).state, 1);
        things.runs().give_back(one[0], me);
    }
    is_done = true;
    looker.join();
    EXPECT_FALSE(is_wrong);
}

// One thread looks at all the time; the others take, cut and give back.
TEST(runs, threads_never_have_the_same_bucket_and_who_looks_never_sees_a_turn_go_back) {
    constexpr std::uint32_t count = 90;
    Things things(count);
    std::vector<std::atomic<int>> holders(count);
    std::atomic<bool> is_wrong{false}, is_done{false};
    std::vector<std::thread> threads;
    for (std::uint32_t id = 0; id < 3; ++id) {
        threads.emplace_back([&, id] {
            std::mt19937_64 random(id);
            Runs there = things.another();  // two of the processes are one
            Runs& runs = id == 0 ? there : things.runs();
            const Owner owner{id + 1, 1};
            for (int turn = 0; turn < 6000; ++turn) {
                const auto want = static_cast<std::uint32_t>(1 + random() % 3 * (random() % 12));
                Pieces pieces;
                if (const auto kept = runs.take_kept(want, Word{1, 1, owner, 0}.packed())) {
                    pieces.push_back({*kept, want});
                } else {
                    runs.take(want, {1, 1, owner, 0}, pieces);
                    for (const Piece& piece : pieces) runs.join(piece);
                }
                for (const Piece& piece : pieces) {
                    for (std::uint32_t i = piece.first; i < piece.first + piece.count; ++i)
                        if (holders[i].fetch_add(1) != 0 || runs.said_of(i).owner != owner) is_wrong = true;
                    if (random() % 3 == 0) runs.cut(piece);
                }
                for (const Piece& piece : pieces) {
                    for (std::uint32_t i = piece.first; i < piece.first + piece.count; ++i) {
                        if (runs.said_of(i).owner != owner) is_wrong = true;
                        holders[i].fetch_sub(1);
                    }
                    runs.give_back(piece, owner);
                }
            }
        });
    }
    std::thread looker([&] {
        std::vector<std::uint32_t> last(count);
        while (!is_done) {
            for (std::uint32_t i = 0; i < count; ++i) {
                const Word said = things.runs().said_of(i);
                if (said.turn < last[i] || said.state > state_parting) is_wrong = true;
                last[i] = said.turn;
            }
        }
    });
    for (std::thread& thread : threads) thread.join();
    is_done = true;
    looker.join();
    EXPECT_FALSE(is_wrong);
    EXPECT_EQ(things.free_count(), count);
    for (std::uint32_t i = 0; i < count; ++i) {
        const Word word = things.runs().load(i);
        if (Runs::follows(word)) continue;
        EXPECT_EQ(word.owner, (Owner{0, things.runs().length(i) - 1}));
    }
    things.take(count, count);
}

}  // namespace
}  // namespace pmemcpy::buckets
