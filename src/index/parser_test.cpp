#include "index/parser.hpp"

#include <gtest/gtest.h>

#include <pmemcpy/error.hpp>
#include <random>

#include "index/known.hpp"
#include "index/lexer.hpp"

using namespace pmemcpy;
using namespace pmemcpy::index;

namespace {

std::string again(std::string_view text) { return Query::parse(text).text(); }

/// "9: what is wrong" of an error at column 9.
std::string error_of(std::string_view text) {
    try {
        static_cast<void>(Query::parse(text));
    } catch (const Error& error) {
        const std::string what = error.what();
        const std::string front = "in the query, column ";
        EXPECT_TRUE(what.starts_with(front)) << what;
        const std::string line = what.substr(0, what.find('\n'));
        const std::string last = what.substr(what.rfind('\n') + 1);
        EXPECT_EQ(std::to_string(last.size() - 2), line.substr(front.size(), line.find(':') - front.size()))
            << "the mark stands at another column than is said:\n"
            << what;
        return line.substr(front.size());
    }
    return "no error";
}

bool begins(const std::string& text, std::string_view front) { return text.starts_with(front); }

}  // namespace

TEST(parser, understands_what_the_documentation_shows) {
    EXPECT_EQ(again(R"(temperature.max > 300 and run.author = "li" and name ~ "u/*" and step in 10..20)"),
              R"(temperature.max > 300 and run.author = "li" and name ~ "u/*" and step in 10..20)");
    EXPECT_EQ(again("a=1 or b==2 and not(c!=3 or d<4)"), "a = 1 or b = 2 and not (c != 3 or d < 4)");
    EXPECT_EQ(again("(a = 1 or b = 2) and c = 3"), "(a = 1 or b = 2) and c = 3");
    EXPECT_EQ(again("not not a = 1"), "not not a = 1");
    EXPECT_EQ(again("units in ('K', 'm/s') order by bytes desc, name limit 10"),
              R"(units in ("K", "m/s") order by bytes desc, name limit 10)");
    EXPECT_EQ(again(R"(exists(run.dt) and attr("min").0."odd name" >= -2.5e3)"),
              R"(exists(run.dt) and attr("min").0."odd name" >= -2500.0)");
    EXPECT_EQ(again("shape = (4, 100) or shape.0 in 1..3 or shape != ()"),
              "shape = (4, 100) or shape.0 in 1..3 or shape != ()");
    EXPECT_EQ(again("changed in '2026-10'..'2026-11-05T12:30'"),
              R"(changed in "2026-10".."2026-11-05T12:30")");
    EXPECT_EQ(again("count by dtype"), "count by dtype");
    EXPECT_EQ(again("under 'run7' count"), R"(under "run7" count)");
    EXPECT_EQ(again("größe > 18446744073709551615"), "größe > 18446744073709551615");
    EXPECT_EQ(again("a = -9223372036854775808"), "a = -9223372036854775808");
    EXPECT_EQ(again(R"(a = 'it\'s "so"\n' and name ~ "a\*")"), R"(a = "it's \"so\"\n" and name ~ "a\\*")");
    EXPECT_EQ(again("a=? and b in ?..3 or c in (?, 1) and d ~?"),
              "a = ? and b in ?..3 or c in (?, 1) and d ~ ?");
    EXPECT_EQ(again(""), "");
    EXPECT_EQ(again("limit 3"), "limit 3");
    EXPECT_TRUE(begins(again("changed > now - 30d"), "changed > \"20"));
}

TEST(parser, names_the_column_and_what_could_stand_there) {
    EXPECT_EQ(
        error_of("a >"),
        "4: expected a number, a text in quotes, true, false, now or ?, after >, but the query ends here");
    EXPECT_EQ(error_of("a > and b"), "5: a text stands in quotes: \"and\"");
    EXPECT_EQ(error_of("a = K"), "5: a text stands in quotes: \"K\"");
    EXPECT_EQ(error_of("a = 1 b = 2"),
              "7: expected and, or, order by, limit, count or the end, but there is b");
    EXPECT_EQ(error_of("größe & b"), "7: there is no '&' here; write `and`");
    EXPECT_EQ(error_of("a && b"), "3: there is no '&&' here; write `and`");
    EXPECT_EQ(error_of("!a"), "1: there is no '!' here; write `not`");
    EXPECT_EQ(error_of("a <> 3"), "3: there is no '<>' here; write `!=`");
    EXPECT_EQ(error_of("a = \"K"), "5: this text has no end; its second quote is missing");
    EXPECT_EQ(error_of("a = 1 and $"), "11: a query has no such character");
    EXPECT_EQ(error_of("(a = 1"), "7: expected and, or, or the ) that ends this, but the query ends here");
    EXPECT_EQ(error_of("a in 1"), "7: expected .. and the end of the range, but the query ends here");
    EXPECT_EQ(error_of("a in (1 2)"), "9: expected , or the ) that ends the list, but there is 2");
    EXPECT_EQ(error_of("\"a\" = 1"),
              "1: a text stands on the right of a comparison; an attribute of this name is attr(\"a\")");
    EXPECT_TRUE(begins(error_of("count = 1"), "7: expected and, or, order by"));
    EXPECT_EQ(error_of("a = 1 and limit = 2"),
              "11: expected a key (an attribute called so is attr(\"limit\")), but there is limit");
    EXPECT_EQ(error_of("@creator.shoe = 44"),
              "1: @creator has only the members user, host, program, ranks; an attribute of this name is "
              "attr(\"creator\")");
    EXPECT_EQ(error_of("@name.x = 'a'"),
              "1: @name has no members; an attribute of this name is attr(\"name\")");
    EXPECT_EQ(error_of("@units = 'K'"),
              "2: expected one of " + list_of_known() + " after the @, but there is units");
    EXPECT_EQ(error_of("name ~ '[a'"),
              "8: the pattern '[a' has a [ without a ]; for the character itself write \\[");
    EXPECT_EQ(error_of("changed > now - 3 years"),
              "19: expected s, min, h, d or w after the number, but there is years");
    EXPECT_EQ(error_of("? = 1"),
              "1: expected a key: an attribute, or one of " + list_of_known() + ", but there is ?");
    EXPECT_EQ(error_of("limit ?"), "7: expected a whole number after limit, but there is ?");
    EXPECT_EQ(error_of("limit -1"), "7: expected a whole number after limit, but there is -");
    EXPECT_EQ(error_of("limit 1 limit 2"), "9: a second limit");
    EXPECT_EQ(error_of("a = 1e999"), "5: no number of 64 bits is as large or as small");
    EXPECT_EQ(error_of("a = -18446744073709551615"), "6: no number of 64 bits is as small");
    EXPECT_TRUE(begins(error_of("a ~ 3"), "5: expected a text after ~, in quotes"));
    EXPECT_TRUE(begins(error_of("under '../x'"), "7: ")) << "no group can be called so";
    EXPECT_TRUE(begins(error_of(std::string(500, '(') + "a = 1"), "201: nested more than"));
    std::string nots;
    for (int i = 0; i < 100'000; ++i) nots += "not ";
    EXPECT_TRUE(begins(error_of(nots + "a = 1"), "801: nested more than")) << "no stack is used up";
}

TEST(parser, refuses_comparisons_that_nothing_can_meet) {
    EXPECT_EQ(error_of("@bytes > \"a\""), "10: @bytes is a number, and \"a\" is none");
    EXPECT_EQ(error_of("@name = 3"), "9: @name is a text, and 3 is none");
    EXPECT_EQ(error_of("@kind = 'arry'"),
              "9: @kind is \"value\", \"array\" or \"group\", and \"arry\" is none");
    EXPECT_EQ(
        error_of("@changed > 'yesterday'"),
        "12: @changed is a time, such as \"2026-10-05\" or \"2026-10-05T12:30\", and \"yesterday\" is none");
    EXPECT_EQ(error_of("@shape = 3"), "10: @shape is a shape, such as (4, 100), and 3 is none");
    EXPECT_EQ(error_of("shape > (3)"), "9: shapes are equal or not; none is > another");
    EXPECT_EQ(error_of("@rank in ('a')"), "10: @rank is a number, and \"a\" is none");
}

TEST(parser, leaves_it_to_the_objects_what_a_word_means_that_may_be_an_attribute) {
    EXPECT_EQ(error_of("bytes > \"a\""), "no error");
    EXPECT_EQ(again("@step = 3 and step = 'a' and attr('step') = 'b'"),
              "@step = 3 and step = \"a\" and attr(\"step\") = \"b\"");
    EXPECT_EQ(again("attr('creator').shoe = 44 and creator.user = 'li'"),
              "attr(\"creator\").shoe = 44 and creator.user = \"li\"");
}

namespace {

/// Any query, as a text that its own text() would give.
class Random {
public:
    explicit Random(unsigned seed) : random_(seed) {}

    Query query() {
        Query query;
        if (one_in(8) == 0) return query;
        query = Query(condition(3));
        if (one_in(3) == 0) query.order_by(key(), one_in(2) == 0);
        if (one_in(3) == 0) query.limit(one_in(100));
        if (one_in(5) == 0) query.count_by(key());
        return query;
    }

private:
    std::uint64_t one_in(std::uint64_t n) { return random_() % n; }

    Condition condition(int depth) {
        switch (depth == 0 ? 3 + one_in(6) : one_in(9)) {
            case 0:
                return condition(depth - 1) && condition(depth - 1);
            case 1:
                return condition(depth - 1) || condition(depth - 1);
            case 2:
                return !condition(depth - 1);
            case 3:
                return Condition::under("group/x");
            case 4:
                return key().exists();
            case 5:
                return key().matches("a*\\*[b-d]");
            case 6:
                return key().between(literal(), literal());
            case 7:
                return key().one_of({literal(), literal()});
            default:
                return key() == literal();
        }
    }

    Key key() {
        constexpr std::array names = {"units", "limit", "name", "a.b",   "größe",
                                      "",      "x y",   "42",   "\"q\"", "min"};
        std::vector<std::string> parts = {names.at(one_in(names.size()))};
        for (std::uint64_t i = one_in(3); i > 0; --i) parts.emplace_back(names.at(one_in(names.size())));
        return {parts, Key::Means::attribute};
    }

    Literal literal() {
        switch (one_in(7)) {
            case 5:
                return Parameter{};
            case 0:
                return static_cast<std::int64_t>(random_());
            case 1:
                return static_cast<std::uint64_t>(random_());
            case 2:
                return static_cast<double>(random_()) / 1000;
            case 3:
                return "it's \"\\\n";
            case 4:
                return one_in(2) == 0;
            default:
                return 1e-300;
        }
    }

    std::mt19937_64 random_;
};

}  // namespace

TEST(parser, understands_every_query_as_it_is_printed) {
    Random random(7);
    for (int i = 0; i < 2000; ++i) {
        const std::string text = random.query().text();
        EXPECT_EQ(again(text), text);
    }
}

// As a program writes them: each term was copied for each one behind it, which took minutes.
TEST(parser, understands_a_chain_of_a_hundred_thousand) {
    for (const std::string_view word : {" and ", " or "}) {
        std::string text = "a = 0";
        for (int i = 1; i < 100'000; ++i) text.append(word).append("a = 0");
        EXPECT_EQ(again(text).size(), text.size());
    }
}

TEST(parser, survives_any_text) {
    std::mt19937 random(11);
    const std::string_view from =
        "a1.\"'()<>=!~,-+? \\\n\xff\xc3\xa4 and or not in now exists order by limit count";
    for (int i = 0; i < 20'000; ++i) {
        std::string text;
        for (std::size_t n = random() % 40; n > 0; --n) text += from[random() % from.size()];
        try {
            const std::string printed = again(text);
            EXPECT_EQ(again(printed), printed) << text;
        } catch (const Error& error) {
            EXPECT_TRUE(error.kind() == Code::invalid_argument || error.kind() == Code::type_mismatch)
                << error.what();
        }
    }
}
