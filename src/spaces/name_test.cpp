#include "spaces/name.hpp"

#include <gtest/gtest.h>

#include <pmemcpy/error.hpp>

namespace pmemcpy::spaces {
namespace {

std::string refusal(const std::string& path) {
    try {
        parse_reference(path);
        return "none";
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), Code::invalid_argument);
        return error.what();
    }
}

TEST(spaces_name, is_followed_by_a_colon_and_maybe_a_pool) {
    const auto shared = parse_reference("climate:");
    ASSERT_TRUE(shared);
    EXPECT_EQ(shared->space, "climate");
    EXPECT_EQ(shared->pool, "shared");
    const auto other = parse_reference("run_1.b-2:x.y");
    ASSERT_TRUE(other);
    EXPECT_EQ(other->space, "run_1.b-2");
    EXPECT_EQ(other->pool, "x.y");
}

TEST(spaces_name, is_no_plain_path) {
    for (const char* path : {"pool", "./a:", "/a:", "a/b:c", "a:b/c", ":", ":a", "a b:", ".a:", "-a:", "",
                             "http://a", "\xc3\xa4:"})
        EXPECT_FALSE(parse_reference(path)) << path;
    EXPECT_FALSE(parse_reference(std::string(65, 'a') + ":"));
    EXPECT_TRUE(parse_reference(std::string(64, 'a') + ":"));
}

// A new pool would get another name than was meant.
TEST(spaces_name, that_cannot_be_a_pools_is_an_error_that_tells_how_to_name_a_file) {
    for (const char* path :
         {"a:b:c", "a:b c", "a:.b", "a:x.pmem", "a:x.rt", "a:private", "a:private-li", "all:"})
        EXPECT_NE(refusal(path).find(std::string("'./") + path + "'"), std::string::npos) << refusal(path);
}

TEST(spaces_name, says_what_is_wrong_with_it) {
    const auto why = [](const std::string& name) -> std::string {
        try {
            check_namespace_name(name);
            return "nothing";
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), Code::invalid_argument);
            return error.what();
        }
    };
    EXPECT_EQ(why("climate"), "nothing");
    EXPECT_NE(why("").find("empty"), std::string::npos);
    EXPECT_NE(why("a/b").find("only letters"), std::string::npos);
    EXPECT_NE(why("..").find("begins with '.'"), std::string::npos);
    EXPECT_NE(why(".namespace").find("begins with '.'"), std::string::npos);
    EXPECT_NE(why(std::string(65, 'a')).find("65"), std::string::npos);
    EXPECT_NE(why("all").find("reserved"), std::string::npos);
    EXPECT_NE(why("https").find("reserved"), std::string::npos);
}

TEST(spaces_name, of_a_file_is_that_of_its_pool) {
    EXPECT_EQ(pool_of_file("shared.pmem"), "shared");
    EXPECT_EQ(pool_of_file("a.b.pmem"), "a.b");
    for (const char* file : {".pmem", "a.pmem.rt", "a", ".namespace", "a b.pmem"})
        EXPECT_FALSE(pool_of_file(file)) << file;
}

TEST(spaces_name, of_a_file_with_private_objects_has_that_of_its_pool) {
    EXPECT_EQ(pool_of_private_file("x.pmem.private-1000"), "x.pmem");
    EXPECT_EQ(pool_of_private_file("run.private-0.00ff"), "run");
    for (const char* file : {"x.pmem", "x.pmem.private-1000.rt", "x.pmem.private-1000.feed", ".private-1000"})
        EXPECT_FALSE(pool_of_private_file(file)) << file;
}

}  // namespace
}  // namespace pmemcpy::spaces
