#include "index/asked.hpp"

#include <algorithm>
#include <pmemcpy/error.hpp>
#include <utility>
#include <variant>

#include "index/known.hpp"

namespace pmemcpy::index {

namespace {

/// Null if it is something else.
NodePointer as_test_of_name(const NodePointer& node) {
    if (node->relation == Relation::under) return test_of_name(*node);
    const bool is_found_by_order = node->relation != Relation::exists && node->relation != Relation::differs;
    const bool is_of_name = node->key && is_known(*node->key, Known::name) && node->misfit.empty();
    return is_of_name && is_found_by_order ? node : nullptr;
}

}  // namespace

Asked::Asked(NodePointer condition, std::span<const Literal> values)
    : condition_(std::move(condition)), values_(values) {
    const std::size_t wanted = condition_ ? condition_->parameters : 0;
    if (values.size() != wanted)
        throw Error(Code::invalid_argument,
                    (wanted == 0 ? "a query without a ?" : "`" + text_of(*condition_) + "`") + " was given " +
                        std::to_string(values.size()) + " values, and needs " + std::to_string(wanted));
    if (std::any_of(values.begin(), values.end(), is_parameter))
        throw Error(Code::invalid_argument, "a ? is no value for a ?");
}

std::optional<Asked::Equality> Asked::equality() const {
    const bool is_one = condition_ && condition_->relation == Relation::equal &&
                        condition_->key->means() == Key::Means::attribute &&
                        condition_->key->parts().size() == 1;
    if (!is_one) return {};
    return Equality{*condition_->key, values_.empty() ? condition_->operands.front() : values_.front()};
}

std::optional<Asked::OfNames> Asked::of_names() {
    const NodePointer& all = condition();
    if (!all) return {};
    if (all->relation != Relation::all) {
        NodePointer test = as_test_of_name(all);
        if (!test) return {};
        const Key* const key = test->key.get();
        return OfNames{std::move(test), true, {key}};
    }
    if (all->parts.size() != 2) return {};
    const bool is_first = leaves_groups_out(*all->parts[0]);
    if (!is_first && !leaves_groups_out(*all->parts[1])) return {};
    NodePointer test = as_test_of_name(all->parts[is_first ? 1 : 0]);
    if (!test) return {};
    const Key* const key = test->key.get();
    return OfNames{std::move(test), false, {key, all->parts[is_first ? 0 : 1]->key.get()}};
}

const NodePointer& Asked::condition() {
    if (condition_ && !bound_) bound_ = bound(condition_, values_);
    return bound_;
}

}  // namespace pmemcpy::index
