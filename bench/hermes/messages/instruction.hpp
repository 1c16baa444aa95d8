#pragma once

#include <array>
#include <cstdint>
#include <stdexcept>

namespace pmemcpy::hermes {

/// What is sent: as large as the library's own messages, and like them a type, a priority and attributes.
struct Instruction {
    std::uint32_t type = 0;
    std::uint32_t priority = 0;
    std::array<std::uint64_t, 7> attributes{};
};
static_assert(sizeof(Instruction) == 64);

inline Instruction instruction(std::uint64_t number) { return {1, 0, {number, 1, 2, 3, 4, 5, ~number}}; }

/// Errors: std::runtime_error where it is none of instruction()'s.
inline void check(const Instruction& received) {
    if (received.type != 1 || received.attributes.back() != ~received.attributes.front())
        throw std::runtime_error("something else was received than was sent");
}

}  // namespace pmemcpy::hermes
