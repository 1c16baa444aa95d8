#include "base/crc32c.hpp"

#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace {

using pmemcpy::base::crc32c;
using pmemcpy::base::crc32c_by_table;
using pmemcpy::base::crc32c_combine;

std::vector<unsigned char> random_bytes(std::size_t size) {
    std::mt19937_64 random(size);
    std::vector<unsigned char> bytes(size);
    for (auto& byte : bytes) byte = static_cast<unsigned char>(random());
    return bytes;
}

// The vectors of RFC 3720, appendix B.4, and the customary check value.
TEST(base, crc32c_is_the_one_of_the_standard) {
    EXPECT_EQ(crc32c(0, "123456789", 9), 0xE3069283u);
    EXPECT_EQ(crc32c_by_table(0, "123456789", 9), 0xE3069283u);
    std::vector<unsigned char> bytes(32, 0);
    EXPECT_EQ(crc32c(0, bytes.data(), 32), 0x8A9136AAu);
    bytes.assign(32, 0xFF);
    EXPECT_EQ(crc32c(0, bytes.data(), 32), 0x62A8AB43u);
    EXPECT_EQ(crc32c(0, nullptr, 0), 0u);
}

TEST(base, crc32c_by_instruction_is_that_of_the_table_at_every_size_and_alignment) {
    const auto bytes = random_bytes(40'000);
    for (std::size_t size = 0; size < 2'000; ++size) {
        const std::size_t start = size % 17;
        ASSERT_EQ(crc32c(7, bytes.data() + start, size), crc32c_by_table(7, bytes.data() + start, size))
            << size;
    }
    for (std::size_t size = 12'200; size < 12'400; ++size) {
        ASSERT_EQ(crc32c(0, bytes.data() + 3, size), crc32c_by_table(0, bytes.data() + 3, size)) << size;
    }
    EXPECT_EQ(crc32c(0, bytes.data(), bytes.size()), crc32c_by_table(0, bytes.data(), bytes.size()));
}

TEST(base, crc32c_of_pieces_chains_and_combines) {
    const auto bytes = random_bytes(30'000);
    const std::uint32_t whole = crc32c(0, bytes.data(), bytes.size());
    for (const std::size_t cut : {0u, 1u, 8u, 4'096u, 12'288u, 29'999u, 30'000u}) {
        const std::uint32_t a = crc32c(0, bytes.data(), cut);
        const std::uint32_t b = crc32c(0, bytes.data() + cut, bytes.size() - cut);
        EXPECT_EQ(crc32c(a, bytes.data() + cut, bytes.size() - cut), whole);
        EXPECT_EQ(crc32c_combine(a, b, bytes.size() - cut), whole);
    }
}

}  // namespace
