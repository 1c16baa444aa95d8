#pragma once

#include <pmemcpy/pmemcpy.hpp>

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

namespace pmemcpy {

inline constexpr std::uint64_t mebibyte = 1 << 20;

// What the tests of targets store: a block of a mebibyte, in which no number is another's.
inline constexpr std::uint64_t numbers_in_block = mebibyte / sizeof(double);
inline std::vector<double> numbers(double first, std::uint64_t count = numbers_in_block) {
    std::vector<double> values(count);
    std::iota(values.begin(), values.end(), first);
    return values;
}

/// How many blocks of a variable lie in a target; "" is the pool.
inline std::size_t count_in(const PMEM& pool, const std::string& id, const std::string& target) {
    std::size_t count = 0;
    for (const BlockInfo& block : pool.blocks(id)) count += block.target == target ? 1U : 0U;
    return count;
}

}  // namespace pmemcpy
