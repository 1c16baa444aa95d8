#pragma once

#include <pmemcpy/glob.hpp>
#include <pmemcpy/tiers.hpp>

#include <cstdint>
#include <string_view>
#include <vector>

namespace pmemcpy::tier {

/// The rules of a hierarchy, ready to be asked.
class Rules {
public:
    explicit Rules(std::vector<Rule> rules);

    /// The first that counts for a block; null if none does.
    const Rule* find(std::string_view id, const Box& box, std::int32_t rank) const;

    /// The first that counts for all blocks of this id; null if none does.
    const Rule* find_whole(std::string_view id) const;

private:
    std::vector<Rule> rules_;
    std::vector<Glob> globs_;  // of each rule its pattern
};

}  // namespace pmemcpy::tier
