#include "exchange/zarr/base64.hpp"

#include <algorithm>
#include <cstdint>

namespace pmemcpy::exchange {

namespace {

constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

}  // namespace

std::string base64_of(std::span<const std::byte> bytes) {
    std::string text;
    for (std::size_t at = 0; at < bytes.size(); at += 3) {
        const std::size_t there = std::min<std::size_t>(bytes.size() - at, 3);
        std::uint32_t three = 0;
        for (std::size_t i = 0; i < 3; ++i)
            three = three << 8 | (i < there ? std::to_integer<std::uint32_t>(bytes[at + i]) : 0);
        for (std::size_t i = 0; i < 4; ++i) text += i <= there ? digits[three >> (18 - 6 * i) & 0x3F] : '=';
    }
    return text;
}

std::optional<std::vector<std::byte>> bytes_of_base64(std::string_view text) {
    if (text.size() % 4 != 0) return {};
    while (!text.empty() && text.back() == '=') text.remove_suffix(1);
    std::vector<std::byte> bytes;
    std::uint32_t waiting = 0;
    int bits = 0;
    for (const char c : text) {
        const std::size_t digit = digits.find(c);
        if (digit == std::string_view::npos) return {};
        waiting = waiting << 6 | static_cast<std::uint32_t>(digit);
        bits += 6;
        if (bits >= 8) {
            bits -= 8;
            bytes.push_back(static_cast<std::byte>(waiting >> bits & 0xFF));
        }
    }
    return bytes;
}

}  // namespace pmemcpy::exchange
