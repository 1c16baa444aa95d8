#include "codec/blosc.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <pmemcpy/error.hpp>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "base/crc32c.hpp"
#include "codec/format.hpp"
#include "codec/mapped_memory.hpp"

namespace pmemcpy::codec {
namespace {

template <typename Action>
Code code_of(const Action& action) {
    try {
        action();
    } catch (const Error& error) {
        return error.kind();
    }
    return Code{0};
}

#ifdef PMEMCPY_HAVE_BLOSC

std::vector<std::byte> smooth(std::size_t size) {
    std::vector<std::byte> bytes(size);
    for (std::size_t i = 0; i + sizeof(double) <= size; i += sizeof(double)) {
        const double value = std::sin(static_cast<double>(i) / 1000);
        std::memcpy(bytes.data() + i, &value, sizeof value);
    }
    return bytes;
}

std::vector<std::byte> noise(std::size_t size) {
    std::mt19937_64 random(7);
    std::vector<std::byte> bytes(size);
    for (auto& byte : bytes) byte = static_cast<std::byte>(random());
    return bytes;
}

std::vector<std::byte> compressed(const Codec& codec, std::uint64_t element_size,
                                  std::span<const std::byte> raw,
                                  std::uint64_t frame_bytes = default_frame_bytes) {
    const GuardedBytes room(compressed_bound_bytes(raw.size(), element_size, frame_bytes));
    const auto size = compress(codec, element_size, raw, room.bytes(), frame_bytes);
    return {room.bytes().begin(), room.bytes().begin() + static_cast<std::ptrdiff_t>(size)};
}

void expect_round_trip(const Codec& codec, std::uint64_t element_size, std::span<const std::byte> raw,
                       std::uint64_t frame_bytes = default_frame_bytes) {
    const auto block = compressed(codec, element_size, raw, frame_bytes);
    const GuardedBytes loaded(raw.size());
    decompress(block, loaded.bytes());
    EXPECT_TRUE(std::equal(raw.begin(), raw.end(), loaded.bytes().begin(), loaded.bytes().end()))
        << to_string(codec);
}

TEST(blosc, every_kind_and_level_gives_back_what_it_was_given) {
    const auto raw = smooth(100000 * sizeof(double));
    for (const auto kind :
         {Codec::Kind::lz4, Codec::Kind::lz4hc, Codec::Kind::zstd, Codec::Kind::zlib, Codec::Kind::blosclz}) {
        ASSERT_TRUE(is_available(kind));
        for (const int level : {0, 1, 5, 9})
            for (const bool shuffle : {false, true})
                expect_round_trip({kind, level, shuffle}, sizeof(double), raw);
    }
}

TEST(blosc, smooth_data_gets_smaller_and_noise_stays_within_the_bound) {
    const auto raw = smooth(1 << 20);
    EXPECT_LT(compressed({Codec::Kind::zstd, 5, true}, 8, raw).size(), raw.size() * 3 / 4);
    const auto random = noise(1 << 20);
    EXPECT_LE(compressed({Codec::Kind::lz4, 9, true}, 8, random).size(),
              compressed_bound_bytes(random.size(), 8));
    expect_round_trip({Codec::Kind::lz4, 9, true}, 8, random);
}

TEST(blosc, sizes_of_elements_and_frames_need_not_fit) {
    const auto raw = smooth(3000);
    for (const std::uint64_t element : {1u, 3u, 8u, 250u, 300u, 1500u, 3000u})
        for (const std::uint64_t frame : {1u, 7u, 100u, 1000u, 3000u, 100000u})
            expect_round_trip({Codec::Kind::lz4, 5, true}, element, raw, frame);
}

TEST(blosc, an_empty_block_is_a_block) {
    const auto block = compressed({Codec::Kind::lz4, 5, true}, 8, {});
    EXPECT_EQ(inspect_compressed(block).frame_count, 0u);
    decompress(block, {});
}

TEST(blosc, a_block_says_what_it_is) {
    const auto raw = smooth(1000 * sizeof(double));
    const auto block = compressed({Codec::Kind::zstd, 3, false}, 8, raw, 1000);
    const CompressedInfo info = inspect_compressed(block);
    EXPECT_EQ(info.codec, (Codec{Codec::Kind::zstd, 3, false}));
    EXPECT_EQ(info.element_size_bytes, 8u);
    EXPECT_EQ(info.raw_size_bytes, raw.size());
    EXPECT_EQ(info.compressed_size_bytes, block.size());
    EXPECT_EQ(info.frame_count, 8u);
    EXPECT_EQ(info.frame_raw_bytes, 1000u);
}

// One element of 80 MB took as long as all of them.
TEST(blosc, a_range_reads_no_more_of_a_block_than_it_unpacks) {
    for (const auto& raw : {smooth(8 << 20), noise(8 << 20)}) {
        const auto block = compressed({Codec::Kind::zlib, 5, true}, 8, raw, 3 << 20);
        std::uint64_t fetched = 0;
        std::vector<std::byte> there(block.size(), std::byte{0xee});
        const Fetch fetch = [&](std::uint64_t offset, std::uint64_t bytes) {
            fetched += bytes;
            std::copy_n(block.begin() + static_cast<std::ptrdiff_t>(offset), bytes,
                        there.begin() + static_cast<std::ptrdiff_t>(offset));
        };
        for (const std::uint64_t at : {0ULL, (3ULL << 20) - 8, (8ULL << 20) - 8}) {
            fetched = 0;
            std::array<std::byte, 8> element{};
            decompress_range(there, at, element, fetch);
            EXPECT_TRUE(
                std::equal(element.begin(), element.end(), raw.begin() + static_cast<std::ptrdiff_t>(at)));
            EXPECT_LT(fetched, block.size() / 4);
            const RawRange with = unpacked_with(there, {at, 8}, fetch);
            EXPECT_LE(with.offset_bytes, at);
            EXPECT_GE(with.end(), at + 8);
            EXPECT_LE(with.bytes, 2U << 20);
            std::vector<std::byte> all(with.bytes);
            decompress_range(there, with.offset_bytes, all, fetch);
            EXPECT_TRUE(std::equal(all.begin(), all.end(),
                                   raw.begin() + static_cast<std::ptrdiff_t>(with.offset_bytes)));
        }
    }
}

TEST(blosc, any_range_of_elements_is_what_it_was) {
    const auto raw = smooth(20000 * sizeof(double));
    for (const auto kind : {Codec::Kind::lz4, Codec::Kind::zstd}) {
        const auto block = compressed({kind, 5, true}, 8, raw, 50000);
        std::mt19937 random(3);
        for (int round = 0; round < 200; ++round) {
            const std::size_t first = random() % 20001;
            const std::size_t count = random() % (20001 - first);
            const GuardedBytes part(count * 8);
            decompress_range(block, first * 8, part.bytes());
            EXPECT_TRUE(std::equal(part.bytes().begin(), part.bytes().end(),
                                   raw.begin() + static_cast<std::ptrdiff_t>(first * 8)));
        }
    }
}

TEST(blosc, a_range_outside_or_between_elements_is_refused) {
    const auto block = compressed({Codec::Kind::lz4, 5, true}, 8, smooth(800));
    std::vector<std::byte> to(16);
    EXPECT_EQ(code_of([&] { decompress_range(block, 792, to); }), Code::out_of_range);
    EXPECT_EQ(code_of([&] { decompress_range(block, ~std::uint64_t{7}, to); }), Code::out_of_range);
    EXPECT_EQ(code_of([&] { decompress_range(block, 4, to); }), Code::invalid_argument);
    EXPECT_EQ(code_of([&] { decompress(block, to); }), Code::invalid_argument);
}

TEST(blosc, what_cannot_be_compressed_so_is_refused) {
    const auto raw = smooth(800);
    std::vector<std::byte> room(2000);
    EXPECT_EQ(code_of([&] { compress({}, 8, raw, room); }), Code::invalid_argument);
    EXPECT_EQ(code_of([&] { compress({Codec::Kind::lz4, 10, true}, 8, raw, room); }), Code::invalid_argument);
    EXPECT_EQ(code_of([&] { compress({Codec::Kind::lz4, 5, true}, 0, raw, room); }), Code::invalid_argument);
    EXPECT_EQ(code_of([&] { compress({Codec::Kind::lz4, 5, true}, 7, raw, room); }), Code::invalid_argument);
    EXPECT_EQ(code_of([&] {
                  compress({Codec::Kind::lz4, 5, true}, 8, raw, std::span(room).first(800));
              }),
              Code::invalid_argument);
    EXPECT_EQ(code_of([&] { compress({Codec::Kind{77}, 5, true}, 8, raw, room); }), Code::unsupported);
}

TEST(blosc, every_truncation_is_corrupt) {
    const auto raw = smooth(8000);
    const auto block = compressed({Codec::Kind::lz4, 5, true}, 8, raw, 2000);
    const GuardedBytes to(raw.size());
    for (std::size_t size = 0; size < block.size(); ++size) {
        const GuardedBytes shorter(size);
        std::copy_n(block.begin(), size, shorter.bytes().begin());
        EXPECT_EQ(code_of([&] { decompress(shorter.bytes(), to.bytes()); }), Code::corrupt) << size;
    }
}

TEST(blosc, bytes_behind_the_block_do_not_matter) {
    const auto raw = smooth(8000);
    auto block = compressed({Codec::Kind::lz4, 5, true}, 8, raw);
    block.resize(block.size() + 100);
    std::vector<std::byte> to(raw.size());
    decompress(block, to);
    EXPECT_EQ(to, raw);
}

TEST(blosc, a_changed_header_or_table_is_corrupt) {
    const auto raw = smooth(8000);
    const auto block = compressed({Codec::Kind::lz4, 5, true}, 8, raw, 2000);
    std::vector<std::byte> to(raw.size());
    for (std::size_t at = 0; at < sizeof(CompressedHeader) + 4 * sizeof(FrameEntry); ++at) {
        auto changed = block;
        changed[at] ^= std::byte{0x10};
        EXPECT_EQ(code_of([&] { decompress(changed, to); }), Code::corrupt) << at;
    }
}

/// Someone who means harm computes checksums, too.
void reseal(std::span<std::byte> block) {
    CompressedHeader header;
    std::memcpy(&header, block.data(), sizeof header);
    const auto table = block.subspan(sizeof header);
    const auto table_bytes =
        header.frame_count > table.size() / sizeof(FrameEntry) ? 0 : header.frame_count * sizeof(FrameEntry);
    header.table_crc32c = base::crc32c(0, table.data(), table_bytes);
    header.header_crc32c = base::crc32c(0, &header, offsetof(CompressedHeader, header_crc32c));
    std::memcpy(block.data(), &header, sizeof header);
}

TEST(blosc, hostile_bytes_with_right_checksums_stay_inside_both_buffers) {
    const auto raw = smooth(40000);
    std::mt19937 random(11);
    int survived = 0;
    for (const auto kind :
         {Codec::Kind::lz4, Codec::Kind::lz4hc, Codec::Kind::zstd, Codec::Kind::zlib, Codec::Kind::blosclz}) {
        const auto block = compressed({kind, 5, true}, 8, raw, 10000);
        const GuardedBytes from(block.size());
        const GuardedBytes to(raw.size());
        const GuardedBytes part(1600);
        for (int round = 0; round < 3000; ++round) {
            std::copy(block.begin(), block.end(), from.bytes().begin());
            // Half of the rounds scribble where lengths are: header, table, and the head of the first frame.
            const std::size_t reach = round % 2 == 0 ? block.size() : sizeof(CompressedHeader) + 4 * 16 + 64;
            for (int change = 0; change < 3; ++change)
                from.bytes()[random() % reach] = static_cast<std::byte>(random());
            reseal(from.bytes());
            const Code whole = code_of([&] { decompress(from.bytes(), to.bytes()); });
            const Code range = code_of([&] { decompress_range(from.bytes(), 9600, part.bytes()); });
            for (const Code code : {whole, range})
                EXPECT_TRUE(code == Code{0} || code == Code::corrupt || code == Code::invalid_argument ||
                            code == Code::unsupported || code == Code::out_of_range);
            survived += whole == Code{0} ? 1 : 0;
        }
    }
    EXPECT_GT(survived, 0);  // else the scribbling never got past the header
}

TEST(blosc, a_block_beyond_two_gigabytes_of_frames_is_planned_in_frames) {
    const std::uint64_t raw = std::uint64_t{5} << 30;
    EXPECT_EQ(compressed_bound_bytes(raw, 8),
              raw + sizeof(CompressedHeader) + 80 * (sizeof(FrameEntry) + 16));
    EXPECT_EQ(code_of([] { compressed_bound_bytes(~std::uint64_t{0}, 1); }), Code::invalid_argument);
}

TEST(blosc, threads_compress_and_decompress_at_once) {
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([t] {
            const auto raw = smooth(static_cast<std::size_t>(50000 + 8000 * t));
            for (int round = 0; round < 10; ++round)
                expect_round_trip({round % 2 == 0 ? Codec::Kind::lz4 : Codec::Kind::zstd, 1 + t, true}, 8,
                                  raw, 20000);
        });
    for (auto& thread : threads) thread.join();
}

#else

TEST(blosc, a_build_without_it_says_how_to_get_one_with_it) {
    const std::vector<std::byte> raw(80);
    std::vector<std::byte> room(compressed_bound_bytes(80, 8));
    EXPECT_FALSE(is_available(Codec::Kind::lz4));
    try {
        compress({Codec::Kind::lz4, 5, true}, 8, raw, room);
        FAIL() << "no error";
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), Code::unsupported);
        EXPECT_NE(std::string(error.what()).find("PMEMCPY_HAVE_BLOSC"), std::string::npos) << error.what();
    }
    EXPECT_EQ(code_of([&] { decompress(room, room); }), Code::unsupported);
    EXPECT_EQ(code_of([&] { decompress_range(room, 0, room); }), Code::unsupported);
}

#endif

}  // namespace
}  // namespace pmemcpy::codec
