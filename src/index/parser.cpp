#include "index/parser.hpp"

#include <algorithm>
#include <pmemcpy/error.hpp>
#include <utility>
#include <vector>

#include "index/known.hpp"
#include "index/lexer.hpp"
#include "index/node.hpp"
#include "index/time.hpp"

namespace pmemcpy::index {

namespace {

constexpr int most_depth = 200;  // of parentheses and nots: each costs stack

class Parser {
public:
    explicit Parser(std::string_view text) : text_(text), tokens_(tokens_of(text)) {}

    Query query() {
        Query query;
        if (here().kind != Token::Kind::end && !is_clause()) query = Query(Condition(any()));
        while (here().kind != Token::Kind::end) clause(query);
        return query;
    }

    Key key_alone() {
        Key made = key();
        if (here().kind != Token::Kind::end) expected("the end, after a key");
        return made;
    }

private:
    const Token& here() const { return tokens_[at_]; }
    const Token& take() { return tokens_[at_++]; }
    bool is_word(std::string_view word) const {
        return here().kind == Token::Kind::word && here().text == word;
    }
    bool is_sign(std::string_view sign) const {
        return here().kind == Token::Kind::sign && here().text == sign;
    }
    bool take_word(std::string_view word) {
        if (!is_word(word)) return false;
        ++at_;
        return true;
    }
    bool take_sign(std::string_view sign) {
        if (!is_sign(sign)) return false;
        ++at_;
        return true;
    }
    bool is_clause() const { return is_word("order") || is_word("limit") || is_word("count"); }

    [[noreturn]] void expected(std::string_view what, std::string_view after = {}) const {
        const std::string found =
            here().kind == Token::Kind::end
                ? "the query ends here"
                : "there is " + std::string(text_.substr(here().begin, here().end - here().begin));
        refuse(text_, here().begin,
               std::string("expected ").append(what).append(after).append(", but ").append(found));
    }
    /// What a maker says of its arguments is said with the place where they stand.
    template <class Make>
    auto at(const Token& token, Make&& make) const {
        try {
            return make();
        } catch (const Error& error) {
            refuse(text_, token.begin, error.what(), error.kind());
        }
    }

    // ---- conditions ----

    NodePointer any() {
        std::vector<NodePointer> parts{all()};
        while (take_word("or")) parts.push_back(all());
        return join(Relation::any, parts);
    }
    NodePointer all() {
        std::vector<NodePointer> parts{one()};
        while (take_word("and")) parts.push_back(one());
        return join(Relation::all, parts);
    }
    NodePointer one() {
        if (++depth_ > most_depth) refuse(text_, here().begin, "nested more than 200 deep");
        NodePointer node;
        if (take_word("not")) {
            node = negate(one());
        } else if (take_sign("(")) {
            node = any();
            if (!take_sign(")")) expected("and, or, or the ) that ends this");
        } else if (take_word("under")) {
            const Token& group = here();
            node = at(group, [&] { return Condition::under(text("the id of a group")).node(); });
        } else if (take_word("exists")) {
            if (!take_sign("(")) expected("( and a key");
            node = test(Relation::exists, key(), {});
            if (!take_sign(")")) expected("the ) after the key");
        } else {
            node = comparison();
        }
        --depth_;
        return node;
    }

    NodePointer comparison() {
        const Key subject = key();
        if (take_word("in")) return in(subject);
        const Token& sign = here();
        const bool may_be = sign.kind == Token::Kind::sign || sign.kind == Token::Kind::word;
        if (const auto relation = may_be ? relation_of(sign.text) : std::nullopt) {
            ++at_;
            const Token& first = here();
            Literal operand = is_of_text(*relation) && !is_sign("?")
                                  ? Literal(text("a text after ", sign.text))
                                  : literal("after ", sign.text);
            return at(first, [&] { return test(*relation, subject, {std::move(operand)}); });
        }
        expected("=, !=, <, <=, >, >=, ~, contains, begins or in, after " + subject.text());
    }

    NodePointer in(const Key& subject) {
        const Token& first = here();
        std::vector<Literal> operands;
        if (take_sign("(")) {
            do {
                operands.push_back(literal("in the list"));
            } while (take_sign(","));
            if (!take_sign(")")) expected(", or the ) that ends the list");
            return at(first, [&] { return test(Relation::one_of, subject, std::move(operands)); });
        }
        operands.push_back(literal("after in: a range such as 10..20, or a list such as (1, 2)"));
        if (!take_sign("..")) expected(".. and the end of the range");
        operands.push_back(literal("after .."));
        return at(first, [&] { return test(Relation::between, subject, std::move(operands)); });
    }

    // ---- keys and literals ----

    Key key() {
        const Token& first = here();
        if (first.kind == Token::Kind::text)
            refuse(text_, first.begin,
                   "a text stands on the right of a comparison; an attribute of this name is attr(" +
                       in_quotes(first.text) + ")");
        if (first.kind != Token::Kind::word && !is_sign("@"))
            expected("a key: an attribute, or one of " + list_of_known());
        std::vector<std::string> parts;
        Key::Means means = Key::Means::attribute;
        if (take_sign("@")) {
            if (here().kind != Token::Kind::word || !known_of(here().text))
                expected("one of " + list_of_known() + " after the @");
            means = Key::Means::known;
            parts.push_back(take().text);
        } else if (take_word("attr")) {
            if (!take_sign("(")) expected("( and the name of an attribute in quotes");
            parts.push_back(text("the name of an attribute in quotes"));
            if (!take_sign(")")) expected("the ) after the name");
        } else {
            if (is_reserved(first.text))
                expected("a key (an attribute called so is attr(" + in_quotes(first.text) + "))");
            if (known_of(first.text)) means = Key::Means::nearest;
            parts.push_back(take().text);
        }
        while (take_sign(".")) {
            if (here().kind != Token::Kind::word && here().kind != Token::Kind::number &&
                here().kind != Token::Kind::text)
                expected("the name of a member after the .");
            parts.push_back(take().text);
        }
        const auto members = std::span<const std::string>(parts).subspan(1);
        if (means == Key::Means::nearest && !has_members(*known_of(parts[0]), members))
            means = Key::Means::attribute;
        if (means == Key::Means::known && !has_members(*known_of(parts[0]), members)) {
            const auto names = members_of(*known_of(parts[0])).names;
            refuse(text_, first.begin,
                   "@" + parts[0] +
                       (names.empty() ? " has no members" : " has only the members " + list_of(names)) +
                       "; an attribute of this name is attr(" + in_quotes(parts[0]) + ")");
        }
        return {std::move(parts), means};
    }

    std::string text(std::string_view what, std::string_view after = {}) {
        if (here().kind != Token::Kind::text) expected(what, std::string(after) + ", in quotes");
        return take().text;
    }

    Literal literal(std::string_view where, std::string_view after = {}) {
        const Token& first = here();
        if (first.kind == Token::Kind::text || first.kind == Token::Kind::number) {
            ++at_;
            return first.kind == Token::Kind::text ? Literal(first.text) : first.value;
        }
        if (take_word("true")) return true;
        if (take_word("false")) return false;
        if (take_word("now")) return moment();
        if (take_sign("-")) {
            if (here().kind != Token::Kind::number) expected("a number after the -");
            return negative(take());
        }
        if (take_sign("+")) {
            if (here().kind != Token::Kind::number) expected("a number after the +");
            return take().value;
        }
        if (is_sign("(")) return shape();
        if (take_sign("?")) return Parameter{};
        if (first.kind == Token::Kind::word)
            refuse(text_, first.begin, "a text stands in quotes: " + in_quotes(first.text));
        expected("a number, a text in quotes, true, false, now or ?, ", std::string(where).append(after));
    }

    Literal negative(const Token& number) const {
        const auto& value = number.value.value();
        if (const auto* whole = std::get_if<std::int64_t>(&value)) return -*whole;
        if (const auto* broken = std::get_if<double>(&value)) return -*broken;
        constexpr std::uint64_t least = 1ULL << 63;
        if (std::get<std::uint64_t>(value) == least) return std::int64_t{INT64_MIN};
        refuse(text_, number.begin, "no number of 64 bits is as small");
    }

    /// After `now`: nothing, or + or - and so many seconds, minutes, hours, days or weeks.
    Literal moment() {
        Time time = now();
        const bool is_before = is_sign("-");
        if (!is_before && !is_sign("+")) return time;
        ++at_;
        const Token& number = here();
        const auto* count = std::get_if<std::int64_t>(&number.value.value());
        constexpr std::int64_t most = 1'000'000'000;
        if (number.kind != Token::Kind::number || count == nullptr || *count > most)
            expected("a whole number and its unit, as in now - 30d");
        ++at_;
        const auto seconds = here().kind == Token::Kind::word ? seconds_in(here().text) : std::nullopt;
        if (!seconds) expected("s, min, h, d or w after the number");
        ++at_;
        time.seconds += (is_before ? -1 : 1) * *count * *seconds;
        return time;
    }

    Literal shape() {
        const Token& first = take();
        Dimensions dims;
        while (!is_sign(")")) {
            const auto* extent = std::get_if<std::int64_t>(&here().value.value());
            if (here().kind != Token::Kind::number || extent == nullptr)
                expected("the extent of a dimension");
            at(first, [&] {
                dims.push_back(static_cast<Extent>(*extent));
                return 0;
            });
            ++at_;
            if (!take_sign(",") && !is_sign(")")) expected(", or the ) that ends the shape");
        }
        ++at_;
        return dims;
    }

    // ---- what is wanted of the objects ----

    void clause(Query& query) {
        const Token& first = here();
        const auto once = [&](bool is_there) {
            if (is_there) refuse(text_, first.begin, "a second " + first.text);
        };
        if (take_word("order")) {
            once(!query.order().empty());
            if (!take_word("by")) expected("by after order");
            do {
                const Key by = key();
                const bool descending = take_word("desc");
                if (!descending) take_word("asc");
                query.order_by(by, descending);
            } while (take_sign(","));
        } else if (take_word("limit")) {
            once(query.most().has_value());
            const auto* most = std::get_if<std::int64_t>(&here().value.value());
            if (here().kind != Token::Kind::number || most == nullptr) expected("a whole number after limit");
            query.limit(static_cast<std::uint64_t>(*most));
            ++at_;
        } else if (take_word("count")) {
            once(query.is_count());
            if (take_word("by")) {
                query.count_by(key());
            } else {
                query.count();
            }
        } else {
            expected("and, or, order by, limit, count or the end");
        }
    }

    std::string_view text_;
    std::vector<Token> tokens_;
    std::size_t at_ = 0;
    int depth_ = 0;
};

}  // namespace

Query parse_query(std::string_view text) { return Parser(text).query(); }
Key parse_key(std::string_view text) { return Parser(text).key_alone(); }

}  // namespace pmemcpy::index
