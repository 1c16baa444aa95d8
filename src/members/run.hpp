#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>
#include <vector>

namespace pmemcpy::members {

/// Things next to each other.
struct Run {
    std::uint32_t first = 0;
    std::uint32_t count = 0;
    friend bool operator==(const Run&, const Run&) = default;
};

/// Puts a run behind others, and makes one of two that lie next to each other.
inline void append(std::vector<Run>& runs, const Run& run) {
    if (!runs.empty() && runs.back().first + runs.back().count == run.first) {
        runs.back().count += run.count;
    } else {
        runs.push_back(run);
    }
}

constexpr std::uint64_t bit(std::uint64_t i) { return std::uint64_t{1} << i; }

constexpr std::uint64_t low_bits(std::uint32_t n) { return n >= 64 ? ~std::uint64_t{0} : bit(n) - 1; }

/// Words of 64 bits that have a bit for each of so many things.
constexpr std::uint64_t bit_words(std::uint64_t count) { return (count + 63) / 64; }
constexpr std::uint64_t bytes_of_bits(std::uint64_t count) { return bit_words(count) * 8; }
/// In which of `words` the i-th of `of` places to begin is, in the process of this number. Far from each other: one that comes to where another
/// has begun follows it through all words.
constexpr std::uint64_t place_to_begin(std::uint64_t number, std::uint64_t i, std::uint64_t of,
                                       std::uint64_t words) {
    constexpr std::uint64_t golden_ratio = 0x9e3779b97f4a7c15;
    return (((number * golden_ratio >> 32) * words >> 32) + i * words / of) % words;
}

/// The lowest place where `n` bits in a row are set; nothing where there is none.
inline std::optional<unsigned> row_of(std::uint64_t bits, std::uint32_t n) {
    std::uint32_t have = 1;
    while (have < n && bits != 0) {
        const std::uint32_t more = std::min(have, n - have);
        bits &= bits >> more;
        have += more;
    }
    if (bits == 0) return std::nullopt;
    return static_cast<unsigned>(std::countr_zero(bits));
}

}  // namespace pmemcpy::members
