// Compressed blocks: the same elements in less space, of an array or of one store.

#include <cmath>
#include <pmemcpy/pmemcpy.hpp>
#include <random>
#include <vector>

#include "pool_suite.hpp"

namespace pmemcpy::conformance {
namespace {

PMEMCPY_SUITE(codecs);

std::vector<double> smooth(std::size_t n) {
    std::vector<double> values(n);
    for (std::size_t i = 0; i < n; ++i) values[i] = std::round(1000 * std::sin(static_cast<double>(i) / 500));
    return values;
}

TEST_P(codecs, every_codec_gives_back_what_it_took) {
    open();
    if (!is_available(Codec::Kind::lz4)) GTEST_SKIP() << "no codec in this build";
    const auto data = smooth(50'000);
    for (const char* name :
         {"lz4", "lz4hc:9", "zstd", "zstd:1:noshuffle", "zlib:3", "blosclz:5", "lz4:0", "lz4:1:noshuffle"}) {
        SCOPED_TRACE(name);
        const Codec codec = parse_codec(name);
        if (!is_available(codec.kind)) continue;
        ArrayOptions options;
        options.codec = codec;
        const std::string id = std::string("by ") + name;
        pmem.alloc<double>(id, Dimensions{50'000}, options);
        pmem.store<double>(id, data.data(), Box{{0}, {50'000}});
        std::vector<double> back(50'000);
        pmem.load<double>(id, back.data(), Box{{0}, {50'000}});
        EXPECT_EQ(back, data);
        std::vector<double> some(100);
        pmem.load<double>(id, some.data(), Selection({7}, {100}, {400}));
        for (std::size_t i = 0; i < 100; ++i) EXPECT_EQ(some[i], data[7 + 400 * i]);
        const BlockInfo block = pmem.blocks(id).at(0);
        EXPECT_EQ(block.codec, codec.kind);
        EXPECT_EQ(block.bytes, 400'000u);
        if (codec.level > 0) {
            EXPECT_LT(block.stored_bytes, 300'000u);
        }
        EXPECT_EQ(block.min_as<double>(), -1000.0);
        EXPECT_EQ(block.max_as<double>(), 1000.0);
        EXPECT_EQ(pmem.info(id).codec, codec);
    }
    EXPECT_TRUE(pmem.verify().empty());
}

// What was unpacked for one element is kept for the next, and is no answer for the block that takes the place of this one.
TEST_P(codecs, single_elements_and_columns_of_a_large_block) {
    open();
    if (!is_available(Codec::Kind::zlib)) GTEST_SKIP() << "no codec in this build";
    constexpr std::size_t rows = 1000, columns = 2000;
    ArrayOptions options;
    options.codec = parse_codec("zlib:1");
    pmem.alloc<double>("a", Dimensions{rows, columns}, options);
    auto data = smooth(rows * columns);
    std::mt19937 random(1);
    for (int round = 0; round < 2; ++round) {
        pmem.store<double>("a", data.data(), Box{{0, 0}, {rows, columns}});
        for (int i = 0; i < 200; ++i) {
            const std::size_t row = random() % rows, column = random() % columns;
            double one = 0;
            pmem.load<double>("a", &one, Box{{row, column}, {1, 1}});
            ASSERT_EQ(one, data[row * columns + column]);
        }
        for (const Selection& wanted : {Selection({0, 7}, {rows, 1}), Selection({3, 0}, {40, 2}, {25, 1999}),
                                        Selection({999, 1999}, {1, 1}), Selection({0, 0}, {rows, columns})}) {
            std::vector<double> found(wanted.elements());
            pmem.load<double>("a", found.data(), wanted);
            std::size_t i = 0;
            for (std::size_t r = 0; r < wanted.count[0]; ++r) {
                for (std::size_t c = 0; c < wanted.count[1]; ++c) {
                    const std::size_t row = wanted.offset[0] + r * wanted.stride[0];
                    const std::size_t column = wanted.offset[1] + c * wanted.stride[1];
                    ASSERT_EQ(found[i++], data[row * columns + column]);
                }
            }
        }
        for (double& value : data) value = 1 - value;
    }
}

TEST_P(codecs, one_store_may_choose_its_own) {
    open();
    if (!is_available(Codec::Kind::zstd)) GTEST_SKIP() << "no codec in this build";
    const auto data = smooth(10'000);
    pmem.alloc<double>("A", Dimensions{20'000});
    pmem.store<double>("A", data.data(), Box{{0}, {10'000}}, parse_codec("zstd"));
    pmem.store<double>("A", data.data(), Box{{10'000}, {10'000}});
    const auto blocks = pmem.blocks("A");
    ASSERT_EQ(blocks.size(), 2u);
    EXPECT_EQ(blocks[0].codec, Codec::Kind::zstd);
    EXPECT_EQ(blocks[1].codec, Codec::Kind::none);
    std::vector<double> back(20'000);
    pmem.load<double>("A", back.data(), Box{{0}, {20'000}});
    EXPECT_TRUE(std::equal(data.begin(), data.end(), back.begin()));
    EXPECT_TRUE(std::equal(data.begin(), data.end(), back.begin() + 10'000));
}

TEST_P(codecs, noise_that_does_not_compress_is_kept_as_well) {
    open();
    if (!is_available(Codec::Kind::lz4)) GTEST_SKIP() << "no codec in this build";
    std::mt19937_64 random(1);
    std::vector<std::uint64_t> noise(100'000);
    for (auto& value : noise) value = random();
    ArrayOptions options;
    options.codec = parse_codec("lz4");
    pmem.alloc<std::uint64_t>("noise", Dimensions{100'000}, options);
    for (int i = 0; i < 200; ++i) pmem.store<std::uint64_t>("noise", noise.data(), Box{{0}, {100'000}});
    std::vector<std::uint64_t> back(100'000);
    pmem.load<std::uint64_t>("noise", back.data(), Box{{0}, {100'000}});
    EXPECT_EQ(back, noise);
}

TEST_P(codecs, compressed_arrays_take_less_of_the_pool) {
    open();
    if (!is_available(Codec::Kind::zstd)) GTEST_SKIP() << "no codec in this build";
    const std::vector<int> zeros(1 << 20);  // 4 MiB, and there would be room for 15 of them
    ArrayOptions options;
    options.codec = parse_codec("zstd");
    pmem.alloc<int>("A", Dimensions{100, 1 << 20}, options);
    for (std::uint64_t i = 0; i < 100; ++i) pmem.store<int>("A", zeros.data(), Box{{i, 0}, {1, 1 << 20}});
    EXPECT_EQ(pmem.info("A").bytes, 400ULL << 20);
    EXPECT_LT(pmem.info("A").stored_bytes, 8ULL << 20);
}

TEST_P(codecs, an_unknown_codec_lists_what_there_is) {
    expect_error(Code::invalid_argument, [] { parse_codec("brotli"); }, {"brotli", "zstd", "lz4"});
    expect_error(Code::invalid_argument, [] { parse_codec("zstd:99"); });
}

}  // namespace
}  // namespace pmemcpy::conformance
