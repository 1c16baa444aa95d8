#pragma once

#include <cstdint>

namespace pmemcpy::members {

inline constexpr unsigned life_bits = 17;

/// One stay of a process in a seat. A life is told by its lowest bits, which come again after 2^17 lives of the seat: before that, Members sees
/// to it that no word names the seat. No process has life 0: what names it is nobody's.
struct Owner {
    std::uint32_t seat = 0;
    std::uint32_t life = 0;
    static constexpr std::uint32_t life_of(std::uint64_t lives) {
        return static_cast<std::uint32_t>(lives & ((std::uint64_t{1} << life_bits) - 1));
    }
    friend bool operator==(const Owner&, const Owner&) = default;
};

inline constexpr Owner nobody{};

/// What becomes of a thing that is shared, in one word, so that one CAS decides it: its state, a place that its room gives it, whose it is, and
/// its turn, which counts how often it was taken. The turn makes words differ that a slow process remembers.
struct Word {
    std::uint8_t state = 0;  // below 8; 0 is free
    std::uint8_t place = 0;  // below 4
    Owner owner{};
    std::uint32_t turn = 0;

    constexpr std::uint64_t packed() const {
        return std::uint64_t{turn} | std::uint64_t{owner.life} << 32 | std::uint64_t{owner.seat} << 49 |
               std::uint64_t{place} << 59 | std::uint64_t{state} << 61;
    }
    static constexpr Word of(std::uint64_t bits) {
        Word word;
        word.turn = static_cast<std::uint32_t>(bits);
        word.owner.life = static_cast<std::uint32_t>(bits >> 32) & ((1U << life_bits) - 1);
        word.owner.seat = static_cast<std::uint32_t>(bits >> 49) & 1023U;
        word.place = static_cast<std::uint8_t>(bits >> 59 & 3);
        word.state = static_cast<std::uint8_t>(bits >> 61);
        return word;
    }
    /// Those of a packed one that say whose it is.
    static constexpr std::uint64_t owner_bits() {
        return Word{.owner = {1023, (1U << life_bits) - 1}}.packed();
    }
    friend bool operator==(const Word&, const Word&) = default;
};

}  // namespace pmemcpy::members
