#include "cli/element/leaf.hpp"

#include <gtest/gtest.h>

using namespace pmemcpy;
using namespace pmemcpy::cli;

namespace {

struct Inner {
    std::int16_t a;
    float at[2];
};

struct Outer {
    double x;
    Inner inner[2];
};

std::vector<std::string> names(const Type& type) {
    std::vector<std::string> found;
    for (const Leaf& leaf : leaves_of(type)) found.push_back(leaf.name);
    return found;
}

}  // namespace

PMEMCPY_STRUCT(Inner, a, at);
PMEMCPY_STRUCT(Outer, x, inner);

TEST(cli_leaf, a_number_is_its_own) {
    const auto leaves = leaves_of(type_of<double>());
    ASSERT_EQ(leaves.size(), 1U);
    EXPECT_EQ(leaves[0].field, "value");
    EXPECT_EQ(leaves[0].name, "value");
    EXPECT_EQ(leaves[0].offset, 0U);
    EXPECT_EQ(leaves[0].type, type_of<double>());
}

TEST(cli_leaf, structures_and_arrays_end_in_leaves) {
    const auto leaves = leaves_of(type_of<Outer>());
    EXPECT_EQ(names(type_of<Outer>()),
              (std::vector<std::string>{"x", "inner[0].a", "inner[0].at[0]", "inner[0].at[1]", "inner[1].a",
                                        "inner[1].at[0]", "inner[1].at[1]"}));
    ASSERT_EQ(leaves.size(), 7U);
    EXPECT_EQ(leaves[5].field, "inner.at");
    EXPECT_EQ(leaves[5].offset, offsetof(Outer, inner) + sizeof(Inner) + offsetof(Inner, at));
    EXPECT_EQ(leaves[5].type, type_of<float>());
}

TEST(cli_leaf, arrays_without_a_structure_have_indices) {
    EXPECT_EQ(names(Type::array(type_of<std::int8_t>(), {2, 2})),
              (std::vector<std::string>{"value[0][0]", "value[0][1]", "value[1][0]", "value[1][1]"}));
    EXPECT_EQ(leaves_of(Type::array(type_of<Inner>(), {2})).back().name, "value[1].at[1]");
    EXPECT_EQ(leaves_of(Type::array(type_of<Inner>(), {2})).back().field, "at");
}

TEST(cli_leaf, text_is_one) {
    EXPECT_EQ(names(Type::fixed_string(8)), std::vector<std::string>{"value"});
    EXPECT_EQ(names(Type::string()), std::vector<std::string>{"value"});
}
