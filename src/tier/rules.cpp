#include "tier/rules.hpp"

#include <utility>

namespace pmemcpy::tier {
namespace {

bool meets(const Box& a, const Box& b) {
    if (a.size() != b.size()) return false;
    for (int d = 0; d < a.size(); ++d) {
        if (a.offset[d] >= b.end(d) || b.offset[d] >= a.end(d)) return false;
    }
    return true;
}

}  // namespace

Rules::Rules(std::vector<Rule> rules) : rules_(std::move(rules)) {
    for (const Rule& rule : rules_) globs_.emplace_back(rule.match);
}

const Rule* Rules::find(std::string_view id, const Box& box, std::int32_t rank) const {
    for (std::size_t i = 0; i < rules_.size(); ++i) {
        const Rule& rule = rules_[i];
        if (rule.first_rank && rank < *rule.first_rank) continue;
        if (rule.last_rank && rank > *rule.last_rank) continue;
        if (rule.box && !meets(*rule.box, box)) continue;
        if (globs_[i].matches(id)) return &rule;
    }
    return nullptr;
}

const Rule* Rules::find_whole(std::string_view id) const {
    for (std::size_t i = 0; i < rules_.size(); ++i) {
        const Rule& rule = rules_[i];
        if (!rule.box && !rule.first_rank && !rule.last_rank && globs_[i].matches(id)) return &rule;
    }
    return nullptr;
}

}  // namespace pmemcpy::tier
