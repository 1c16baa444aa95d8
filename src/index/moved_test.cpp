// The index of an open pool is moved away, or the directory that the pool lies in.

#include "index/index_suite.hpp"

namespace pmemcpy {
namespace {

namespace fs = std::filesystem;

class index_that_is_moved : public index_beside_a_pool, public ::testing::WithParamInterface<IndexMode> {
protected:
    index_that_is_moved() {
        fs::create_directory(folder_ / "here");
        path_ = folder_ / "here/pool";
    }
};

// `flush_index` never ended: the process wrote into an index that nobody could find, and looked for it again.
TEST_P(index_that_is_moved, is_made_anew) {
    PMEM pool = open(GetParam());
    for (int i = 0; i < 60; ++i) pool.store("n" + std::to_string(i), i);
    flush_index(pool);
    fs::rename(path_ + ".idx", path_ + ".old");
    pool.store("x", 100);
    flush_index(pool);
    EXPECT_TRUE(is_there());
    EXPECT_EQ(found(pool, "value > 57"), (std::vector<std::string>{"n58", "n59", "x"}));
    EXPECT_TRUE(by_index(pool, "value > 57"));
    fs::rename(generation(), folder_ / "here/generation");
    pool.store("x", 101);
    flush_index(pool);
    EXPECT_EQ(found(pool, "value > 100"), (std::vector<std::string>{"x"}));
    EXPECT_TRUE(by_index(pool, "value > 100"));
}

TEST_P(index_that_is_moved, with_the_directory_of_its_pool_is_an_error_and_queries_go_on) {
    for (const bool is_another_there : {false, true}) {
        PMEM pool = open(GetParam());
        for (int i = 0; i < 60; ++i) pool.store("n" + std::to_string(i), i);
        flush_index(pool);
        fs::rename(folder_ / "here", folder_ / "there");
        if (is_another_there) {
            fs::create_directory(folder_ / "here");
            PMEM other = open(GetParam());
            other.store("other", 1000);
            flush_index(other);
        }
        pool.store("x", 100);
        expect(Code::busy, [&] { flush_index(pool); });
        EXPECT_NE(index_info(pool).trouble.find("moved"), std::string::npos) << index_info(pool).trouble;
        EXPECT_EQ(found(pool, "value > 57"), (std::vector<std::string>{"n58", "n59", "x"}));
        pool.munmap();
        if (is_another_there) {
            EXPECT_EQ(found(open(), "value > 57"), (std::vector<std::string>{"other"}));
            fs::remove_all(folder_ / "here");
        }
        fs::rename(folder_ / "there", folder_ / "here");
        pool = open();
        flush_index(pool);
        EXPECT_EQ(found(pool, "value > 57"), (std::vector<std::string>{"n58", "n59", "x"}));
        EXPECT_TRUE(by_index(pool, "value > 57"));
        pool.munmap();
        fs::remove_all(folder_ / "here");
        fs::create_directory(folder_ / "here");
    }
}

INSTANTIATE_TEST_SUITE_P(in, index_that_is_moved, ::testing::Values(IndexMode::async, IndexMode::sync),
                         [](const auto& one) { return std::string(name_of(one.param)); });

}  // namespace
}  // namespace pmemcpy
