// What is made up has what the questions ask for.

#include <gtest/gtest.h>

#include <set>

#include "granules.hpp"
#include "records.hpp"

namespace mosiqs {
namespace {

TEST(granules, have_the_paper_s_names_at_any_scale) {
    for (const std::uint64_t files : {std::uint64_t{4}, std::uint64_t{41}, Granules::files_in_all}) {
        const Granules granules(files);
        std::set<std::string> groups;
        std::uint64_t asked = 0;
        for (std::uint64_t file = 0; file < files; ++file) {
            groups.insert(granules.group(file));
            for (std::uint64_t object = 0; object < Granules::objects_of_a_file; ++object)
                asked += granules.name(file, object) == Granules::asked_text;
        }
        EXPECT_EQ(groups.size(), files);
        EXPECT_TRUE(groups.contains(Granules::asked_group));
        EXPECT_GE(asked, 1u);
        EXPECT_LE(asked, 1 + files * Granules::tracks / 10'000);
    }
}

TEST(granules, have_no_name_twice_in_a_file_and_37_attributes_each) {
    const Granules granules(4);
    std::set<std::string> names;
    for (std::uint64_t object = 0; object < Granules::objects_of_a_file; ++object)
        names.insert(granules.name(3, object));
    EXPECT_EQ(names.size(), Granules::objects_of_a_file);
    std::set<std::string> keys;
    for (const Attribute& attribute : granules.attributes(3, 7)) keys.insert(attribute.key);
    EXPECT_EQ(keys.size(), 37u);
    EXPECT_THROW(Granules(3), std::invalid_argument);
    EXPECT_THROW(Granules(5000), std::invalid_argument);
}

TEST(records, have_each_serial_label_and_rank_once) {
    const Records records(5000);
    std::set<std::int64_t> serials;
    std::set<std::uint64_t> ranks;
    std::set<std::string> labels;
    std::set<std::string> ids;
    for (std::uint64_t number = 0; number < records.count(); ++number) {
        serials.insert(records.serial(number));
        ranks.insert(records.energy_rank(number));
        labels.insert(records.label(number));
        ids.insert(records.id(number));
        EXPECT_EQ(records.attributes(number).size(), 10u);
    }
    EXPECT_EQ(serials.size(), 5000u);
    EXPECT_EQ(*serials.rbegin(), 4999);
    EXPECT_EQ(ranks.size(), 5000u);
    EXPECT_EQ(*ranks.rbegin(), 4999u);
    EXPECT_EQ(labels.size(), 5000u);
    EXPECT_EQ(ids.size(), 5000u);
    EXPECT_THROW(Records(10), std::invalid_argument);
}

}  // namespace
}  // namespace mosiqs
