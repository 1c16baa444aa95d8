#pragma once

#include <cstdint>
#include <vector>

namespace machine {

/// What a call stores, under an id of the process that stores it. `tail` is a row appended to an array.
enum class Kind { value, row, tail, step };

/// One unit of the promise: what one call, or one step, stores.
struct Unit {
    Kind kind = Kind::value;
    std::uint64_t first = 0;  ///< of the rows; else which one
    std::uint64_t count = 1;
    std::uint64_t state = 0;  ///< grows from unit to unit of a process; no two have the same
};

inline constexpr std::uint64_t values = 8, rows = 6, columns = 48, longest_tail = 300;

/// Every fifth state of a value is that it is erased. Absent is 0.
inline std::uint64_t shown(Kind kind, std::uint64_t state) {
    return kind == Kind::value && state % 5 == 0 ? 0 : state;
}

using Words = std::vector<std::uint64_t>;

/// The bytes of a unit, or of one of its rows: the state, then words that depend on whose and which it is.
inline Words content(std::uint64_t who, Kind kind, std::uint64_t index, std::uint64_t state,
                     std::uint64_t length) {
    const std::uint64_t mark =
        who << 56 ^ static_cast<std::uint64_t>(kind) << 48 ^ index << 32 ^ length << 16;
    Words words(length, state);
    for (std::uint64_t i = 1; i < length; ++i) words[i] = mark ^ i ^ state * 0x9e3779b97f4a7c15U;
    return words;
}

/// Of a value: most lie in their record, some in a slab, a few take chunks of their own.
inline std::uint64_t length_of(std::uint64_t state) {
    return 1 + state * 7919 % (state % 11 == 0 ? 20'000 : state % 3 == 0 ? 600 : 60);
}

}  // namespace machine
