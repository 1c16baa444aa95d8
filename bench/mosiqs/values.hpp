#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace mosiqs {

/// Well spread bits of a number (SplitMix64).
std::uint64_t mixed(std::uint64_t number);

/// The data of each object: floats that are the same for all, but for a stamp in the first 8 bytes, the last 8, and at the
/// beginning of each 4 KiB, which tells whose it is. So it is made by a few stores, and looked at by a few loads.
class Values {
public:
    static constexpr std::size_t least_bytes = 16;

    explicit Values(std::size_t size_bytes);
    /// Valid until the next call.
    std::span<const std::byte> make(std::uint64_t number);
    bool has_ends(std::uint64_t number, std::span<const std::byte> bytes) const;
    /// Every byte.
    bool is_whole(std::uint64_t number, std::span<const std::byte> bytes);

private:
    std::vector<std::byte> bytes_;
};

}  // namespace mosiqs
