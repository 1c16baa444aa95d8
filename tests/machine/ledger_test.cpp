#include "ledger.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>

namespace machine {
namespace {

constexpr Unit value(std::uint64_t state) { return {Kind::value, 3, 1, state}; }
const Key key{Kind::value, 3};

std::size_t lost(const std::vector<Entry>& entries, std::uint64_t found, Acknowledged when) {
    return judge(entries, {{key, found}}, when).lost.size();
}

TEST(Ledger, what_returned_must_be_there_and_what_was_under_way_may) {
    const std::vector<Entry> said = {
        {Word::will, value(1)}, {Word::did, value(1)}, {Word::will, value(2)}, {Word::did, value(2)}};
    EXPECT_EQ(lost(said, 2, Acknowledged::by_return), 0U);
    EXPECT_EQ(lost(said, 1, Acknowledged::by_return), 1U);
    EXPECT_EQ(lost(said, 0, Acknowledged::by_return), 1U);
    auto under_way = said;
    under_way.push_back({Word::will, value(3)});
    EXPECT_EQ(lost(under_way, 2, Acknowledged::by_return), 0U);
    EXPECT_EQ(lost(under_way, 3, Acknowledged::by_return), 0U);
    EXPECT_EQ(lost(under_way, 4, Acknowledged::by_return), 1U);
    EXPECT_EQ(judge(said, {}, Acknowledged::by_return).acknowledged, 2U);
}

TEST(Ledger, what_was_synced_must_be_there_and_what_came_later_may) {
    const std::vector<Entry> said = {{Word::will, value(1)}, {Word::did, value(1)}, {Word::synced, {}},
                                     {Word::will, value(2)}, {Word::did, value(2)}, {Word::will, value(3)}};
    for (const std::uint64_t there : {1U, 2U, 3U}) EXPECT_EQ(lost(said, there, Acknowledged::by_sync), 0U);
    EXPECT_EQ(lost(said, 0, Acknowledged::by_sync), 1U);
    EXPECT_EQ(judge(said, {{key, 1}}, Acknowledged::by_sync).acknowledged, 1U);
}

TEST(Ledger, an_erased_value_is_absent_and_must_stay_so) {
    const std::vector<Entry> said = {
        {Word::will, value(4)}, {Word::did, value(4)}, {Word::will, value(5)}, {Word::did, value(5)}};
    EXPECT_EQ(lost(said, 0, Acknowledged::by_return), 0U);
    EXPECT_EQ(lost(said, 4, Acknowledged::by_return), 1U);
}

TEST(Ledger, what_was_found_is_what_the_next_crash_is_judged_by) {
    const std::vector<Entry> said = {{Word::will, value(1)},
                                     {Word::did, value(1)},
                                     {Word::will, value(2)},
                                     {Word::found, value(1)},
                                     {Word::synced, {}}};
    for (const auto when : {Acknowledged::by_return, Acknowledged::by_sync}) {
        EXPECT_EQ(lost(said, 1, when), 0U);
        EXPECT_EQ(lost(said, 2, when), 1U);
    }
}

TEST(Ledger, half_a_box_is_noticed_and_one_under_a_newer_box_is_none) {
    const std::vector<Entry> said = {{Word::will, {Kind::row, 0, 2, 7}}, {Word::will, {Kind::row, 1, 1, 8}}};
    const auto wrong = [&](std::uint64_t first, std::uint64_t second) {
        return judge(said, {{{Kind::row, 0}, first}, {{Kind::row, 1}, second}}, Acknowledged::by_return)
            .lost.size();
    };
    EXPECT_EQ(wrong(7, 7), 0U);
    EXPECT_EQ(wrong(7, 8), 0U);
    EXPECT_EQ(wrong(0, 8), 0U);
    EXPECT_EQ(wrong(7, 0), 1U);
    EXPECT_EQ(wrong(0, 7), 1U);
}

TEST(Ledger, a_line_that_was_cut_off_is_written_over) {
    std::string path = ::testing::TempDir() + "ledger-XXXXXX";
    ::close(::mkstemp(path.data()));
    Ledger(path).add(Word::will, value(1));
    std::ofstream(path, std::ios::app) << "did val";
    {
        Ledger ledger(path);
        ASSERT_EQ(ledger.entries().size(), 1U);
        ledger.add(Word::found, value(0));
    }
    const Ledger again(path);
    ASSERT_EQ(again.entries().size(), 2U);
    EXPECT_EQ(again.entries()[0].unit.state, 1U);
    EXPECT_EQ(again.entries()[1].word, Word::found);
    std::remove(path.c_str());
}

}  // namespace
}  // namespace machine
