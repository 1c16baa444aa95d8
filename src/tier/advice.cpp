#include "tier/advice.hpp"

#include "tier/units.hpp"

#include <algorithm>
#include <cmath>
#include <string>

namespace pmemcpy::tier {

namespace {

constexpr std::uint64_t enough = 20;      // blocks, loads or stores: fewer may be chance
constexpr std::uint32_t much_hotter = 2;  // scores: at least three times as often

std::string number(std::uint64_t n) { return std::to_string(n); }

std::string percent(std::uint64_t part, std::uint64_t whole) {
    return whole == 0 ? "0 %" : std::to_string((100 * part + whole / 2) / whole) + " %";
}

std::string seconds(double s) {
    const auto tenths = static_cast<std::uint64_t>(std::lround(s * 10));
    return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " s";
}

std::string quoted(const VariableHeat& each) {
    return "'" + each.id + "' (score " + number(each.score) + ")";
}

class Adviser {
public:
    Adviser(const Hierarchy& hierarchy, const PoolCounters& counters, const std::vector<VariableHeat>& heat)
        : c_(counters), heat_(heat), was_(hierarchy) {
        advice_.hierarchy = hierarchy;
    }

    Advice advice() {
        place();
        reads();
        leave();
        wait();
        flush();
        return std::move(advice_);
    }

private:
    std::uint64_t all_reads() const { return c_.hits + c_.misses; }

    void propose(const std::string& key, const std::string& now, const std::string& proposed,
                 const std::string& reason) {
        advice_.proposals.push_back({key, now, proposed, reason});
    }
    void propose(Policy policy, const std::string& reason) {
        propose("policy", name_of(was_.policy), name_of(policy), reason);
        advice_.hierarchy.policy = policy;
    }
    void propose(Promotion promotion, const std::string& reason) {
        propose("promotion", name_of(was_.promotion), name_of(promotion), reason);
        advice_.hierarchy.promotion = promotion;
    }

    // Where new blocks go.
    void place() {
        if (was_.policy == Policy::hot_data) {
            const bool has_heat = std::any_of(heat_.begin(), heat_.end(),
                                              [](const VariableHeat& each) { return each.score > 0; });
            if (!has_heat && stored() > 0)
                propose(Policy::max_bandwidth, "nothing is hot (" + number(all_reads()) +
                                                   " blocks were read), so hot-data has nothing to go by");
            return;
        }
        if (all_reads() < enough || was_.policy == Policy::user_defined) return;
        const VariableHeat* hot = nullptr;
        const VariableHeat* cold = nullptr;
        for (const VariableHeat& each : heat_) {
            if (each.score >= much_hotter && each.bytes_below * 4 >= each.bytes &&
                (hot == nullptr || each.score > hot->score))
                hot = &each;
            if (each.bytes_below < each.bytes && (cold == nullptr || each.score < cold->score)) cold = &each;
        }
        if (hot != nullptr && cold != nullptr && hot->score >= cold->score + much_hotter) {
            return propose(Policy::hot_data,
                           quoted(*hot) + " is read often and " + percent(hot->bytes_below, hot->bytes) +
                               " of it lies below the pool, in which " + quoted(*cold) + " lies");
        }
        if (was_.policy == Policy::max_bandwidth && c_.loads >= enough && c_.loads_spread * 2 >= c_.loads) {
            propose(Policy::max_locality,
                    number(c_.loads_spread) + " of " + number(c_.loads) +
                        " loads needed blocks of several targets and went as fast as the slowest of these");
        }
    }

    // What comes up.
    void reads() {
        if (all_reads() < enough) {
            advice_.unknown.push_back(
                "what should come up and what should leave first: " + number(all_reads()) +
                " blocks were read by processes that have the pool open for writing, and others are not "
                "counted");
            return;
        }
        if (was_.promotion == Promotion::never && c_.misses * 10 >= all_reads()) {
            propose(Promotion::read_ahead, number(c_.misses) + " of " + number(all_reads()) +
                                               " blocks that were read lay below the pool (" +
                                               percent(c_.misses, all_reads()) + "), and nothing comes up");
        }
        if (was_.promotion == Promotion::read_ahead && c_.read_ahead >= enough &&
            c_.ahead_wasted * 2 > c_.read_ahead) {
            propose(Promotion::on_read, number(c_.ahead_wasted) + " of " + number(c_.read_ahead) +
                                            " blocks that were brought up ahead of time left unread (" +
                                            percent(c_.ahead_wasted, c_.read_ahead) + ")");
        }
        if (was_.promotion == Promotion::on_read && c_.misses * 2 >= all_reads()) {
            advice_.unknown.push_back(
                "whether read-ahead would do better: " + percent(c_.misses, all_reads()) +
                " of the reads were below the pool, but in which order only a run with it would tell");
        }
    }

    // What leaves first.
    void leave() {
        const std::uint64_t left = c_.targets.empty() ? 0 : c_.targets.front().blocks_out;
        if (left < enough || all_reads() < enough || c_.returned * 5 < left) return;
        const std::string reason = number(c_.returned) +
                                   " reads were of blocks that had lain in the pool, of which " +
                                   number(left) + " blocks were moved down";
        switch (was_.replacement) {
            case Replacement::fifo:
            case Replacement::application:
                propose("replacement", name_of(was_.replacement), name_of(Replacement::lru), reason);
                advice_.hierarchy.replacement = Replacement::lru;
                return;
            case Replacement::lru:
                propose("replacement", name_of(was_.replacement), name_of(Replacement::lfu), reason);
                advice_.hierarchy.replacement = Replacement::lfu;
                return;
            case Replacement::lfu:
                advice_.unknown.push_back(
                    "what else should leave first: " + reason +
                    " although those went that are read least; the pool may be too small");
                return;
        }
    }

    // Who stores.
    void wait() {
        if (c_.waits < enough) return;
        const std::string reason =
            number(c_.waits) + " stores waited for room, " + seconds(c_.waited_s) + " all together";
        if (was_.mode == Buffering::none) {
            propose("mode", name_of(was_.mode), name_of(Buffering::write_back),
                    reason + "; what has a copy already gives up its place at once");
            advice_.hierarchy.mode = Buffering::write_back;
        } else if (was_.watermarks.low > lower.low) {
            const auto text = [](const Watermarks& w) {
                return "{high: " + percent_text(w.high) + ", low: " + percent_text(w.low) + "}";
            };
            propose("watermarks", text(was_.watermarks), text(lower),
                    reason + "; room that is made earlier is there in time");
            advice_.hierarchy.watermarks = lower;
        }
    }

    void flush() {
        std::uint64_t live = 0;
        for (const VariableHeat& each : heat_) live += each.bytes;
        if (was_.mode == Buffering::none || c_.flushed_bytes == 0 || c_.flushed_bytes < 2 * live) return;
        advice_.unknown.push_back("whether all has to survive: " + bytes_text(c_.flushed_bytes) +
                                  " were copied to the flush target, and " + bytes_text(live) +
                                  " are still there; what is erased or overwritten soon and may be lost "
                                  "needs a rule with `mode: none`");
    }

    std::uint64_t stored() const {
        std::uint64_t all = 0;
        for (const TargetTraffic& target : c_.targets) all += target.stored_bytes;
        return all;
    }
    static std::string percent_text(double part) {
        std::string text = std::to_string(part);
        while (text.back() == '0') text.pop_back();
        if (text.back() == '.') text.pop_back();
        return text;
    }

    static constexpr Watermarks lower{0.7, 0.5};
    const PoolCounters& c_;
    const std::vector<VariableHeat>& heat_;
    const Hierarchy& was_;
    Advice advice_;
};

}  // namespace

Advice advise(const Hierarchy& hierarchy, const std::optional<PoolCounters>& counters,
              const std::vector<VariableHeat>& heat) {
    if (counters) return Adviser(hierarchy, *counters, heat).advice();
    Advice advice;
    advice.hierarchy = hierarchy;
    advice.unknown.emplace_back(
        "anything: nothing was counted, because nobody had the pool open for writing since it has a "
        "hierarchy, or because the "
        "file beside it that keeps the counts was removed or cannot be made");
    return advice;
}

}  // namespace pmemcpy::tier
