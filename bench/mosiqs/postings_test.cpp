// The stand-in's index finds what is there: a rival that answers wrongly would be no rival.

#include "postings.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace mosiqs {
namespace {

using Ids = std::vector<std::string>;

Postings three_objects() {
    Postings postings;
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
    const Postings postings = three_objects();
    EXPECT_EQ(sorted([&](Ids& ids) { postings.equal("units", std::string("K"), ids); }),
              (Ids{"GLAH_1/9610/Inf", "GLAH_2/0001/Inf"}));
    EXPECT_EQ(sorted([&](Ids& ids) { postings.equal("rank", std::int64_t{1}, ids); }),
              Ids{"GLAH_1/9610/Time"});
    EXPECT_EQ(sorted([&](Ids& ids) { postings.between("rank", 1, 2, ids); }).size(), 2u);
    EXPECT_EQ(sorted([&](Ids& ids) { postings.equal("nobody", 1.0, ids); }), Ids{});
}

TEST(postings, finds_text_in_names_with_and_without_trigrams) {
    Postings postings = three_objects();
    for (int round = 0; round < 2; ++round) {
        EXPECT_EQ(sorted([&](Ids& ids) { postings.containing("9610/Inf", ids); }), Ids{"GLAH_1/9610/Inf"});
        EXPECT_EQ(sorted([&](Ids& ids) { postings.containing("Inf", ids); }).size(), 2u);
        EXPECT_EQ(sorted([&](Ids& ids) { postings.containing("Inf\nGLAH", ids); }), Ids{});
        EXPECT_EQ(sorted([&](Ids& ids) { postings.containing("11", ids); }), Ids{});
        EXPECT_EQ(sorted([&](Ids& ids) { postings.containing("H_", ids); }).size(), 3u);
        postings.index_names();
    }
}

TEST(postings, knows_groups) {
    const Postings postings = three_objects();
    EXPECT_EQ(sorted([&](Ids& ids) { postings.members("GLAH_1", ids); }),
              (Ids{"GLAH_1/9610/Inf", "GLAH_1/9610/Time"}));
    EXPECT_EQ(postings.count_attributes("GLAH_1"), 37u);
    EXPECT_EQ(postings.count_attributes("GLAH_2"), 0u);
}

}  // namespace
}  // namespace mosiqs
