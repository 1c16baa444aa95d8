// The limits that must hold. What takes minutes or gigabytes runs with PMEMCPY_LONG=1.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <pmemcpy/pmemcpy.hpp>
#include <random>
#include <string>
#include <vector>

#include "pool_suite.hpp"

namespace pmemcpy::conformance {
namespace {

PMEMCPY_SUITE(limits);

bool is_long() { return std::getenv("PMEMCPY_LONG") != nullptr; }

// Of the processor, which others do not lengthen.
double seconds_of(const std::function<void()>& work) {
    const std::clock_t begin = std::clock();
    work();
    return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
}

// Seconds are no judge of correctness: these bounds, ten times what a slow machine takes, only catch work that grows where it must not.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr double patience = 20;
constexpr int most_variables = 20'000;
constexpr std::uint64_t most_blocks = 5'000;
#else
constexpr double patience = 1;
constexpr int most_variables = 1'000'000;
constexpr std::uint64_t most_blocks = 100'000;
#endif

TEST_P(limits, ids_of_four_thousand_and_ninety_six_bytes) {
    open();
    for (int i = 0; i < 100; ++i) {
        std::string id(4096, 'x');
        id.replace(0, 3, std::to_string(100 + i));
        pmem.store(id, i);
        pmem.alloc<int>(id.substr(0, 4090) + "/array", Dimensions{4});
    }
    EXPECT_EQ(pmem.ids().size(), 200u);
    std::string id(4096, 'x');
    id.replace(0, 3, "150");
    EXPECT_EQ(pmem.load<int>(id), 50);
    pmem.rename(id, std::string(4096, 'y'));
    EXPECT_EQ(pmem.load<int>(std::string(4096, 'y')), 50);
}

TEST_P(limits, a_million_variables_open_at_once) {
    // The catalog is the same one in both layouts; in a directory each block is a file.
    const int many = is_long() ? 10 * most_variables : most_variables;
    const int some_variables = GetParam() == Layout::file ? many : most_variables / 20;
    Options large = options();
    large.max_bytes = is_long() ? 16ULL << 30 : 4ULL << 30;
    large.chunk_bytes = 0;
    pmem.mmap(path(), large);
    const double storing = seconds_of([&] {
        for (int i = 0; i < some_variables; ++i) pmem.store("variable " + std::to_string(i), i);
    });
    double loading = seconds_of([&] {
        for (int i = 0; i < some_variables; ++i)
            ASSERT_EQ(pmem.load<int>("variable " + std::to_string(i)), i);
    });
    EXPECT_EQ(pmem.info().variables, static_cast<std::uint64_t>(some_variables));
    const double closing = seconds_of([&] { pmem.munmap(); });
    const double opening = seconds_of([&] { pmem.mmap(path(), large); });
    std::printf("%d variables: stored in %.2f s, loaded in %.2f s, closed in %.1f ms, opened in %.2f ms\n",
                some_variables, storing, loading, closing * 1e3, opening * 1e3);
    EXPECT_LT(opening, 0.2 * patience);
    EXPECT_EQ(pmem.load<int>("variable 345"), 345);
    pmem.munmap();
    in_killed_process([](PMEM& own) { own.store("last", 1); });
    const double recovering = seconds_of([&] { pmem.mmap(path(), large); });
    std::printf("recovered by a scan in %.2f s\n", recovering);
    EXPECT_EQ(pmem.info().variables, static_cast<std::uint64_t>(some_variables) + 1);
    EXPECT_EQ(pmem.load<int>("variable 345"), 345);
}

TEST_P(limits, a_hundred_thousand_blocks_in_one_variable) {
    const std::uint64_t some_blocks = GetParam() == Layout::file ? most_blocks : most_blocks / 20;
    Options large = options();
    large.max_bytes = 1ULL << 30;
    large.chunk_bytes = 0;
    pmem.mmap(path(), large);
    pmem.alloc<double>("A", Dimensions{some_blocks, 4});
    const double storing = seconds_of([&] {
        for (std::uint64_t i = 0; i < some_blocks; ++i) {
            const double row[] = {static_cast<double>(i), 1, 2, 3};
            pmem.store<double>("A", row, Box{{i, 0}, {1, 4}});
        }
    });
    const auto load_some = [&] {
        std::mt19937 random(5);
        for (int i = 0; i < 1000; ++i) {
            const std::uint64_t row = random() % (some_blocks - 10);
            double found[40];
            pmem.load<double>("A", found, Box{{row, 0}, {10, 4}});
            ASSERT_EQ(found[0], static_cast<double>(row));
            ASSERT_EQ(found[36], static_cast<double>(row + 9));
        }
    };
    const double loading = seconds_of(load_some);
    std::vector<double> whole(4 * some_blocks);
    const double at_once = seconds_of([&] {
        pmem.load<double>("A", whole.data(), Box{{0, 0}, {some_blocks, 4}});
    });
    for (std::uint64_t i = 0; i < some_blocks; ++i) ASSERT_EQ(whole[4 * i], static_cast<double>(i));
    reopen(large);
    const double first = seconds_of([&] { pmem.load<double>("A", whole.data(), Box{{0, 0}, {1, 4}}); });
    std::printf(
        "%lu blocks: stored in %.2f s, 1000 loads of 10 rows in %.3f s, all at once in %.3f s, first load "
        "after "
        "opening in %.3f s\n",
        static_cast<unsigned long>(some_blocks), storing, loading, at_once, first);
    EXPECT_LT(storing, 200 * patience);
    EXPECT_LT(loading, 5 * patience);
    EXPECT_LT(at_once, 10 * patience);
    EXPECT_EQ(pmem.blocks("A").size(), some_blocks);
    EXPECT_EQ(pmem.info("A").blocks, some_blocks);
    pmem.erase("A");
    pmem.compact();
    EXPECT_EQ(pmem.info().data_bytes, 0u);
}

TEST_P(limits, every_chunk_size) {
    for (const std::uint64_t chunk : {4ULL << 10, 64ULL << 10, 2ULL << 20, 8ULL << 20}) {
        SCOPED_TRACE(chunk);
        Options chosen = options();
        chosen.chunk_bytes = chunk;
        chosen.max_bytes = std::max<std::uint64_t>(chosen.max_bytes, 40 * chunk);
        const std::string name = path("chunks of " + std::to_string(chunk));
        pmem.mmap(name, chosen);
        for (std::size_t bytes = 1; bytes < (4U << 20); bytes = 3 * bytes + 1) {
            pmem.store("v" + std::to_string(bytes), std::string(bytes, 'v'));
        }
        pmem.alloc<int>("A", Dimensions{1000, 100});
        for (std::uint64_t i = 0; i < 1000; ++i)
            pmem.store<int>("A", std::vector<int>(100, static_cast<int>(i)).data(), Box{{i, 0}, {1, 100}});
        pmem.munmap();
        pmem.mmap(name, chosen);
        for (std::size_t bytes = 1; bytes < (4U << 20); bytes = 3 * bytes + 1) {
            EXPECT_EQ(pmem.load<std::string>("v" + std::to_string(bytes)), std::string(bytes, 'v'));
        }
        int last = 0;
        pmem.load<int>("A", &last, Box{{999, 99}, {1, 1}});
        EXPECT_EQ(last, 999);
        pmem.munmap();
    }
}

TEST_P(limits, an_id_too_long_for_the_smallest_chunks_is_refused) {
    Options tiny = options();
    tiny.chunk_bytes = 4096;
    pmem.mmap(path(), tiny);
    expect_error(Code::invalid_argument, [&] { pmem.store(std::string(4000, 'x'), 1); }, {"chunks"});
    pmem.store(std::string(1000, 'x'), 1);
    EXPECT_EQ(pmem.ids().size(), 1u);
}

TEST_P(limits, arrays_of_more_than_four_gibibytes) {
    if (!is_long()) GTEST_SKIP() << "takes 5 GiB of memory; PMEMCPY_LONG=1 runs it";
    Options large = options();
    large.max_bytes = 8ULL << 30;
    large.chunk_bytes = 0;
    pmem.mmap(path(), large);
    constexpr std::uint64_t n = 5ULL << 30;
    ArrayOptions contiguous;
    contiguous.contiguous = true;
    pmem.alloc<char>("large", Dimensions{n}, contiguous);
    auto view = pmem.update<char>("large");
    EXPECT_EQ(view.size(), n);
    view[n - 1] = 'z';
    view[(1ULL << 32) + 1] = 'y';
    char found[2] = {};
    pmem.load<char>("large", found, Selection({(1ULL << 32) + 1}, {2}, {n - 1 - (1ULL << 32) - 1}));
    EXPECT_EQ(found[0], 'y');
    EXPECT_EQ(found[1], 'z');
    pmem.freeze("large");
    EXPECT_TRUE(pmem.verify().empty());
}

TEST_P(limits, an_array_larger_than_the_pool_may_be_stored_in_part) {
    open();
    constexpr std::uint64_t edge = 1ULL << 30;
    pmem.alloc<double>("sparse", Dimensions{edge, edge}, ArrayOptions{}.fill(0.5));
    const double data[] = {1, 2, 3, 4};
    pmem.store<double>("sparse", data, Box{{edge - 2, edge - 2}, {2, 2}});
    double found[9] = {};
    pmem.load<double>("sparse", found, Box{{edge - 3, edge - 3}, {3, 3}});
    const double expected[] = {0.5, 0.5, 0.5, 0.5, 1, 2, 0.5, 3, 4};
    EXPECT_TRUE(std::equal(found, found + 9, expected));
    EXPECT_EQ(pmem.info("sparse").bytes, edge * edge * 8);
}

}  // namespace
}  // namespace pmemcpy::conformance
