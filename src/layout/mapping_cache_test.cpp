#include "layout/mapping_cache.hpp"

#include <gtest/gtest.h>

#include <filesystem>

namespace pmemcpy::layout {
namespace {

MappingCache::Shared mapping_of(std::uint64_t bytes) {
    os::File file = os::File::create_unnamed(std::filesystem::temp_directory_path() / "unnamed", 0600);
    file.resize(bytes);
    return std::make_shared<const os::Mapping>(file, bytes);
}

TEST(mapping_cache, keeps_what_was_used_last) {
    MappingCache cache(2);
    cache.add(1, mapping_of(4096));
    cache.add(2, mapping_of(4096));
    EXPECT_NE(cache.find(1, 4096), nullptr);
    cache.add(3, mapping_of(4096));
    EXPECT_EQ(cache.size(), 2u);
    EXPECT_NE(cache.find(1, 4096), nullptr);
    EXPECT_EQ(cache.find(2, 4096), nullptr);
    EXPECT_NE(cache.find(3, 4096), nullptr);
}

TEST(mapping_cache, gives_no_mapping_that_is_too_short) {
    MappingCache cache(2);
    cache.add(1, mapping_of(4096));
    EXPECT_EQ(cache.find(1, 4097), nullptr);
    EXPECT_NE(cache.find(1, 100), nullptr);
}

TEST(mapping_cache, a_mapping_that_was_dropped_lives_as_long_as_somebody_holds_it) {
    MappingCache cache(1);
    cache.add(1, mapping_of(4096));
    const MappingCache::Shared held = cache.find(1, 1);
    cache.drop(1);
    cache.drop(1);
    EXPECT_EQ(cache.find(1, 1), nullptr);
    EXPECT_EQ(held->base()[4095], std::byte{0});
}

TEST(mapping_cache, a_walk_comes_by_all_of_it) {
    MappingCache cache(8);
    EXPECT_TRUE(cache.next(2).empty());
    for (std::uint64_t number = 1; number <= 3; ++number) cache.add(number, mapping_of(4096));
    EXPECT_EQ(cache.next(2), (std::vector<std::uint64_t>{1, 2}));
    EXPECT_EQ(cache.next(2), (std::vector<std::uint64_t>{3, 1}));
    EXPECT_EQ(cache.next(9).size(), 3u);
}

}  // namespace
}  // namespace pmemcpy::layout
