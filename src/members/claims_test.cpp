#include "members/claims.hpp"

#include <set>
#include <thread>

#include <gtest/gtest.h>

namespace pmemcpy::members {
namespace {

using Runs = std::vector<Run>;

class Things {
public:
    explicit Things(std::uint32_t count)
        : hints_(bytes_of_bits(count) / 8), words_(count), claims_(bytes(hints_), bytes(words_), 8, count) {
        claims_.set_up();
    }
    Claims& claims() { return claims_; }
    std::vector<std::uint64_t>& hints() { return hints_; }
    std::uint32_t take(std::uint32_t want, Runs& runs) { return claims_.take(want, Word{1, 1, {}, 0}, runs); }
    void free(std::uint32_t i) { EXPECT_TRUE(claims_.free(i, claims_.load(i))); }

private:
    static std::byte* bytes(std::vector<std::uint64_t>& words) {
        return reinterpret_cast<std::byte*>(words.data());
    }
    std::vector<std::uint64_t> hints_, words_;
    Claims claims_;
};

TEST(claims, all_are_taken_once_and_no_more_than_there_are) {
    for (const std::uint32_t count : {1U, 63U, 64U, 65U, 200U}) {
        Things things(count);
        std::set<std::uint32_t> taken;
        while (auto one = things.claims().take_one(Word{1, 1, {}, 0})) EXPECT_TRUE(taken.insert(*one).second);
        EXPECT_EQ(taken.size(), count);
        things.free(count / 2);
        EXPECT_EQ(things.claims().take_one(Word{1, 1, {}, 0}), count / 2);
    }
}

TEST(claims, each_use_has_a_turn_of_its_own) {
    Things things(1);
    const auto word_when_taken = [&] {
        things.claims().take_one(Word{1, 1, {}, 0});
        return things.claims().load(0);
    };
    const Word first = word_when_taken();
    things.free(0);
    const Word second = word_when_taken();
    EXPECT_NE(first.turn, second.turn);
    EXPECT_FALSE(things.claims().free(0, first));
}

TEST(claims, several_lie_next_to_each_other_where_there_is_room) {
    Things things(256);
    Runs runs;
    EXPECT_EQ(things.take(32, runs), 32U);
    EXPECT_EQ(runs, (Runs{{0, 32}}));
    for (std::uint32_t i = 0; i < 32; i += 2) things.free(i);
    runs.clear();
    EXPECT_EQ(things.take(20, runs), 20U);
    EXPECT_EQ(runs, (Runs{{32, 20}}));
    runs.clear();
    EXPECT_EQ(things.take(204, runs), 204U);  // two of three words whole, and what is left between
    runs.clear();
    EXPECT_EQ(things.take(100, runs), 16U);
}

TEST(claims, pieces_will_do_where_there_is_no_row) {
    Things things(64);
    Runs runs;
    things.take(64, runs);
    for (std::uint32_t i = 0; i < 64; i += 2) things.free(i);
    runs.clear();
    EXPECT_EQ(things.take(3, runs), 3U);
    EXPECT_EQ(runs, (Runs{{0, 1}, {2, 1}, {4, 1}}));
}

// Who dies between a word and its bit leaves a bit that is wrong.
TEST(claims, bits_that_are_wrong_lose_nothing) {
    Things things(130);
    things.hints() = {0, 0, 0};
    Runs runs;
    EXPECT_EQ(things.take(70, runs), 70U);
    things.hints() = {~std::uint64_t{0}, ~std::uint64_t{0}, ~std::uint64_t{0}};
    EXPECT_EQ(things.take(70, runs), 60U);
    things.hints() = {0, 0, 0};
    EXPECT_FALSE(things.claims().take_one(Word{1, 1, {}, 0}));
}

TEST(claims, threads_never_have_the_same_one) {
    Things things(100);
    std::vector<std::atomic<int>> holders(100);
    std::atomic<bool> is_wrong{false};
    std::vector<std::thread> threads;
    for (std::uint32_t id = 0; id < 3; ++id) {
        threads.emplace_back([&, id] {
            for (std::uint32_t turn = 0; turn < 2000; ++turn) {
                Runs runs;
                things.claims().take(1 + (turn * 7 + id) % 40, Word{1, 1, {id, 0}, 0}, runs);
                for (const auto& run : runs) {
                    for (std::uint32_t i = run.first; i < run.first + run.count; ++i)
                        if (holders[i].fetch_add(1) != 0) is_wrong = true;
                }
                for (const auto& run : runs) {
                    for (std::uint32_t i = run.first; i < run.first + run.count; ++i) {
                        holders[i].fetch_sub(1);
                        if (!things.claims().free(i, things.claims().load(i))) is_wrong = true;
                    }
                }
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_FALSE(is_wrong);
    Runs runs;
    EXPECT_EQ(things.take(100, runs), 100U);
}

}  // namespace
}  // namespace pmemcpy::members
