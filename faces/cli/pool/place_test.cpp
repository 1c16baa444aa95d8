#include "cli/pool/place.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <pmemcpy/error.hpp>

#include "tests/folder.hpp"

using namespace pmemcpy;
using namespace pmemcpy::cli;

namespace {

class cli_place : public testing::Test {
protected:
    std::string file(const std::string& name) const {
        std::ofstream(folder_ / name) << "only its name counts here";
        return folder_ / name;
    }
    std::string missing(const std::string& name) const { return folder_ / name; }

private:
    Folder folder_;
};

}  // namespace

TEST_F(cli_place, is_a_pool_when_the_path_is_there) {
    const std::string pool = file("run.pmem");
    EXPECT_EQ(parse_place(pool).pool, pool);
    EXPECT_EQ(parse_place(pool).id, "");
    EXPECT_EQ(parse_place(pool + ":").id, "");
}

TEST_F(cli_place, is_an_id_behind_the_colon) {
    const std::string pool = file("run.pmem");
    const Place place = parse_place(pool + ":ocean/TEMP");
    EXPECT_EQ(place.pool, pool);
    EXPECT_EQ(place.id, "ocean/TEMP");
}

TEST_F(cli_place, knows_paths_and_ids_with_colons) {
    const std::string pool = file("run-12:30");
    EXPECT_EQ(parse_place(pool).pool, pool);
    EXPECT_EQ(parse_place(pool + ":u").pool, pool);
    EXPECT_EQ(parse_place(pool + ":u").id, "u");
    EXPECT_EQ(parse_place(pool + ":a:b:c").id, "a:b:c");
    // Where both the whole and a part of it are there, the whole was meant.
    file("run-12");
    EXPECT_EQ(parse_place(pool).id, "");
}

TEST_F(cli_place, says_where_it_has_looked) {
    try {
        parse_place(missing("none:u"));
        FAIL() << "there is no such pool";
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), Code::not_found);
        EXPECT_NE(std::string(error.what()).find("none:u"), std::string::npos);
        EXPECT_NE(std::string(error.what()).find("none'"), std::string::npos);
    }
    EXPECT_THROW(parse_place(""), Error);
    EXPECT_THROW(parse_place(":u"), Error);
}
