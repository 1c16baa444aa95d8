#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace compare::objects {

/// The name of the object of that number: 24 bytes, in one flat room, sorted as the numbers are.
class Name {
public:
    Name(std::uint64_t seed, std::uint64_t number);
    std::string_view view() const { return {text_.data(), text_.size()}; }

private:
    std::array<char, 24> text_{};
};

/// The bytes that belong under each name. Most are the same for all objects, random, from the seed; a stamp, which names
/// the object and the edition of its value, is in the first 8 bytes of each 4 KiB and in the last 8. So a value is made by a
/// few stores inside the timed part, and what is loaded shows without a second copy whose it is, and whether it is whole.
class Values {
public:
    static constexpr std::size_t least_bytes = 16;
    static constexpr std::uint16_t any_edition = 0xffff;

    Values(std::uint64_t seed, std::size_t size_bytes);

    /// Valid until the next call.
    std::span<const std::byte> make(std::uint64_t number, std::uint16_t edition);
    /// The first and the last 8 bytes, which is what every load looks at inside the timed part.
    bool has_ends(std::uint64_t number, std::span<const std::byte> bytes) const;
    /// Every byte.
    bool is_whole(std::uint64_t number, std::uint16_t edition, std::span<const std::byte> bytes);

private:
    std::uint64_t stamp(std::uint64_t number, std::uint16_t edition) const;

    std::uint64_t seed_;
    std::vector<std::byte> bytes_;
};

}  // namespace compare::objects
