#include "tier/advice.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace pmemcpy::tier {
namespace {

// A run of which there is nothing to be said.
PoolCounters good() {
    PoolCounters c;
    c.loads = c.hits = 1000;
    c.targets = {{.target = "pool", .stored_bytes = 1000}, {.target = "pfs"}};
    return c;
}

Hierarchy hierarchy() {
    Hierarchy h;
    h.targets = {{.name = "pool"}, {.name = "pfs", .path = "/pfs"}};
    return h;
}

std::string text(const Advice& advice) {
    std::string all;
    for (const Proposal& p : advice.proposals)
        all += p.key + " " + p.now + " " + p.proposed + ": " + p.reason + "\n";
    for (const std::string& what : advice.unknown) all += "unknown " + what + "\n";
    return all;
}

TEST(advice, none_for_a_run_that_went_well) { EXPECT_EQ(text(advise(hierarchy(), good(), {})), ""); }

TEST(advice, says_when_it_cannot_know) {
    EXPECT_NE(text(advise(hierarchy(), std::nullopt, {})).find("unknown anything: nothing was counted"),
              std::string::npos);
    PoolCounters few = good();
    few.hits = 3;
    few.misses = 16;
    Hierarchy h = hierarchy();
    h.promotion = Promotion::never;
    const Advice advice = advise(h, few, {});
    EXPECT_TRUE(advice.proposals.empty()) << "19 of 20 may be chance";
    EXPECT_NE(text(advice).find("19 blocks were read"), std::string::npos) << text(advice);
}

TEST(advice, of_promotion) {
    Hierarchy h = hierarchy();
    h.promotion = Promotion::never;
    PoolCounters c = good();
    c.hits = 75;
    c.misses = 25;
    Advice advice = advise(h, c, {});
    ASSERT_EQ(advice.proposals.size(), 1U);
    EXPECT_EQ(advice.proposals[0].proposed, "read-ahead");
    EXPECT_NE(advice.proposals[0].reason.find("25 of 100 blocks"), std::string::npos);
    EXPECT_NE(advice.proposals[0].reason.find("25 %"), std::string::npos);
    EXPECT_EQ(advice.hierarchy.promotion, Promotion::read_ahead);
    c.read_ahead = 40;
    c.ahead_wasted = 21;
    h.promotion = Promotion::read_ahead;
    advice = advise(h, c, {});
    EXPECT_EQ(advice.hierarchy.promotion, Promotion::on_read) << text(advice);
    c.ahead_wasted = 20;
    EXPECT_EQ(text(advise(h, c, {})), "");
    h.promotion = Promotion::on_read;
    c.misses = 80;
    EXPECT_NE(text(advise(h, c, {})).find("whether read-ahead would do better"), std::string::npos);
}

TEST(advice, of_replacement) {
    Hierarchy h = hierarchy();
    PoolCounters c = good();
    c.misses = c.returned = 30;
    c.targets[0].blocks_out = 100;
    EXPECT_EQ(advise(h, c, {}).hierarchy.replacement, Replacement::lru);
    h.replacement = Replacement::lru;
    EXPECT_EQ(advise(h, c, {}).hierarchy.replacement, Replacement::lfu);
    h.replacement = Replacement::lfu;
    EXPECT_NE(text(advise(h, c, {})).find("the pool may be too small"), std::string::npos);
    c.returned = 19;
    EXPECT_EQ(text(advise(h, c, {})), "");
}

TEST(advice, of_policy) {
    Hierarchy h = hierarchy();
    PoolCounters c = good();
    const std::vector<VariableHeat> heat = {{"hot", 9, 3, 10, 1000, 500}, {"cold", 0, 0, 10, 1000, 0}};
    Advice advice = advise(h, c, heat);
    EXPECT_EQ(advice.hierarchy.policy, Policy::hot_data);
    EXPECT_NE(text(advice).find("'hot' (score 3) is read often and 50 % of it lies below"), std::string::npos)
        << text(advice);
    EXPECT_EQ(text(advise(h, c, {heat[0]})), "") << "nothing colder is in the way";
    c.loads_spread = 600;
    advice = advise(h, c, {});
    EXPECT_EQ(advice.hierarchy.policy, Policy::max_locality);
    h.policy = Policy::hot_data;
    EXPECT_EQ(text(advise(h, c, heat)), "");
    EXPECT_EQ(advise(h, c, {heat[1]}).hierarchy.policy, Policy::max_bandwidth);
    h.policy = Policy::user_defined;
    EXPECT_EQ(text(advise(h, c, heat)), "") << "the user knows what he does";
}

TEST(advice, of_stores_that_wait_and_of_what_is_flushed_in_vain) {
    Hierarchy h = hierarchy();
    h.mode = Buffering::none;
    PoolCounters c = good();
    c.waits = 50;
    c.waited_s = 12.34;
    Advice advice = advise(h, c, {});
    EXPECT_EQ(advice.hierarchy.mode, Buffering::write_back);
    EXPECT_NE(text(advice).find("50 stores waited for room, 12.3 s"), std::string::npos) << text(advice);
    h.mode = Buffering::write_back;
    advice = advise(h, c, {});
    EXPECT_DOUBLE_EQ(advice.hierarchy.watermarks.low, 0.5);
    EXPECT_NE(text(advice).find("watermarks {high: 0.9, low: 0.75} {high: 0.7, low: 0.5}"), std::string::npos)
        << text(advice);
    c.waits = 0;
    c.flushed_bytes = 4000;
    EXPECT_NE(text(advise(h, c, {{"u", 0, 0, 1, 1000, 0}})).find("whether all has to survive"),
              std::string::npos);
    EXPECT_EQ(text(advise(h, c, {{"u", 0, 0, 1, 3000, 0}})), "");
}

}  // namespace
}  // namespace pmemcpy::tier
