// Pools that share a directory by its ledger, one of them killed or stopped at any instruction that makes a difference to others.

#include "shares/share.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "stepping.hpp"
#include "tests/folder.hpp"

namespace pmemcpy::crash {
namespace {

namespace fs = std::filesystem;
using shares::Share;
using shares::View;

constexpr std::uint64_t together = 1000;
constexpr std::uint64_t used_by_other = 300;

class LedgerSweep : public ::testing::Test {
protected:
    struct Position {
        std::uint64_t place;
        std::uint64_t occurrence;
    };

    std::unique_ptr<Share> open(std::uint8_t pool) const {
        return Share::open(folder_.path(), {pool}, {.together_bytes = together});
    }
    std::string ledger() const {
        for (const auto& entry : fs::directory_iterator(folder_.path())) {
            if (entry.is_regular_file()) return entry.path();
        }
        return {};
    }
    std::string bytes() const {
        std::ifstream file(ledger(), std::ios::binary);
        return {std::istreambuf_iterator<char>(file), {}};
    }
    // Comes, takes room, wants more, writes, and gives some of it back.
    std::unique_ptr<SteppedChild> start() const {
        return std::make_unique<SteppedChild>([] {},
                                              [this] {
                                                  const auto its = open(2);
                                                  its->publish([] { return used_by_other + 50; });
                                                  its->want(used_by_other, 100);
                                                  {
                                                      const Share::Turn turn(its.get(), 1);
                                                      turn.wrote(1 << 20, [] { return false; });
                                                  }
                                                  its->publish([] { return used_by_other; });
                                              });
    }
    std::vector<Position> find_positions() const {
        const auto child = start();
        std::vector<Position> positions;
        std::unordered_map<std::uint64_t, std::uint64_t> occurrences;
        std::string seen = bytes();
        do {
            const Position here{child->place(), ++occurrences[child->place()]};
            std::string now = bytes();
            if (now != seen || child->is_at_atomic_or_fence()) positions.push_back(here);
            seen = std::move(now);
        } while (child->step());
        return positions;
    }
    // What the survivor does goes on at once, whatever the other has just begun.
    static void live(const Share& mine) {
        mine.publish([] { return std::uint64_t{200}; });
        const auto standing = mine.standing(200);
        ASSERT_TRUE(standing);
        EXPECT_LE(standing->room_bytes, together - 200);
        EXPECT_GE(standing->room_bytes, together / 2 - 200);
        const Share::Turn turn(&mine, 1);
        turn.wrote(100 << 20, [] { return false; });
        mine.publish([] { return std::uint64_t{100}; });
    }
    void expect_that_it_is_dead(const Share& mine) const {
        const View view = Share::look(folder_.path(), {1}, {});
        ASSERT_LE(view.others.size(), 1u);
        const std::uint64_t left = view.others.empty() ? 0 : view.others[0].used_bytes;
        EXPECT_TRUE(view.others.empty() || !view.others[0].is_open);
        EXPECT_TRUE(left == 0 || left == used_by_other || left == used_by_other + 50) << left;
        EXPECT_EQ(view.part_bytes, together - left);
        const Share::Turn turn(&mine, 1);
        turn.wrote(std::uint64_t{1} << 40, [] {
            ADD_FAILURE() << "waits for the dead";
            return false;
        });
    }
    void expect_that_it_comes_back() const {
        const auto again = open(2);
        ASSERT_NE(again, nullptr);
        again->publish([] { return used_by_other; });
        const View view = Share::look(folder_.path(), {1}, {});
        ASSERT_EQ(view.others.size(), 1u);
        EXPECT_EQ(view.others[0].used_bytes, used_by_other);
        EXPECT_TRUE(view.others[0].is_open);
        EXPECT_EQ(view.part_bytes, together / 2);
    }

    Folder folder_;
};

TEST_F(LedgerSweep, the_dead_are_not_considered_and_the_stopped_keep_nobody) {
    // Of which something is left: else its slot is nobody's when it comes back.
    fs::create_directory(folder_.path() / "pmemcpy-02000000000000000000000000000000");
    auto mine = open(1);
    ASSERT_NE(mine, nullptr);
    const std::string original = bytes();
    const std::vector<Position> positions = find_positions();
    for (const Position& position : positions) {
        for (const bool is_killed : {true, false}) {
            SCOPED_TRACE(name_of_place(position.place) + ", time " + std::to_string(position.occurrence) +
                         (is_killed ? ", killed" : ", stopped"));
            mine.reset();
            std::ofstream(ledger(), std::ios::binary) << original;
            mine = open(1);
            mine->publish([] { return std::uint64_t{100}; });
            {
                const auto child = start();
                if (!child->run_to(position.place, position.occurrence)) continue;
                if (!is_killed) {
                    live(*mine);
                    while (child->step()) {
                    }
                }
                child->kill();
            }
            expect_that_it_is_dead(*mine);
            expect_that_it_comes_back();
            if (HasFailure()) return;
        }
    }
    EXPECT_GT(positions.size(), 20u);
    std::printf("killed and stopped at %zu places\n", positions.size());
}

}  // namespace
}  // namespace pmemcpy::crash
