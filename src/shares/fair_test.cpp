#include "shares/fair.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <vector>

namespace pmemcpy::shares {
namespace {

constexpr Party here(std::uint64_t used, std::uint64_t weight = 1, bool needs = false) {
    return {.weight = weight, .used_bytes = used, .is_here = true, .needs = needs};
}
constexpr Party gone(std::uint64_t used) { return {.weight = 1, .used_bytes = used}; }
Standing of(const std::vector<Party>& all, std::size_t mine, std::uint64_t total = 100, bool stays = false) {
    return standing_of(all, mine, total, stays);
}

TEST(fair, who_is_alone_may_have_all) {
    EXPECT_EQ(of({here(30)}, 0).room_bytes, 70U);
    EXPECT_EQ(of({here(30), gone(20)}, 0).room_bytes, 50U);
    EXPECT_EQ(of({here(30), gone(20)}, 0).part_bytes, 80U);
}

TEST(fair, parts_are_in_proportion_to_the_weights) {
    const std::vector<Party> all = {here(0, 1), here(0, 3), gone(20)};
    EXPECT_EQ(of(all, 0).part_bytes, 20U);
    EXPECT_EQ(of(all, 1).part_bytes, 60U);
}

TEST(fair, what_nobody_needs_anybody_may_take) { EXPECT_EQ(of({here(50), here(10)}, 0).room_bytes, 40U); }

TEST(fair, who_needs_room_has_its_whole_part_kept) {
    EXPECT_EQ(of({here(50), here(10, 1, true)}, 0).room_bytes, 0U);
    EXPECT_EQ(of({here(45), here(10, 1, true)}, 0).room_bytes, 5U);
    EXPECT_EQ(of({here(50), here(10, 1, true)}, 1).room_bytes, 40U);
    // Of what it leaves of its part nothing is kept when it has left.
    EXPECT_EQ(of({here(50), gone(10)}, 0).room_bytes, 40U);
}

TEST(fair, who_has_more_than_its_part_gives_back_what_others_need_and_not_more) {
    EXPECT_EQ(of({here(100), here(0, 1, true)}, 0).excess_bytes, 50U);
    EXPECT_EQ(of({here(60), here(30, 1, true)}, 0).excess_bytes, 10U);
    EXPECT_EQ(of({here(60), here(10, 1, true)}, 0).excess_bytes, 10U);
    EXPECT_EQ(of({here(100), here(0)}, 0).excess_bytes, 0U);
    EXPECT_EQ(of({here(50), here(50, 1, true)}, 0).excess_bytes, 0U);
}

TEST(fair, where_nothing_can_give_way_all_who_are_here_have_their_part_kept) {
    EXPECT_EQ(of({here(50), here(10)}, 0, 100, true).room_bytes, 0U);
    EXPECT_EQ(of({here(40), here(10)}, 0, 100, true).room_bytes, 10U);
    EXPECT_EQ(of({here(50), gone(10)}, 0, 100, true).room_bytes, 40U);
}

TEST(fair, numbers_that_make_no_sense_make_no_more_room_than_there_is) {
    constexpr std::uint64_t huge = ~std::uint64_t{0};
    for (const Party& odd : {here(huge, 0, true), here(0, huge, true), here(huge, huge, true), gone(huge)}) {
        const Standing standing = of({here(10), odd, odd}, 0);
        EXPECT_LE(standing.room_bytes, 90U);
        EXPECT_LE(standing.part_bytes, 100U);
        EXPECT_LE(standing.excess_bytes, 10U);
    }
}

// Random demands, each takes what it may: whoever wants its part gets it as soon as those who exceed theirs have given back what they are to.
TEST(fair, after_giving_back_everybody_can_have_what_it_lacks_of_its_part) {
    std::mt19937 random(7);
    for (int round = 0; round < 2000; ++round) {
        const std::size_t n = 1 + random() % 6;
        std::vector<Party> all;
        std::uint64_t left = 10'000;
        for (std::size_t i = 0; i < n; ++i) {
            const std::uint64_t used = random() % (left + 1);
            left -= used;
            all.push_back(random() % 4 == 0 ? gone(used) : here(used, 1 + random() % 5, random() % 2 == 0));
        }
        std::uint64_t needed = 0;
        for (std::size_t i = 0; i < n; ++i) {
            if (!all[i].is_here) continue;
            const Standing standing = of(all, i, 10'000);
            EXPECT_LE(standing.room_bytes, left);
            if (all[i].needs && all[i].used_bytes < standing.part_bytes)
                needed += standing.part_bytes - all[i].used_bytes;
        }
        std::uint64_t given = 0;
        for (std::size_t i = 0; i < n; ++i) {
            if (all[i].is_here) given += of(all, i, 10'000).excess_bytes;
        }
        EXPECT_GE(left + given + n, needed) << "round " << round;  // but for what is lost by rounding
    }
}

}  // namespace
}  // namespace pmemcpy::shares
