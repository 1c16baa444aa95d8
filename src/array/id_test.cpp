#include "array/id.hpp"

#include <algorithm>
#include <array>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include <pmemcpy/error.hpp>
#include <string>

#include "array/id_order.hpp"
#include "array/utf8.hpp"

namespace pmemcpy::array {
namespace {

std::string refused(std::string_view id) {
    try {
        validate_id(id);
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), Code::invalid_argument);
        return error.what();
    }
    ADD_FAILURE() << id << " was accepted";
    return {};
}

bool says(const std::string& message, const std::string& part) {
    return message.find(part) != std::string::npos;
}

TEST(id, of_the_grammar_is_accepted) {
    for (const std::string id : {"a", "a/b/c", "temp\xC3\xA9rature", "...", "a/.hidden", "..a", "a b",
                                 "x#dims", "\xF0\x9F\x8C\x8A/level 3"}) {
        EXPECT_NO_THROW(validate_id(id)) << id;
    }
    EXPECT_NO_THROW(validate_id(std::string(4096, 'x')));
}

TEST(id, outside_the_grammar_is_refused_with_reason_and_place) {
    EXPECT_TRUE(says(refused(""), "empty"));
    EXPECT_TRUE(says(refused(std::string(4097, 'x')), "4097"));
    EXPECT_TRUE(says(refused("/a"), "empty component (parts between `/`) at byte 0"));
    EXPECT_TRUE(says(refused("a/"), "at byte 2"));
    EXPECT_TRUE(says(refused("a//b"), "at byte 2"));
    EXPECT_TRUE(says(refused("/"), "empty component"));
    EXPECT_TRUE(says(refused("a/../b"), "`..` at byte 2"));
    EXPECT_TRUE(says(refused("."), "`.` at byte 0"));
    EXPECT_TRUE(says(refused(std::string("a\0b", 3)), "NUL at byte 1"));
    EXPECT_TRUE(says(refused("ab\xFF"), "UTF-8 at byte 2"));
}

TEST(id, with_the_reserved_suffix_is_for_reading_only) {
    EXPECT_THROW(validate_new_id("A#dims"), Error);
    EXPECT_NO_THROW(validate_new_id("A#dim"));
    EXPECT_EQ(variable_of_dims_id("g/A#dims"), "g/A");
    EXPECT_EQ(variable_of_dims_id("A"), "");
}

TEST(id, names_its_groups_and_its_last_component) {
    EXPECT_EQ(parents("a/b/c"), (std::vector<std::string_view>{"a", "a/b"}));
    EXPECT_TRUE(parents("a").empty());
    EXPECT_EQ(last_component("a/b/c"), "c");
    EXPECT_EQ(last_component("a"), "a");
}

TEST(utf8, takes_each_code_point_in_its_one_form_and_nothing_else) {
    // Encoded here by arithmetic, not by the table under test.
    for (std::uint32_t point = 0; point < 0x120000; point += point < 0x3000 ? 1 : 37) {
        std::string text;
        const auto push = [&](std::uint32_t byte) { text.push_back(static_cast<char>(byte)); };
        if (point < 0x80) {
            push(point);
        } else if (point < 0x800) {
            push(0xC0 | point >> 6);
        } else if (point < 0x10000) {
            push(0xE0 | point >> 12);
            push(0x80 | (point >> 6 & 0x3F));
        } else {
            push(0xF0 | point >> 18);
            push(0x80 | (point >> 12 & 0x3F));
            push(0x80 | (point >> 6 & 0x3F));
        }
        if (point >= 0x80) push(0x80 | (point & 0x3F));
        const bool valid = point < 0xD800 || (point > 0xDFFF && point < 0x110000);
        ASSERT_EQ(first_invalid_utf8("a" + text), valid ? std::string_view::npos : 1u) << std::hex << point;
        if (point >= 0x80) {
            ASSERT_EQ(first_invalid_utf8(text.substr(0, text.size() - 1)), 0u) << std::hex << point;
        }
    }
    for (const std::string overlong : {"\xC0\x80", "\xC1\xBF", "\xE0\x9F\xBF", "\xF0\x8F\xBF\xBF", "\x80"}) {
        EXPECT_EQ(first_invalid_utf8(overlong), 0u);
    }
}

TEST(id, many_are_sorted_as_texts_are) {
    std::mt19937 random(20261125);
    const auto draw = [&](std::size_t below) { return random() % below; };
    const std::array<std::string, 6> beginnings = {"",         "run",         "run/\xC3\xA9",
                                                   "run00000", "run00000000", "\xF0\x9F\x8C\x8A"};
    for (int round = 0; round < 2000; ++round) {
        const std::string& all_begin = beginnings[draw(beginnings.size())];
        std::vector<std::string> ids(draw(12));
        for (std::string& id : ids) {
            id = all_begin;
            for (std::size_t bytes = draw(12); bytes > 0; --bytes) id += "a\x7F\xC3\x01/0"[draw(6)];
        }
        std::vector<std::string> sorted = ids;
        std::sort(sorted.begin(), sorted.end());
        sort_by_id(ids, [](const std::string& id) { return std::string_view(id); });
        ASSERT_EQ(ids, sorted);
    }
}

}  // namespace
}  // namespace pmemcpy::array
