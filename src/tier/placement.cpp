// The equations of Hermes' appendix, one function each. `s` is what is to be placed, `i` the level, the rest as in placement.hpp.

#include "tier/placement.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace pmemcpy::tier {
namespace {

// In (3) a share of a target is divided by its bandwidth, and the time that an eviction takes is added: so the unit counts, and the
// paper has megabytes.
constexpr double bytes_per_megabyte = 1e6;

constexpr double impossible = std::numeric_limits<double>::infinity();

enum class Choice : std::uint8_t {
    none,
    place,        // all of s here
    skip,         // all of s below
    split,        // what fits here, the rest below
    flush,        // make room here, then all of s here
    skip_cooler,  // HotData: below, where it counts as less hot
    split_cooler,
    hotter,  // HotData: the same question, as if it were hotter
    split_hotter,
};

// What a question of the recursion is, and its answer.
struct Entry {
    std::uint64_t s = 0;
    double cost = 0;
    std::uint8_t i = 0;
    std::uint8_t h = 0;
    Choice choice = Choice::none;  // none: this entry is not taken
};

// Answers by question. A split at each level or not gives 2^i sizes at level i; more questions than fit are answered again.
class Memo {
public:
    /// The entry of this question, or one to write its answer to.
    Entry& at(std::uint64_t s, std::uint32_t i, std::uint32_t h) {
        std::size_t place =
            (s * 0x9e3779b97f4a7c15ULL >> 40 ^ i * std::size_t{37} ^ h * std::size_t{151}) % entries_.size();
        for (int tried = 0; tried < 8; ++tried) {
            Entry& entry = entries_[place];
            if (entry.choice == Choice::none || (entry.s == s && entry.i == i && entry.h == h)) return entry;
            place = (place + 1) % entries_.size();
        }
        Entry& entry = entries_[place];
        entry.choice = Choice::none;
        return entry;
    }

private:
    std::array<Entry, 256> entries_{};
};

struct Answer {
    double cost = impossible;
    Choice choice = Choice::skip;

    void offer(double other, Choice its) {
        if (other < cost) *this = {other, its};
    }
};

class Solver {
public:
    Solver(Policy policy, Ledger ledger, const Request& request)
        : policy_(policy), ledger_(ledger), request_(request) {}

    double solve(std::uint64_t s, std::uint32_t i, std::uint32_t h) {
        if (s == 0) return 0;
        if (i == ledger_.size()) return impossible;
        if (const Entry& known = memo_.at(s, i, h); known.choice != Choice::none) return known.cost;
        const Answer answer = ask(s, i, h);
        Entry& entry = memo_.at(s, i, h);
        entry = {s, answer.cost, static_cast<std::uint8_t>(i), static_cast<std::uint8_t>(h), answer.choice};
        return answer.cost;
    }

    void write_down(std::uint64_t s, std::uint32_t i, std::uint32_t h, Plan& plan) {
        while (s != 0) {
            const std::uint64_t room = ledger_[i].remaining;
            const Choice choice = ask(s, i, h).choice;
            const auto add = [&](Plan::What what, std::uint64_t bytes) {
                plan.steps[plan.size++] = {what, static_cast<std::uint8_t>(i), bytes};
            };
            switch (choice) {
                case Choice::flush:
                    add(Plan::What::make_room, s - room);
                    [[fallthrough]];
                case Choice::place:
                    add(Plan::What::place, s);
                    return;
                case Choice::hotter:
                    ++h;
                    continue;
                case Choice::split:
                case Choice::split_cooler:
                case Choice::split_hotter:
                    add(Plan::What::place, room);
                    s -= room;
                    break;
                default:
                    break;
            }
            if (choice == Choice::skip_cooler || choice == Choice::split_cooler) h = cooler(h);
            ++i;
        }
    }

private:
    bool may_split(const Level& level) const { return request_.is_divisible && level.remaining > 0; }
    static std::uint32_t cooler(std::uint32_t h) { return h == 0 ? 0 : h - 1; }

    Answer ask(std::uint64_t s, std::uint32_t i, std::uint32_t h) {
        switch (policy_) {
            case Policy::max_bandwidth:
                return max_bandwidth(s, i);
            case Policy::max_locality:
                return max_locality(s, i);
            case Policy::hot_data:
                return hot_data(s, i, h);
            case Policy::user_defined:
                return first_with_room(s, i);
        }
        return {};
    }

    // (1)  s <= C_i:  (s / BW_i) * A_i
    //      s >  C_i:  min{ skip:  DPE(s, i+1)
    //                      split: DPE(C_i, i) + DPE(s - C_i, i+1)
    //                      flush: Move(s - C_i, i+1) + DPE(s, i), of which C_i has become s then }
    Answer max_bandwidth(std::uint64_t s, std::uint32_t i) {
        const Level& level = ledger_[i];
        const double rate = level.latency_s / level.bytes_per_second;
        if (s <= level.remaining) return {static_cast<double>(s) * rate, Choice::place};
        Answer best{solve(s, i + 1, 0), Choice::skip};
        if (may_split(level)) {
            best.offer(static_cast<double>(level.remaining) * rate + solve(s - level.remaining, i + 1, 0),
                       Choice::split);
        }
        best.offer(moving(s, i) + static_cast<double>(s) * rate, Choice::flush);
        return best;
    }

    // (2)  L_i and s <= R_i:      (s / BW_i) * d
    //      not L_i and s <= R_i:  min{ (s / BW_i) * (d + 1), DPE(s, d, i+1) }
    //      s > R_i:               min{ DPE(s, d, i+1)
    //                                  DPE(R_i, d, i) + DPE(s - R_i, d, i+1)
    //                                  ReOrganize(s - R_i) + DPE(s, d, i) }
    Answer max_locality(std::uint64_t s, std::uint32_t i) {
        const Level& level = ledger_[i];
        if (s <= level.remaining) {
            Answer here{locally(s, i), Choice::place};
            if (!level.has_unit) here.offer(solve(s, i + 1, 0), Choice::skip);
            return here;
        }
        Answer best{solve(s, i + 1, 0), Choice::skip};
        if (may_split(level))
            best.offer(locally(level.remaining, i) + solve(s - level.remaining, i + 1, 0), Choice::split);
        best.offer(moving(s, i) + locally(s, i), Choice::flush);
        return best;
    }
    double locally(std::uint64_t s, std::uint32_t i) const {
        const Level& level = ledger_[i];
        const double d = level.has_unit ? std::max(request_.dispersion, 1U) : request_.dispersion + 1;
        return static_cast<double>(s) / level.bytes_per_second * d;
    }

    // (3)  h >= H_i, s <= C_i:  (s / C_i) / BW_i
    //      h >= H_i, s >  C_i:  min{ DPE(s, h-1, i+1)
    //                                DPE(C_i, h, i) + DPE(s - C_i, h-1, i+1)
    //                                Evict(s - C_i, h, i+1) + DPE(s, h, i) }
    //      h <  H_i, s <= C_i:  min{ DPE(s, h+1, i), DPE(s, h, i+1) }
    //      h <  H_i, s >  C_i:  min{ DPE(C_i, h+1, i) + DPE(s - C_i, h, i+1), DPE(s, h, i+1) }
    // The first part of a split is what fits here, so it stays here (Algorithm 1), however hot it has to count for that.
    Answer hot_data(std::uint64_t s, std::uint32_t i, std::uint32_t h) {
        const Level& level = ledger_[i];
        const bool fits = s <= level.remaining;
        if (h >= level.heat) {
            if (fits) return {hotly(s, level.remaining, i), Choice::place};
            Answer best{solve(s, i + 1, cooler(h)), Choice::skip_cooler};
            if (may_split(level)) {
                best.offer(
                    hotly(level.remaining, level.remaining, i) + solve(s - level.remaining, i + 1, cooler(h)),
                    Choice::split_cooler);
            }
            best.offer(moving(s, i) + hotly(s, s, i), Choice::flush);
            return best;
        }
        Answer best{solve(s, i + 1, h), Choice::skip};
        if (fits) {
            best.offer(solve(s, i, h + 1), Choice::hotter);
        } else if (may_split(level)) {
            best.offer(hotly(level.remaining, level.remaining, i) + solve(s - level.remaining, i + 1, h),
                       Choice::split_hotter);
        }
        return best;
    }
    double hotly(std::uint64_t s, std::uint64_t room, std::uint32_t i) const {
        return static_cast<double>(s) / static_cast<double>(room) /
               (ledger_[i].bytes_per_second / bytes_per_megabyte);
    }

    Answer first_with_room(std::uint64_t s, std::uint32_t i) {
        if (s <= ledger_[i].remaining) return {0, Choice::place};
        return {solve(s, i + 1, 0), Choice::skip};
    }

    // For s to fit into level i.
    double moving(std::uint64_t s, std::uint32_t i) const {
        const Level& level = ledger_[i];
        if (s > level.capacity || s - level.remaining > level.movable) return impossible;
        return cost_of_moving(policy_, ledger_, i + 1, s - level.remaining);
    }

    Policy policy_;
    Ledger ledger_;
    Request request_;
    Memo memo_;
};

}  // namespace

bool Plan::is_possible() const { return cost < impossible; }

double cost_of_moving(Policy policy, Ledger ledger, std::size_t level, std::uint64_t bytes) {
    double cost = 0;
    for (; bytes > 0; ++level) {
        if (level == ledger.size() || bytes > ledger[level].capacity) return impossible;
        const Level& to = ledger[level];
        const double seconds = static_cast<double>(bytes) / to.bytes_per_second;
        cost += policy == Policy::max_bandwidth ? seconds * to.latency_s : seconds;
        const std::uint64_t more = bytes > to.remaining ? bytes - to.remaining : 0;
        if (more > to.movable) return impossible;
        bytes = more;
    }
    return cost;
}

Plan decide(Policy policy, Ledger ledger, const Request& request, std::uint64_t granularity) {
    std::array<Level, most_targets> pieces;
    const std::size_t levels = std::min(ledger.size(), most_targets);
    for (std::size_t i = 0; i < levels; ++i) {
        pieces[i] = ledger[i];
        std::uint64_t& room = pieces[i].remaining;
        if (room < request.bytes) room -= room % granularity;
    }
    Solver solver(policy, {pieces.data(), levels}, request);
    Plan plan;
    plan.cost = solver.solve(request.bytes, 0, std::min(request.heat, most_heat));
    if (plan.is_possible()) solver.write_down(request.bytes, 0, std::min(request.heat, most_heat), plan);
    return plan;
}

}  // namespace pmemcpy::tier
