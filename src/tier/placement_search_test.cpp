// Each policy beside a search that shares nothing with it but the statement of its equation. Small requests are put into small
// targets in every way that there is: so many pieces into each of them, with or without room made in the last one used.
// Each way is then walked through, from the fastest target down: a rule that it breaks makes it no way at all, and else the
// walk adds up what it costs. There is no recursion, and nothing is decided on the way.

#include "tier/placement.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <optional>
#include <random>
#include <vector>

namespace pmemcpy::tier {
namespace {

constexpr double megabyte = 1e6;
constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr std::uint64_t piece = 250'000;  // bytes: an eviction is cheap for one, and dear for ten

/// How a request might lie: pieces in each target. Where `evicts`, more than the last one used has room for.
struct Way {
    std::vector<std::uint64_t> pieces;
    bool evicts = false;

    std::size_t last() const {
        std::size_t last = 0;
        for (std::size_t i = 0; i < pieces.size(); ++i) last = pieces[i] > 0 ? i : last;
        return last;
    }
};

/// All ways to write `wanted` as a sum, one number for each of `targets`; each of them with and without an eviction.
std::vector<Way> all_ways(std::size_t targets, std::uint64_t wanted) {
    std::vector<Way> ways;
    std::vector<std::uint64_t> counter(targets, 0);
    for (bool is_over = false; !is_over;) {
        if (std::accumulate(counter.begin(), counter.end(), std::uint64_t{0}) == wanted) {
            ways.push_back({counter, false});
            ways.push_back({counter, true});
        }
        std::size_t digit = 0;
        while (digit < targets && counter[digit] == wanted) counter[digit++] = 0;
        is_over = digit == targets;
        if (!is_over) ++counter[digit];
    }
    return ways;
}

/// Moves bytes out of a target, from one to the next until they have room, and says how long that takes the targets that
/// take them, each at its bandwidth; for MaxBW times its latency, which weighs all that it does. Nothing where they find no room.
std::optional<double> evict(Policy policy, const std::vector<Level>& ledger, std::size_t from,
                            std::uint64_t bytes) {
    double cost = 0;
    for (std::size_t to = from + 1; bytes > 0; ++to) {
        const bool can_leave = bytes <= ledger[to - 1].movable;
        if (!can_leave || to == ledger.size() || bytes > ledger[to].capacity) return {};
        const double seconds = static_cast<double>(bytes) / ledger[to].bytes_per_second;
        cost += policy == Policy::max_bandwidth ? seconds * ledger[to].latency_s : seconds;
        bytes -= std::min(bytes, ledger[to].remaining);
    }
    return cost;
}

/// What the bytes cost in a target, as the equations have it: (1) s / BW * A; (2) s / BW * d, where the variable would lie in d
/// targets then; (3) the share of the room that they take, for each megabyte a second.
double cost_in(Policy policy, const Request& request, const Level& level, std::uint64_t bytes,
               std::uint64_t room) {
    const auto s = static_cast<double>(bytes);
    if (policy == Policy::max_bandwidth) return s / level.bytes_per_second * level.latency_s;
    if (policy == Policy::max_locality)
        return s / level.bytes_per_second * (level.has_unit ? request.dispersion : request.dispersion + 1.0);
    return s / static_cast<double>(room) / (level.bytes_per_second / megabyte);
}

/// What a way costs; infinite where it breaks a rule of the policy.
double cost_of(Policy policy, const std::vector<Level>& ledger, const Request& request, const Way& way) {
    double cost = 0;
    std::uint64_t left = request.bytes;  // what has come down to a target
    std::uint32_t heat = request.heat;
    for (std::size_t i = 0; left > 0; ++i) {
        const Level& here = ledger[i];
        const std::uint64_t put = way.pieces[i] * piece;
        const bool fits = left <= here.remaining;
        const bool is_cold = policy == Policy::hot_data && heat < here.heat;
        if (fits) {
            // It stays where it fits, but for two reasons to go on: its variable lies elsewhere, or hotter data lies here.
            const bool may_go_on = is_cold || (policy == Policy::max_locality && !here.has_unit);
            if (put != left && (put != 0 || !may_go_on)) return infinite;
        } else if (put == left) {
            // Room is made only in the last, which has to be large enough, and not for what is cooler than what lies there.
            if (!way.evicts || is_cold || left > here.capacity) return infinite;
            const auto moving = evict(policy, ledger, i, left - here.remaining);
            if (!moving) return infinite;
            return cost + *moving + cost_in(policy, request, here, put, put);
        } else if (put != 0) {
            // A part: of what does not divide there is none. MaxBW may take any, and none is better than all that fits.
            const bool is_all_that_fits = put == here.remaining;
            const bool may_be = policy == Policy::max_bandwidth ? put <= here.remaining : is_all_that_fits;
            if (!request.is_divisible || !may_be) return infinite;
        }
        if (put != 0) cost += cost_in(policy, request, here, put, here.remaining);
        left -= put;
        // What is passed down counts as cooler, unless it was too cool here.
        if (!is_cold && heat > 0 && left > 0) --heat;
    }
    return way.evicts ? infinite : cost;  // there was nothing to evict for
}

std::vector<Level> random_ledger(std::mt19937_64& random, Request& request) {
    const auto up_to = [&](std::uint64_t most) { return random() % (most + 1); };
    std::vector<Level> ledger(1 + up_to(4));
    double bandwidth = 1000;
    double latency = 1;
    for (Level& l : ledger) {
        const std::uint64_t capacity = up_to(7);
        const std::uint64_t remaining = up_to(capacity);
        l = {bandwidth, latency, capacity * piece, remaining * piece, 0, 0, false};
        l.movable = up_to(capacity - remaining) * piece;
        l.heat = static_cast<std::uint32_t>(up_to(4));
        l.has_unit = up_to(1) == 1 && capacity > remaining;
        request.dispersion += l.has_unit ? 1 : 0;
        bandwidth /= 1 + static_cast<double>(up_to(40)) / 8;
        latency *= 1 + static_cast<double>(up_to(40)) / 8;
    }
    request.bytes = (1 + up_to(6)) * piece;
    request.heat = static_cast<std::uint32_t>(up_to(4));
    request.is_divisible = up_to(1) == 1;
    return ledger;
}

/// Does what a plan says, and tells which way it is.
Way carried_out(const Plan& plan, std::size_t targets) {
    Way way{std::vector<std::uint64_t>(targets), false};
    for (const Plan::Step& step : plan.list()) {
        if (step.what == Plan::What::place) way.pieces[step.level] += step.bytes / piece;
        if (step.what == Plan::What::make_room) way.evicts = true;
    }
    return way;
}

TEST(placement, each_policy_costs_what_a_search_of_all_placements_finds_and_its_plan_can_be_carried_out) {
    std::mt19937_64 random(20261124);
    int possible = 0, split = 0, evicted = 0;
    for (int round = 0; round < 20000; ++round) {
        Request request;
        const std::vector<Level> ledger = random_ledger(random, request);
        const std::vector<Way> ways = all_ways(ledger.size(), request.bytes / piece);
        for (const Policy policy : {Policy::max_bandwidth, Policy::max_locality, Policy::hot_data}) {
            double least = infinite;
            for (const Way& way : ways) least = std::min(least, cost_of(policy, ledger, request, way));
            const Plan plan = decide(policy, ledger, request);
            ASSERT_EQ(plan.is_possible(), least < infinite) << name_of(policy) << " round " << round;
            if (!plan.is_possible()) continue;
            ASSERT_NEAR(plan.cost, least, 1e-9 * least) << name_of(policy) << " round " << round;
            const Way chosen = carried_out(plan, ledger.size());
            ASSERT_NEAR(cost_of(policy, ledger, request, chosen), least, 1e-9 * least)
                << name_of(policy) << " round " << round << ": the plan is another one than it costs";
            ++possible;
            evicted += chosen.evicts ? 1 : 0;
            split += std::count(chosen.pieces.begin(), chosen.pieces.end(), 0U) + 1 <
                             static_cast<std::ptrdiff_t>(ledger.size())
                         ? 1
                         : 0;
        }
    }
    EXPECT_GT(possible, 25000);
    EXPECT_GT(split, 2000);
    EXPECT_GT(evicted, 2000);
}

// Worked by hand. Three targets of 100, 50 and 10 bytes a second, with latencies of 1, 2 and 4 s, and room for 4, 3 and 20 bytes.
std::vector<Level> three() {
    return {{100, 1, 10, 4, 6, 0, false}, {50, 2, 10, 3, 7, 0, false}, {10, 4, 100, 20, 80, 0, false}};
}

std::vector<std::array<std::uint64_t, 2>> steps_of(const Plan& plan) {
    std::vector<std::array<std::uint64_t, 2>> steps;  // level and bytes; a level + 10 makes room
    for (const Plan::Step& step : plan.list())
        steps.push_back({step.level + (step.what == Plan::What::make_room ? 10U : 0U), step.bytes});
    return steps;
}
using Steps = std::vector<std::array<std::uint64_t, 2>>;

// (1) of 6 bytes: a byte costs 1/100 = 0.01, 2/50 = 0.04, 4/10 = 0.4.
//     evict from the first: 2 leave it for the second, which has room for 3: 2 * 0.04 + 6 * 0.01           = 0.14
//     split 4, 2:           4 * 0.01 + 2 * 0.04                                                            = 0.12  the least
//     skip, evict there:    3 leave the second for the third: 3 * 0.4 + 6 * 0.04                           = 1.44
//     skip, split 3, 3:     3 * 0.04 + 3 * 0.4 = 1.32; skip both: 6 * 0.4 = 2.4; split 4, then skip: 0.04 + 2 * 0.4 = 0.84
TEST(placement, max_bandwidth_of_three_targets_as_worked_by_hand) {
    Plan plan = decide(Policy::max_bandwidth, three(), {6});
    EXPECT_NEAR(plan.cost, 0.12, 1e-12);
    EXPECT_EQ(steps_of(plan), (Steps{{0, 4}, {1, 2}}));
    // A block: 0.14 is the least of what does not split.
    plan = decide(Policy::max_bandwidth, three(), {.bytes = 6, .is_divisible = false});
    EXPECT_NEAR(plan.cost, 0.14, 1e-12);
    EXPECT_EQ(steps_of(plan), (Steps{{10, 2}, {0, 6}}));
    // Of 9: 5 leave the first, of which 2 have to leave the second for the third: 5 * 0.04 + 2 * 0.4 + 9 * 0.01 = 1.09;
    // into the second, 6 leave it: 6 * 0.4 + 9 * 0.04 = 2.76; into the third: 9 * 0.4 = 3.6.
    plan = decide(Policy::max_bandwidth, three(), {.bytes = 9, .is_divisible = false});
    EXPECT_NEAR(plan.cost, 1.09, 1e-12);
    EXPECT_EQ(steps_of(plan), (Steps{{10, 5}, {0, 9}}));
}

// (2) of 3 bytes of a variable that lies in the second and the third, d = 2. It fits into each of them:
//     the first, where nothing of it lies: 3/100 * 3 = 0.09   the least
//     the second:                          3/50 * 2  = 0.12
// Of one that lies in the second alone, d = 1: 3/100 * 2 = 0.06 and 3/50 * 1 = 0.06; with 2 bytes a second more there, 3/52 = 0.0577.
TEST(placement, max_locality_of_three_targets_as_worked_by_hand) {
    std::vector<Level> ledger = three();
    ledger[1].has_unit = ledger[2].has_unit = true;
    Plan plan = decide(Policy::max_locality, ledger, {.bytes = 3, .dispersion = 2});
    EXPECT_NEAR(plan.cost, 0.09, 1e-12);
    EXPECT_EQ(steps_of(plan), (Steps{{0, 3}}));
    ledger[2].has_unit = false;
    ledger[1].bytes_per_second = 52;
    plan = decide(Policy::max_locality, ledger, {.bytes = 3, .dispersion = 1});
    EXPECT_NEAR(plan.cost, 3.0 / 52, 1e-12);
    EXPECT_EQ(steps_of(plan), (Steps{{1, 3}}));
    // A block of 5 fits into none but the third: there 5/10 * 2 = 1. Room in the first: 1/52 + 5/100 * 2 = 0.1192; in the second
    // 2/10 + 5/52 * 1 = 0.2962.
    plan = decide(Policy::max_locality, ledger, {.bytes = 5, .dispersion = 1, .is_divisible = false});
    EXPECT_NEAR(plan.cost, 1.0 / 52 + 0.1, 1e-12);
    EXPECT_EQ(steps_of(plan), (Steps{{10, 1}, {0, 5}}));
}

// (3) in megabytes: three targets of 100, 50 and 10 MB/s with room for 4, 3 and 20 MB; what lies there is at least 3, 1 and 0 hot.
//     6 MB as hot as 3, not divisible: it is hot enough for the first and does not fit.
//       evict: 2 MB leave for the second, 2/50 = 0.04, and then all of its 6 MB of room: (6/6) / 100 = 0.01      = 0.05
//       below, as hot as 2: evict there, 3 MB to the third, 3/10 = 0.3, (6/6) / 50 = 0.02                        = 0.32
//       below both: (6/20) / 10                                                                                  = 0.03  the least
//     4 MB as hot as 2: too cool for the first, where it fits. There: (4/4) / 100 = 0.01; below, still as hot as 2, it does not fit:
//       evict 1/10 + 1/50 = 0.12; below that (4/20) / 10 = 0.02. So it stays where it is too cool.
TEST(placement, hot_data_of_three_targets_as_worked_by_hand) {
    std::vector<Level> ledger = three();
    constexpr std::uint64_t mb = 1'000'000;
    for (Level& l : ledger) {
        l.bytes_per_second *= mb;
        for (std::uint64_t* bytes : {&l.capacity, &l.remaining, &l.movable}) *bytes *= mb;
    }
    ledger[0].heat = 3;
    ledger[1].heat = 1;
    Plan plan = decide(Policy::hot_data, ledger, {.bytes = 6 * mb, .heat = 3, .is_divisible = false});
    EXPECT_NEAR(plan.cost, 0.03, 1e-12);
    EXPECT_EQ(steps_of(plan), (Steps{{2, 6 * mb}}));
    plan = decide(Policy::hot_data, ledger, {.bytes = 4 * mb, .heat = 2, .is_divisible = false});
    EXPECT_NEAR(plan.cost, 0.01, 1e-12);
    EXPECT_EQ(steps_of(plan), (Steps{{0, 4 * mb}}));
}

}  // namespace
}  // namespace pmemcpy::tier
