#include "tier/heat.hpp"

#include <algorithm>
#include <cmath>

namespace pmemcpy::tier {

namespace {

// Who is to leave first has the lowest.
int turn_of(Need need) {
    switch (need) {
        case Need::no_more:
            return 0;
        case Need::unknown:
            return 1;
        case Need::soon:
            return 2;
    }
    return 1;
}

}  // namespace

double faded(double reads, double age_s, double half_life_s) {
    return age_s > 0 ? reads * std::exp2(-age_s / half_life_s) : reads;
}

std::uint32_t score_of(double reads) {
    if (!(reads >= 1)) return 0;
    return std::min(most_heat, static_cast<std::uint32_t>(std::log2(1 + std::min(reads, 1e6))));
}

bool leaves_before(Policy policy, Replacement replacement, const Past& a, const Past& b) {
    if (a.need != b.need) return turn_of(a.need) < turn_of(b.need);
    if (policy == Policy::hot_data) {
        const std::uint32_t hot = score_of(a.reads);
        const std::uint32_t other = score_of(b.reads);
        if (hot != other) return hot < other;
    }
    switch (replacement) {
        case Replacement::fifo:
            break;
        case Replacement::lfu:
            if (a.reads != b.reads) return a.reads < b.reads;
            [[fallthrough]];
        case Replacement::lru:
            if (a.used_ms != b.used_ms) return a.used_ms < b.used_ms;
            break;
        case Replacement::application:
            if (a.step != b.step) return a.step < b.step;
            break;
    }
    return a.placed < b.placed;
}

}  // namespace pmemcpy::tier
