// The stand-in's index finds what is there: a rival that answers wrongly would be no rival.

#include "postings.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace mosiqs {
namespace {

using Ids = std::vector<std::string>;

Postings three_objects(bool is_made) {
    Postings postings(is_made);
    for (const char* name : {"9610/Inf", "9610/Time", "0001/Inf"}) {
        const std::uint32_t object = postings.add_object(name[0] == '9' ? "GLAH_1" : "GLAH_2", name);
        postings.add(object, "units", std::string(name[5] == 'I' ? "K" : "s"));
        postings.add(object, "rank", static_cast<std::int64_t>(object));
    }
    postings.add_group("GLAH_1", 37);
    return postings;
}

template <class Ask>
Ids sorted(const Ask& ask) {
    Ids ids;
    ask(ids);
    std::sort(ids.begin(), ids.end());
    return ids;
}

TEST(postings, finds_values_and_ranges) {
    const Postings postings = three_objects(false);
    EXPECT_EQ(sorted([&](Ids& ids) { postings.equal("units", std::string("K"), ids); }),
              (Ids{"GLAH_1/9610/Inf", "GLAH_2/0001/Inf"}));
    EXPECT_EQ(sorted([&](Ids& ids) { postings.equal("rank", std::int64_t{1}, ids); }),
              Ids{"GLAH_1/9610/Time"});
    EXPECT_EQ(sorted([&](Ids& ids) { postings.between("rank", 1, 2, ids); }).size(), 2u);
    EXPECT_EQ(sorted([&](Ids& ids) { postings.equal("nobody", 1.0, ids); }), Ids{});
}

TEST(postings, finds_text_in_names_and_groups_with_and_without_lists_made_for_it) {
    for (const bool is_made : {false, true}) {
        const Postings postings = three_objects(is_made);
        EXPECT_EQ(sorted([&](Ids& ids) { postings.containing("9610/Inf", ids); }), Ids{"GLAH_1/9610/Inf"});
        EXPECT_EQ(sorted([&](Ids& ids) { postings.containing("Inf", ids); }).size(), 2u);
        EXPECT_EQ(sorted([&](Ids& ids) { postings.containing("Inf\nGLAH", ids); }), Ids{});
        EXPECT_EQ(sorted([&](Ids& ids) { postings.containing("11", ids); }), Ids{});
        EXPECT_EQ(sorted([&](Ids& ids) { postings.containing("H_", ids); }).size(), 3u);
        EXPECT_EQ(sorted([&](Ids& ids) { postings.members("GLAH_1", ids); }),
                  (Ids{"GLAH_1/9610/Inf", "GLAH_1/9610/Time"}));
        EXPECT_EQ(sorted([&](Ids& ids) { postings.members("GLAH", ids); }), Ids{});
    }
}

TEST(postings, counts_the_attributes_of_a_group_where_it_was_made_for_it) {
    EXPECT_EQ(three_objects(true).count_attributes("GLAH_1"), 37u);
    EXPECT_EQ(three_objects(true).count_attributes("GLAH_2"), 0u);
    EXPECT_EQ(three_objects(false).count_attributes("GLAH_1"), std::nullopt);
}

}  // namespace
}  // namespace mosiqs
