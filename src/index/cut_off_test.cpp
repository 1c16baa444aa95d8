// An index of which somebody cuts off the file while processes have it mapped.

#include "index/index_suite.hpp"

namespace pmemcpy {
namespace {

// The process ended by a signal, at the next query or when it closed the pool.
TEST_F(index_beside_a_pool, is_made_anew_when_its_file_is_cut_off_while_it_is_open) {
    for (const std::uint64_t keep : {std::uint64_t{0}, std::uint64_t{4096}}) {
        PMEM pool = open(IndexMode::async);
        for (int i = 0; i < 200; ++i) pool.store("v" + std::to_string(i), i);
        flush_index(pool);
        EXPECT_EQ(found(pool, "value = 1").size(), 1U);
        std::filesystem::resize_file(generation() + "/tree", keep);
        EXPECT_EQ(found(pool, "value = 2").size(), 1U);
        pool.store("more", 2);
        flush_index(pool);
        EXPECT_EQ(found(pool, "value = 2").size(), 2U);
        std::filesystem::resize_file(generation() + "/tree", keep);
        pool.munmap();
        pool = open();
        EXPECT_EQ(found(pool, "value = 2").size(), 2U);
        pool.erase("more");
    }
}

}  // namespace
}  // namespace pmemcpy
