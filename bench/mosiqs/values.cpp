#include "values.hpp"

#include <cstring>
#include <stdexcept>

namespace mosiqs {
namespace {

constexpr std::size_t stamp_every = 4096;

/// Two floats between 1 and 2, so that sums stay sums.
std::uint64_t stamp(std::uint64_t number) {
    return (mixed(number) & 0x007f'ffff'007f'ffffu) | 0x3f80'0000'3f80'0000u;
}

std::uint64_t word_at(std::span<const std::byte> bytes, std::size_t offset) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + offset, sizeof word);
    return word;
}

}  // namespace

std::uint64_t mixed(std::uint64_t number) {
    std::uint64_t x = number + 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

Values::Values(std::size_t size_bytes) : bytes_(size_bytes) {
    if (size_bytes < least_bytes || size_bytes % 8 != 0)
        throw std::invalid_argument("an object has at least 16 bytes, and a multiple of 8");
    for (std::size_t at = 0; at < size_bytes; at += 8) {
        const std::uint64_t word = stamp(~at);
        std::memcpy(bytes_.data() + at, &word, sizeof word);
    }
}

std::span<const std::byte> Values::make(std::uint64_t number) {
    const std::uint64_t word = stamp(number);
    for (std::size_t at = 0; at < bytes_.size(); at += stamp_every)
        std::memcpy(bytes_.data() + at, &word, sizeof word);
    std::memcpy(bytes_.data() + bytes_.size() - sizeof word, &word, sizeof word);
    return bytes_;
}

bool Values::has_ends(std::uint64_t number, std::span<const std::byte> bytes) const {
    return word_at(bytes, 0) == stamp(number) && word_at(bytes, bytes.size() - 8) == stamp(number);
}

bool Values::is_whole(std::uint64_t number, std::span<const std::byte> bytes) {
    const std::span<const std::byte> right = make(number);
    return bytes.size() == right.size() && std::memcmp(bytes.data(), right.data(), right.size()) == 0;
}

}  // namespace mosiqs
