// Storing and loading copy between the program's memory and the pool, and through nothing else.

#include <algorithm>
#include <fstream>
#include <numeric>
#include <vector>

#include <sys/stat.h>

#include "pool_suite.hpp"

namespace pmemcpy::conformance {
namespace {

constexpr std::size_t gib = std::size_t{1} << 30;
constexpr std::size_t admitted = std::size_t{64} << 20;

std::size_t anonymous_bytes() {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);) {
        if (line.rfind("RssAnon:", 0) == 0) return std::stoull(line.substr(8)) * 1024;
    }
    return 0;
}

bool has_shadow_memory() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return true;
#else
    return false;
#endif
}

TEST(memory, an_object_of_1_gib_is_stored_and_loaded_without_a_second_copy_of_it) {
    if (has_shadow_memory()) GTEST_SKIP() << "a sanitizer's own memory hides what is measured here";
    const Folder directory;
    PMEM pmem;
    Options options;
    options.max_bytes = gib + gib / 4;
    pmem.mmap(directory / "big.pmem", options);
    std::vector<std::uint64_t> object(gib / sizeof(std::uint64_t));
    std::iota(object.begin(), object.end(), 1);
    const std::size_t before = anonymous_bytes();
    ASSERT_GT(before, gib) << "the object itself must be seen, or nothing is measured";
    pmem.store("object", object);
    EXPECT_LT(anonymous_bytes(), before + admitted) << "store";
    std::fill(object.begin(), object.end(), 0);
    pmem.load("object", object);
    EXPECT_LT(anonymous_bytes(), before + admitted) << "load";
    EXPECT_EQ(object.front(), 1U);
    EXPECT_EQ(object.back(), object.size());
}

// A pool of 24 GiB has a table of 24 MiB for its names. The first listing of a hundred names gave all of it memory, and took 0.2 s.
TEST(memory, listing_names_gives_the_holes_of_a_pool_no_memory) {
    const Folder directory;
    PMEM pmem;
    Options options;
    options.max_bytes = 16 * gib;
    pmem.mmap(directory / "sparse.pmem", options);
    for (int i = 0; i < 100; ++i) pmem.store("v" + std::to_string(i), i);
    const auto blocks = [&] {
        struct stat status {};
        return ::stat((directory / "sparse.pmem").c_str(), &status) == 0 ? status.st_blocks : 0;
    };
    const auto before = blocks();
    EXPECT_EQ(pmem.ids().size(), 100U);
    EXPECT_EQ(blocks(), before);
}

}  // namespace
}  // namespace pmemcpy::conformance
