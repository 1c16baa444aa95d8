#include "value.hpp"

#include <cstdio>
#include <cstring>
#include <random>
#include <stdexcept>

namespace compare::objects {
namespace {

constexpr std::size_t stamp_every = 4096;

/// The last step of SplitMix64.
std::uint64_t mixed(std::uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

std::uint64_t word_at(std::span<const std::byte> bytes, std::size_t offset) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + offset, sizeof word);
    return word;
}

}  // namespace

Name::Name(std::uint64_t seed, std::uint64_t number) {
    std::array<char, 64> text{};
    const int length =
        std::snprintf(text.data(), text.size(), "object-%04u-%012llu", static_cast<unsigned>(seed % 10'000),
                      static_cast<unsigned long long>(number));
    if (length != static_cast<int>(text_.size()))
        throw std::invalid_argument("the number is too large for a name");
    std::memcpy(text_.data(), text.data(), text_.size());
}

Values::Values(std::uint64_t seed, std::size_t size_bytes) : seed_(seed), bytes_(size_bytes) {
    if (size_bytes < least_bytes) throw std::invalid_argument("an object has at least 16 bytes");
    std::mt19937_64 random(seed);
    for (std::byte& byte : bytes_) byte = static_cast<std::byte>(random());
}

std::uint64_t Values::stamp(std::uint64_t number, std::uint16_t edition) const {
    return (mixed(mixed(seed_ + 0x9e3779b97f4a7c15u) + number) & ~std::uint64_t{0xffff}) | edition;
}

std::span<const std::byte> Values::make(std::uint64_t number, std::uint16_t edition) {
    const std::uint64_t word = stamp(number, edition);
    for (std::size_t at = 0; at + sizeof word <= bytes_.size(); at += stamp_every) {
        std::memcpy(bytes_.data() + at, &word, sizeof word);
    }
    std::memcpy(bytes_.data() + bytes_.size() - sizeof word, &word, sizeof word);
    return bytes_;
}

bool Values::has_ends(std::uint64_t number, std::span<const std::byte> bytes) const {
    const std::uint64_t first = word_at(bytes, 0);
    return first == stamp(number, static_cast<std::uint16_t>(first)) &&
           first == word_at(bytes, bytes.size() - 8);
}

bool Values::is_whole(std::uint64_t number, std::uint16_t edition, std::span<const std::byte> bytes) {
    if (edition == any_edition) edition = static_cast<std::uint16_t>(word_at(bytes, 0));
    const std::span<const std::byte> right = make(number, edition);
    return bytes.size() == right.size() && std::memcmp(bytes.data(), right.data(), right.size()) == 0;
}

}  // namespace compare::objects
