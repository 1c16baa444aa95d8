#include <pmemcpy/query.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <pmemcpy/error.hpp>

#include "index/asked.hpp"
#include "index/known.hpp"
#include "index/lexer.hpp"
#include "index/node.hpp"
#include "index/parser.hpp"
#include "index/time.hpp"

namespace pmemcpy {

using index::Relation;

namespace {

std::string text_of(double value) {
    if (!std::isfinite(value))
        throw Error(Code::invalid_argument, "no query can say NaN or infinity, and nothing is equal to NaN");
    std::array<char, 32> digits{};
    const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), value);
    std::string text(digits.data(), end);
    return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

std::string text_of(const Dimensions& shape) {
    std::string text;
    for (const Extent extent : shape) text += (text.empty() ? "" : ", ") + std::to_string(extent);
    return "(" + text + ")";
}

Condition condition(Relation relation, const Key& key, std::vector<Literal> operands) {
    return Condition(index::test(relation, key, std::move(operands)));
}

}  // namespace

Literal::Literal(std::chrono::system_clock::time_point time) {
    const auto since = std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count();
    value_ = *index::time_of(since, TimeUnit::nanosecond);
}

std::string Literal::text() const {
    return std::visit(
        [](const auto& value) -> std::string {
            using T = std::decay_t<decltype(value)>;
            if constexpr (std::is_same_v<T, bool>)
                return value ? "true" : "false";
            else if constexpr (std::is_same_v<T, std::string>)
                return index::in_quotes(value);
            else if constexpr (std::is_same_v<T, Parameter>)
                return "?";
            else if constexpr (std::is_same_v<T, Time>)
                return index::in_quotes(index::text_of(value));
            else if constexpr (std::is_integral_v<T>)
                return std::to_string(value);
            else
                return pmemcpy::text_of(value);
        },
        value_);
}

Condition Condition::under(std::string_view group) { return Condition(index::under(group)); }
Condition operator&&(const Condition& a, const Condition& b) {
    return Condition(index::join(Relation::all, a.node(), b.node()));
}
Condition operator||(const Condition& a, const Condition& b) {
    return Condition(index::join(Relation::any, a.node(), b.node()));
}
Condition operator!(const Condition& a) { return Condition(index::negate(a.node())); }

Key::Key(std::string_view text) : Key(index::parse_key(text)) {}

Condition Key::exists() const { return condition(Relation::exists, *this, {}); }
Condition Key::matches(std::string_view glob) const { return condition(Relation::matches, *this, {glob}); }
Condition Key::contains(std::string_view text) const { return condition(Relation::contains, *this, {text}); }
Condition Key::begins_with(std::string_view text) const { return condition(Relation::begins, *this, {text}); }
Condition Key::between(const Literal& first, const Literal& last) const {
    return condition(Relation::between, *this, {first, last});
}
Condition Key::one_of(const std::vector<Literal>& values) const {
    if (values.empty()) throw Error(Code::invalid_argument, "no value is one of none");
    return condition(Relation::one_of, *this, values);
}

Condition operator==(const Key& key, const Literal& value) {
    return condition(Relation::equal, key, {value});
}
Condition operator!=(const Key& key, const Literal& value) {
    return condition(Relation::differs, key, {value});
}
Condition operator<(const Key& key, const Literal& value) { return condition(Relation::less, key, {value}); }
Condition operator<=(const Key& key, const Literal& value) {
    return condition(Relation::at_most, key, {value});
}
Condition operator>(const Key& key, const Literal& value) {
    return condition(Relation::greater, key, {value});
}
Condition operator>=(const Key& key, const Literal& value) {
    return condition(Relation::at_least, key, {value});
}

std::string Key::text() const {
    const std::string& first = parts_.front();
    const bool is_plain = index::is_word(first) && !index::is_reserved(first);
    const bool is_clear = is_plain && (means_ == Means::nearest || !index::known_of(first));
    std::string text = means_ == Means::known ? "@" + first
                       : is_clear             ? first
                                              : "attr(" + index::in_quotes(first) + ")";
    for (std::size_t i = 1; i < parts_.size(); ++i) {
        const bool is_number =
            parts_[i].find_first_not_of("0123456789") == std::string::npos && !parts_[i].empty();
        text += "." + (is_number || index::is_word(parts_[i]) ? parts_[i] : index::in_quotes(parts_[i]));
    }
    return text;
}

Query Query::parse(std::string_view text) { return index::parse_query(text); }

Query Query::with(std::span<const Literal> values) const {
    index::Asked with_values(condition_ ? condition_->node() : nullptr, values);
    if (!condition_) return *this;
    Query asked(Condition(with_values.condition()));
    asked.order_ = order_;
    asked.most_ = most_;
    asked.counted_key_ = counted_key_;
    asked.is_count_ = is_count_;
    return asked;
}

Query& Query::within(std::string_view group) {
    const Condition in = Condition::under(group);
    condition_ = condition_ ? in && *condition_ : in;
    return *this;
}
Query& Query::order_by(const Key& key, bool descending) {
    order_.push_back({key, descending});
    return *this;
}
Query& Query::limit(std::uint64_t most) {
    most_ = most;
    return *this;
}
Query& Query::count() {
    is_count_ = true;
    counted_key_.reset();
    return *this;
}
Query& Query::count_by(const Key& key) {
    is_count_ = true;
    counted_key_ = key;
    return *this;
}

namespace {

void add_keys(std::vector<Key>& keys, const index::Node& node) {
    if (node.key) keys.push_back(*node.key);
    for (const index::NodePointer& part : node.parts) add_keys(keys, *part);
}

}  // namespace

std::vector<Key> Query::keys() const {
    std::vector<Key> keys;
    if (condition_) add_keys(keys, *condition_->node());
    for (const Order& order : order_) keys.push_back(order.key);
    if (counted_key_) keys.push_back(*counted_key_);
    std::vector<Key> each;
    for (Key& key : keys) {
        const auto is_same = [&](const Key& other) { return other.text() == key.text(); };
        if (std::none_of(each.begin(), each.end(), is_same)) each.push_back(std::move(key));
    }
    return each;
}

std::string Query::text() const {
    std::string text;
    const auto add = [&](const std::string& clause) { text += (text.empty() ? "" : " ") + clause; };
    if (condition_) add(index::text_of(*condition_->node()));
    for (std::size_t i = 0; i < order_.size(); ++i) {
        const std::string by = order_[i].key.text() + (order_[i].descending ? " desc" : "");
        if (i == 0)
            add("order by " + by);
        else
            text += ", " + by;
    }
    if (most_) add("limit " + std::to_string(*most_));
    if (is_count_) add(counted_key_ ? "count by " + counted_key_->text() : "count");
    return text;
}

}  // namespace pmemcpy
