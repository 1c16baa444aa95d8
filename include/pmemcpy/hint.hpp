#pragma once

#include <cstdint>
#include <pmemcpy/codec.hpp>

namespace pmemcpy {

/// Operations as bits of a mask, in the order in which they are done. docs/operations.md has each.
namespace operation {

inline constexpr std::uint32_t decompress = 1U << 0;  ///< in place: blocks are stored raw
inline constexpr std::uint32_t minimum = 1U
                                         << 1;  ///< `u.min`, as are those below of the array as it was stored
inline constexpr std::uint32_t maximum = 1U << 2;    ///< `u.max`
inline constexpr std::uint32_t sum = 1U << 3;        ///< `u.sum`
inline constexpr std::uint32_t histogram = 1U << 4;  ///< `u.histogram`
inline constexpr std::uint32_t deduplicate = 1U
                                             << 5;  ///< `u.unique`: each element once, the first of its like
inline constexpr std::uint32_t sort = 1U << 6;      ///< `u.sorted`
inline constexpr std::uint32_t compress =
    1U << 7;  ///< what the operations before have made; if none has, the array, in place
inline constexpr std::uint32_t persist =
    1U << 8;  ///< the same: flushed to the flush target; without a hierarchy, synced

/// The 16 bits of registered functions, which are called between `sort` and `compress`.
inline constexpr int first_registered = 16;
inline constexpr int most_registered = 16;
constexpr std::uint32_t registered(int number) { return 1U << (first_registered + number); }

}  // namespace operation

/// What is to be done with a variable, whenever something has been stored into it.
/// Source: Hermes (Kougkas, Devarakonda, Sun; HPDC 2018), section 3.1.1, active buffering.
struct Hint {
    std::uint32_t mask = 0;                     ///< of operations; 0: nothing
    std::uint32_t bins = 64;                    ///< of a histogram
    Codec codec = {Codec::Kind::lz4, 5, true};  ///< to compress with

    friend bool operator==(const Hint&, const Hint&) = default;
};

}  // namespace pmemcpy
