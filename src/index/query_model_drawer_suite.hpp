#pragma once

// Draws values and conditions for the model of queries.

#include <array>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "index/query_model_suite.hpp"

namespace pmemcpy::query_model {

class Drawer {
public:
    explicit Drawer(unsigned seed) : random_(seed), names_like_words_(chance(30)) {}
    std::size_t draw(std::size_t n) { return static_cast<std::size_t>(random_() % n); }
    bool chance(unsigned percent) { return draw(100) < percent; }
    template <class List>
    auto one_of(const List& list) {
        return *(std::begin(list) + static_cast<std::ptrdiff_t>(draw(std::size(list))));
    }

    Json number() {
        static const std::vector<Json> numbers = {0,
                                                  1,
                                                  -1,
                                                  2,
                                                  3,
                                                  5,
                                                  0.5,
                                                  -0.5,
                                                  0.1,
                                                  1e300,
                                                  -1e300,
                                                  5e-324,
                                                  1.0,
                                                  2.0,
                                                  1LL << 53,
                                                  (1LL << 53) + 1,
                                                  9007199254740992.0,
                                                  INT64_MAX,
                                                  INT64_MIN,
                                                  9223372036854775808.0,
                                                  -(1LL << 53) - 1};
        return chance(80) ? one_of(numbers) : Json(static_cast<int>(draw(9)) - 4);
    }
    std::string text() {
        static const std::vector<std::string> texts = {"",
                                                       "a",
                                                       "A",
                                                       "aa",
                                                       "ab",
                                                       "b",
                                                       "caf\xc3\xa9",
                                                       "x/y",
                                                       "a*b",
                                                       "a b",
                                                       "\n",
                                                       "\t",
                                                       "2026-10",
                                                       "2026",
                                                       "1",
                                                       "true",
                                                       std::string(399, 'a'),
                                                       std::string(400, 'a'),
                                                       std::string(401, 'a'),
                                                       std::string(400, 'a') + "b",
                                                       std::string(500, 'a')};
        return one_of(texts);
    }
    Json scalar() {
        const std::size_t d = draw(100);
        return d < 50 ? number() : d < 85 ? Json(text()) : d < 93 ? Json(chance(50)) : Json();
    }
    std::string member() {
        static const std::vector<std::string> members = {
            "x", "y", "x", "y", "0", "1", "odd m", "00", std::string("x\0y", 3), "x\1y"};
        return one_of(members);
    }
    Json json(int depth = 0) {
        const std::size_t d = draw(100);
        if (depth > 2 || d < 40) return scalar();
        Json made = d < 75 ? Json::object() : Json::array();
        const std::size_t count = draw(40) == 0 ? 80 : draw(4);
        for (std::size_t i = 0; i < count; ++i) {
            if (made.is_object())
                made[member()] = json(depth + 1);
            else
                made.push_back(json(depth + 1));
        }
        return made;
    }
    Json literal() {
        const std::size_t d = draw(100);
        return d < 55 ? number() : d < 90 ? Json(text()) : Json(chance(50));
    }
    /// Of one in three, attributes are called as what is known, too.
    std::string attribute() {
        static const std::vector<std::string> names = {"a", "b", "c", "odd name", "a.b", "and", "_x"};
        static const std::vector<std::string> words = {"name", "kind", "group", "value"};
        return names_like_words_ && chance(30) ? one_of(words) : one_of(names);
    }

    Condition condition(const std::vector<std::string>& names, int depth = 0) {
        const std::size_t d = draw(100);
        if (depth > 2 || d < 50) return test(names);
        if (d >= 87) return {.op = Op::none, .parts = {condition(names, depth + 1)}};
        Condition joined{.op = d < 70 ? Op::all : Op::any};
        for (std::size_t i = 2 + draw(2); i > 0; --i) joined.parts.push_back(condition(names, depth + 1));
        return joined;
    }

private:
    Condition test(const std::vector<std::string>& names) {
        static const std::vector<std::string> groups = {"g", "g/h", "/", "nope"};
        static const std::vector<std::string> kinds = {"value", "array", "group"};
        static const std::vector<std::string> globs = {"*", "**", "a*",   "*b",  "g/*", "**1",
                                                       "?", "v?", "g/**", "a**", ""};
        static const std::vector<Op> comparisons = {Op::equal,   Op::differs, Op::less,
                                                    Op::at_most, Op::greater, Op::at_least};
        query_model::Key key;
        const std::size_t k = draw(100);
        key.is_attribute = k >= 30;
        if (k < 10)
            key.parts = {"name"};
        else if (k < 14)
            key.parts = {"kind"};
        else if (k < 18)
            key.parts = {"group"};
        else
            key.parts = {k < 30 ? "value" : attribute()};
        const bool is_text = k < 18;
        key.is_marked = !key.is_attribute && chance(50);
        const bool fits = !is_text || key.is_marked || chance(90);
        for (std::size_t i = is_text ? 0 : std::array<std::size_t, 6>{0, 0, 0, 1, 1, 2}[draw(6)]; i > 0; --i)
            key.parts.push_back(member());
        const auto literal = [&]() -> Json {
            if (!fits) return chance(50) ? number() : Json("arry");
            if (k < 10) return chance(60) ? one_of(names) : text();
            if (k < 14) return one_of(kinds);
            if (k < 18) return one_of(groups);
            return this->literal();
        };
        const std::size_t d = draw(100);
        if (d < 45) return {.op = one_of(comparisons), .key = key, .literals = {literal()}};
        if (d < 55) return {.op = Op::between, .key = key, .literals = {literal(), literal()}};
        if (d < 65) {
            Condition test{.op = Op::one_of, .key = key};
            for (std::size_t i = 1 + draw(3); i > 0; --i) test.literals.push_back(literal());
            return test;
        }
        if (d < 75) return {.op = Op::exists, .key = key};
        if (d < 80) return {.op = Op::under, .literals = {one_of(groups)}};
        if (d < 88) return {.op = Op::glob, .key = key, .literals = {one_of(globs)}};
        return {.op = d < 94 ? Op::contains : Op::begins,
                .key = key,
                .literals = {chance(20)   ? "v"
                             : chance(20) ? "g/"
                                          : text()}};
    }

    std::mt19937 random_;
    bool names_like_words_;
};

}  // namespace pmemcpy::query_model
