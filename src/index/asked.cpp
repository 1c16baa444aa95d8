#include "index/asked.hpp"

#include <algorithm>
#include <pmemcpy/error.hpp>
#include <utility>
#include <variant>

namespace pmemcpy::index {

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
                        condition_->key->is_attribute() && condition_->key->parts().size() == 1;
    if (!is_one) return {};
    return Equality{*condition_->key, values_.empty() ? condition_->operands.front() : values_.front()};
}

const NodePointer& Asked::condition() {
    if (condition_ && !bound_) bound_ = bound(condition_, values_);
    return bound_;
}

}  // namespace pmemcpy::index
