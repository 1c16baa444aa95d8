#pragma once

#include <cstdint>
#include <pmemcpy/codec.hpp>

namespace pmemcpy {

/// Operations as bits of a mask, in the order in which they are done. docs/operations.md describes each.
namespace operation {

inline constexpr std::uint32_t decompress = 1U << 0;  ///< in place: stores the blocks raw
/// `u.min`; like the next three, of the array as it was stored
inline constexpr std::uint32_t minimum = 1U << 1;
inline constexpr std::uint32_t maximum = 1U << 2;    ///< `u.max`
inline constexpr std::uint32_t sum = 1U << 3;        ///< `u.sum`
inline constexpr std::uint32_t histogram = 1U << 4;  ///< `u.histogram`
/// `u.unique`: each element once, the first of equal ones
inline constexpr std::uint32_t deduplicate = 1U << 5;
inline constexpr std::uint32_t sort = 1U << 6;  ///< `u.sorted`
/// Compresses the result of the operations before it; without any, the array itself, in place.
inline constexpr std::uint32_t compress = 1U << 7;
/// Flushes the same to the flush target; syncs it in a pool without a hierarchy.
inline constexpr std::uint32_t persist = 1U << 8;

/// The 16 bits of registered functions, which are called between `sort` and `compress`.
inline constexpr int first_registered = 16;
inline constexpr int most_registered = 16;
constexpr std::uint32_t registered(int number) { return 1U << (first_registered + number); }

}  // namespace operation

/// Operations to apply to a variable whenever a process stores into it.
/// Source: Hermes (Kougkas, Devarakonda, Sun; HPDC 2018), section 3.1.1, active buffering.
struct Hint {
    std::uint32_t mask = 0;                     ///< the operations; 0: none
    std::uint32_t bins = 64;                    ///< of the histogram
    Codec codec = {Codec::Kind::lz4, 5, true};  ///< for `compress`

    friend bool operator==(const Hint&, const Hint&) = default;
};

}  // namespace pmemcpy
