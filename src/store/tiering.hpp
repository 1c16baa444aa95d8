#pragma once

#include "catalog/directory.hpp"
#include "tier/heat.hpp"
#include "tier/hierarchy.hpp"
#include "tier/placement.hpp"
#include "tier/rules.hpp"

#include <pmemcpy/tiers.hpp>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace pmemcpy::store {

/// A block that may leave its target.
struct Resident {
    std::uint64_t placed;  // rises with each block that is stored or moved
    std::uint64_t bytes;
    std::string id;
    catalog::BlockRecord block;
    tier::Past past{};
};

/// Whether anything may be to go when the job ends.
inline bool has_scratch(const Hierarchy& hierarchy) {
    return hierarchy.mode == Buffering::scratch ||
           std::any_of(hierarchy.rules.begin(), hierarchy.rules.end(),
                       [](const Rule& rule) { return rule.mode == Buffering::scratch; });
}

/// The hierarchy of a pool as one process follows it, until somebody sets another one.
struct Tiering {
    Tiering(Hierarchy its, std::vector<std::uint32_t> its_numbers, std::uint64_t its_word)
        : hierarchy(std::move(its)),
          rules(hierarchy.rules),
          numbers(std::move(its_numbers)),
          flush_level(numbers.size() > 1 ? tier::flush_level(hierarchy) : 0),
          drops_after_read(std::any_of(hierarchy.rules.begin(), hierarchy.rules.end(),
                                       [](const Rule& rule) { return rule.drop_after_read; })),
          has_scratch(store::has_scratch(hierarchy)),
          word(its_word) {}

    Buffering mode_of(const std::string& id, const catalog::BlockRecord& block) const;
    /// Of a target as extents name it; nothing, if it is none of these.
    std::optional<std::size_t> level_of(std::uint32_t number) const {
        const auto at = std::find(numbers.begin(), numbers.end(), number);
        if (at == numbers.end()) return std::nullopt;
        return static_cast<std::size_t>(at - numbers.begin());
    }
    bool leaves_before(const Resident& a, const Resident& b) const {
        return tier::leaves_before(hierarchy.policy, hierarchy.replacement, a.past, b.past);
    }
    /// Whether any block may have to be copied, or brought down, by whoever works in the background.
    bool has_background() const;
    /// Whether what is to be flushed waits for this.
    bool flushes_on(Trigger trigger) const {
        return std::find(hierarchy.flush.on.begin(), hierarchy.flush.on.end(), trigger) !=
               hierarchy.flush.on.end();
    }

    const Hierarchy hierarchy;
    const tier::Rules rules;
    const std::vector<std::uint32_t> numbers;  // of each level its target, as extents name it
    const std::size_t flush_level;
    const bool drops_after_read;
    const bool has_scratch;
    const std::uint64_t word;  // the state page's, when it was read

    std::mutex mutex;
    // What is free in the pool is counted now and then, and estimated in between.
    std::uint64_t pool_free = 0;
    std::uint64_t counted_at_ns = 0;
    std::vector<std::deque<Resident>>
        leaving;                           // by level: the next to go, found by the last look at everything
    std::vector<std::uint64_t> looked_ns;  // when that was
    std::vector<std::uint64_t> hints;      // how often the application had said what it needs
};

}  // namespace pmemcpy::store
