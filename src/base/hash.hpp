#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace pmemcpy::base {

/// XXH3, 64 bits: stable on media, the same on every machine and in every later release.
std::uint64_t xxh3_64(const void* bytes, std::size_t size) noexcept;

inline std::uint64_t xxh3_64(std::string_view text) noexcept { return xxh3_64(text.data(), text.size()); }

}  // namespace pmemcpy::base
