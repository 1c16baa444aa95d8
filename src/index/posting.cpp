#include "index/posting.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "base/hash.hpp"
#include "index/time.hpp"

namespace pmemcpy::index {

namespace {

using Wide = long double;  // exact for every number there is, see fact.cpp

template <class T>
void add_big_endian(std::string& bytes, T value) {
    std::array<char, sizeof value> big{};
    for (std::size_t i = 0; i < big.size(); ++i)
        big[i] = static_cast<char>(value >> (8 * (big.size() - 1 - i)) & 0xff);
    bytes.append(big.data(), big.size());
}

std::string head(std::uint32_t key, PostedSort sort) {
    std::string bytes;
    add_big_endian(bytes, key);
    bytes.push_back(static_cast<char>(sort));
    return bytes;
}

/// The first key that does not begin so.
std::string after_all_with(std::string prefix) {
    while (!prefix.empty() && static_cast<unsigned char>(prefix.back()) == 0xff) prefix.pop_back();
    if (!prefix.empty()) prefix.back() = static_cast<char>(static_cast<unsigned char>(prefix.back()) + 1);
    return prefix;
}
/// The first key behind this very one.
std::string after(const std::string& key) { return key + '\0'; }

constexpr std::uint64_t sign_bit = 1ULL << 63;

// The nearest float64 with its bits so that they sort as numbers do, and how far the number is from it, which only integers
// beyond 53 bits are. NaN comes behind all.
void add_number(std::string& bytes, double nearest, std::int64_t rest) {
    if (std::isnan(nearest)) {
        add_big_endian(bytes, ~std::uint64_t{0});
        return add_big_endian(bytes, std::uint16_t{0});
    }
    const auto bits = std::bit_cast<std::uint64_t>(nearest == 0 ? 0.0 : nearest);
    add_big_endian(bytes, (bits & sign_bit) != 0 ? ~bits : bits | sign_bit);
    add_big_endian(bytes, static_cast<std::uint16_t>(rest + 0x8000));
}
void add_number(std::string& bytes, double number) { add_number(bytes, number, 0); }
template <std::integral T>
void add_number(std::string& bytes, T number) {
    const auto nearest = static_cast<double>(number);
    add_number(bytes, nearest, std::lround(static_cast<Wide>(number) - static_cast<Wide>(nearest)));
}

void add_time(std::string& bytes, const Time& time) {
    add_big_endian(bytes, static_cast<std::uint64_t>(time.seconds) ^ sign_bit);
    add_big_endian(bytes, time.attoseconds);
}

void add_text(std::string& bytes, std::string_view text) {
    bytes.append(text.substr(0, longest_posted_text));
    if (text.size() > longest_posted_text) add_big_endian(bytes, base::xxh3_64(text));
}

/// Of a fact, or of a literal that facts are compared with.
template <class T>
constexpr PostedSort posted_sort = std::is_same_v<T, bool>           ? PostedSort::truth
                                   : std::is_same_v<T, std::string>  ? PostedSort::text
                                   : std::is_same_v<T, Time>         ? PostedSort::time
                                   : std::is_same_v<T, Dimensions>   ? PostedSort::shape
                                   : std::is_same_v<T, Incomparable> ? PostedSort::incomparable
                                   : std::is_same_v<T, Parameter>    ? PostedSort::incomparable
                                                                     : PostedSort::number;

PostedSort sort_of_literal(const Literal& literal) {
    return std::visit([](const auto& value) { return posted_sort<std::decay_t<decltype(value)>>; },
                      literal.value());
}

template <class T>
void add_value(std::string& bytes, const T& value) {
    if constexpr (std::is_same_v<T, bool>) {
        bytes.push_back(value ? '\1' : '\0');
    } else if constexpr (std::is_same_v<T, std::string>) {
        add_text(bytes, value);
    } else if constexpr (std::is_same_v<T, Time>) {
        add_time(bytes, value);
    } else if constexpr (std::is_same_v<T, Dimensions>) {
        bytes.push_back(static_cast<char>(value.size()));
        for (const Extent extent : value) add_big_endian(bytes, std::uint64_t{extent});
    } else if constexpr (posted_sort<T> == PostedSort::number) {
        add_number(bytes, value);
    }
}

template <class... Values>
void set_posting(std::string& bytes, std::uint32_t key, const std::variant<Values...>& value) {
    bytes.clear();
    add_big_endian(bytes, key);
    std::visit(
        [&](const auto& plain) {
            using T = std::decay_t<decltype(plain)>;
            bytes.push_back(static_cast<char>(posted_sort<T>));
            add_value(bytes, plain);
        },
        value);
}

template <class... Values>
std::string posting_with(std::uint32_t key, const std::variant<Values...>& value) {
    std::string bytes;
    set_posting(bytes, key, value);
    return bytes;
}

bool is_long_text(const Literal& literal) {
    const auto* text = std::get_if<std::string>(&literal.value());
    return text != nullptr && text->size() > longest_posted_text;
}

/// Where facts lie that are equal to a literal: [first, end), of one sort.
struct Span {
    PostedSort sort;
    std::string first;
    std::string end;
    bool is_exact = true;
};

Span span_of(std::uint32_t key, const Literal& literal) {
    const PostedSort sort = sort_of_literal(literal);
    std::string at = posting_with(key, literal.value());
    // Of a text that is not posted whole only the beginning says how another one lies to it.
    if (is_long_text(literal)) {
        const std::string begin = at.substr(0, posting_head_bytes + longest_posted_text);
        return {sort, begin, after_all_with(begin), false};
    }
    std::string end = after(at);
    return {sort, std::move(at), std::move(end)};
}

/// A text that says a time means one where a time is stored.
std::optional<Span> span_of_time(std::uint32_t key, const Literal& literal) {
    const auto* text = std::get_if<std::string>(&literal.value());
    const auto interval = text != nullptr ? parse_time(*text) : std::nullopt;
    if (!interval) return {};
    Span span{PostedSort::time, head(key, PostedSort::time), head(key, PostedSort::time)};
    add_time(span.first, interval->first);
    add_time(span.end, interval->end);
    return span;
}

/// Of one sort: behind all that compare with anything. NaN is there, and compares with nothing.
std::string end_of_sort(std::uint32_t key, PostedSort sort) {
    const std::string begin = head(key, sort);
    if (sort != PostedSort::number) return after_all_with(begin);
    std::string nan = begin;
    add_number(nan, std::numeric_limits<double>::quiet_NaN());
    return nan;
}

bool is_nan(const Literal& literal) {
    const auto* number = std::get_if<double>(&literal.value());
    return number != nullptr && std::isnan(*number);
}

void add_range(std::vector<Range>& ranges, Range range) {
    if (range.from < range.end) ranges.push_back(std::move(range));
}

void add_compared(std::vector<Range>& ranges, std::uint32_t key, Relation relation, Span span) {
    if (relation == Relation::equal)
        return add_range(ranges, {std::move(span.first), std::move(span.end), span.is_exact});
    std::string begin = head(key, span.sort);
    const bool is_ordered = span.sort != PostedSort::shape;
    switch (relation) {
        case Relation::less:
            if (is_ordered) add_range(ranges, {begin, span.is_exact ? span.first : span.end, span.is_exact});
            return;
        case Relation::at_most:
            add_range(ranges, {is_ordered ? begin : span.first, span.end, span.is_exact});
            return;
        case Relation::greater:
            if (is_ordered)
                add_range(ranges, {span.is_exact ? span.end : span.first, end_of_sort(key, span.sort),
                                   span.is_exact});
            return;
        case Relation::at_least:
            add_range(ranges,
                      {span.first, is_ordered ? end_of_sort(key, span.sort) : span.end, span.is_exact});
            return;
        default:  // differs
            return add_range(ranges, {begin, after_all_with(begin), false});
    }
}

template <class F>
void for_each_span(std::uint32_t key, const Literal& literal, F&& f) {
    if (!is_nan(literal)) f(span_of(key, literal));
    if (auto time = span_of_time(key, literal)) f(std::move(*time));
}

void add_between(std::vector<Range>& ranges, std::uint32_t key, const Node& test) {
    for_each_span(key, test.operands[0], [&](const Span& first) {
        for_each_span(key, test.operands[1], [&](const Span& last) {
            if (first.sort != last.sort) return;
            if (first.sort == PostedSort::shape && first.first != last.first) return;
            add_range(ranges, {first.first, last.end, first.is_exact && last.is_exact});
        });
    });
}

// So that none is met twice: of ranges that overlap the union.
std::vector<Range> merged(std::vector<Range> ranges) {
    if (ranges.size() < 2) return ranges;
    std::sort(ranges.begin(), ranges.end(), [](const Range& a, const Range& b) { return a.from < b.from; });
    std::vector<Range> all;
    for (Range& range : ranges) {
        if (!all.empty() && range.from < all.back().end) {
            all.back().is_exact = all.back().is_exact && range.is_exact;
            all.back().end = std::max(all.back().end, range.end);
        } else {
            all.push_back(std::move(range));
        }
    }
    return all;
}

}  // namespace

Table table_of(std::string_view posting) {
    return table_of(static_cast<std::uint32_t>(static_cast<unsigned char>(posting.front())) << 24);
}

std::string posting_of(std::uint32_t key, const Fact& fact) { return posting_with(key, fact); }

std::string posting_of_more(std::uint32_t key) { return head(key, PostedSort::more); }

std::string posting_of_several(std::uint32_t key) { return head(key, PostedSort::several); }

std::string posting_of_group(std::uint32_t key) { return head(key, PostedSort::group); }

std::string_view key_in(std::string_view posting) { return posting.substr(0, posting_head_bytes - 1); }

std::vector<Range> ranges_of(std::uint32_t key, const Node& test) {
    std::vector<Range> ranges;
    if (test.relation == Relation::differs && is_nan(test.operands.front())) {
        ranges.push_back(all_of(key, PostedSort::number));  // from which all numbers differ, and NaN too
        ranges.back().is_exact = false;
        return ranges;
    }
    switch (test.relation) {
        case Relation::exists:
            return {all_of(key)};
        case Relation::begins: {
            const auto& text = std::get<std::string>(test.operands.front().value());
            const std::string begin = head(key, PostedSort::text) + text.substr(0, longest_posted_text);
            return {{begin, after_all_with(begin), text.size() <= longest_posted_text}};
        }
        case Relation::matches: {
            const std::string begin =
                head(key, PostedSort::text) + test.glob->prefix().substr(0, longest_posted_text);
            return {{begin, after_all_with(begin)}};
        }
        case Relation::contains:
            return {all_of(key, PostedSort::text)};
        case Relation::between:
            add_between(ranges, key, test);
            break;
        case Relation::one_of:
            for (const Literal& operand : test.operands)
                for_each_span(key, operand, [&](Span span) {
                    add_compared(ranges, key, Relation::equal, std::move(span));
                });
            break;
        default:
            for_each_span(key, test.operands.front(),
                          [&](Span span) { add_compared(ranges, key, test.relation, std::move(span)); });
            break;
    }
    return merged(std::move(ranges));
}

bool is_at_one_posting(std::uint32_t key, const Literal& literal, std::string& posting) {
    if (is_nan(literal) || is_long_text(literal)) return false;
    const auto* text = std::get_if<std::string>(&literal.value());
    if (text != nullptr && parse_time(*text)) return false;
    set_posting(posting, key, literal.value());
    return true;
}

std::vector<Range> common(const std::vector<Range>& a, const std::vector<Range>& b) {
    std::vector<Range> all;
    for (const Range& one : a) {
        for (const Range& other : b)
            add_range(all, {std::max(one.from, other.from), std::min(one.end, other.end),
                            one.is_exact && other.is_exact});
    }
    return all;
}

Range all_of(std::uint32_t key) {
    std::string begin;
    add_big_endian(begin, key);
    return {begin, head(key, PostedSort::more)};
}

Range all_of(std::uint32_t key, PostedSort sort) {
    const std::string begin = head(key, sort);
    return {begin, after_all_with(begin)};
}

std::vector<PostedSort> sorts_compared(const Node& test) {
    std::vector<PostedSort> sorts;
    const auto add = [&](PostedSort sort) {
        if (std::find(sorts.begin(), sorts.end(), sort) == sorts.end()) sorts.push_back(sort);
    };
    if (is_of_text(test.relation)) return {PostedSort::text};
    if (test.relation == Relation::exists) {
        return {PostedSort::truth, PostedSort::number, PostedSort::text,
                PostedSort::time,  PostedSort::shape,  PostedSort::incomparable};
    }
    // Both ends of a range must compare; of a list one of them is enough.
    const bool needs_all = test.relation == Relation::between;
    std::vector<std::vector<PostedSort>> of_each;
    for (const Literal& operand : test.operands) {
        std::vector<PostedSort> one;
        one.push_back(sort_of_literal(operand));
        if (span_of_time(0, operand)) one.push_back(PostedSort::time);
        of_each.push_back(std::move(one));
    }
    for (const auto& one : of_each) {
        for (const PostedSort sort : one) {
            const bool in_all = std::all_of(of_each.begin(), of_each.end(), [&](const auto& other) {
                return std::find(other.begin(), other.end(), sort) != other.end();
            });
            if (!needs_all || in_all) add(sort);
        }
    }
    return sorts;
}

}  // namespace pmemcpy::index
