#include "exchange/zarr_text.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <pmemcpy/error.hpp>

#include "exchange/utf8.hpp"

namespace pmemcpy::exchange {

namespace {

constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

std::uint32_t character_at(const std::byte* at, ByteOrder order) {
    std::uint32_t value = 0;
    std::memcpy(&value, at, sizeof value);
    return order == native_order ? value : __builtin_bswap32(value);
}

}  // namespace

void utf32_to_utf8(std::span<std::byte> text, ByteOrder order) {
    std::size_t end = 0;  // never beyond what was read
    for (std::size_t at = 0; at < text.size(); at += 4) {
        const std::uint32_t c = character_at(text.data() + at, order);
        if (c > 0x10FFFF || (c >= 0xD800 && c < 0xE000))
            throw Error(Code::corrupt,
                        "a text has the character " + std::to_string(c) + ", which there is not");
        const int more = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
        constexpr std::array<std::uint32_t, 4> lead = {0, 0xC0, 0xE0, 0xF0};
        text[end++] = static_cast<std::byte>(lead.at(static_cast<std::size_t>(more)) | c >> (6 * more));
        for (int i = more; i-- > 0;) text[end++] = static_cast<std::byte>(0x80 | (c >> (6 * i) & 0x3F));
    }
    std::fill(text.begin() + static_cast<std::ptrdiff_t>(end), text.end(), std::byte{0});
}

void utf8_to_utf32(std::span<std::byte> text, ByteOrder order) {
    std::string from(reinterpret_cast<const char*>(text.data()), text.size());
    while (!from.empty() && from.back() == '\0') from.pop_back();
    if (!is_utf8(from)) throw Error(Code::unsupported, "a text is no UTF-8");
    std::size_t end = 0;
    for (std::size_t i = 0; i < from.size();) {
        const auto first = static_cast<unsigned char>(from[i]);
        const std::size_t length = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
        std::uint32_t c = length == 1 ? first : first & (0x7FU >> length);
        for (std::size_t k = 1; k < length; ++k)
            c = c << 6 | (static_cast<unsigned char>(from[i + k]) & 0x3FU);
        i += length;
        if (end == text.size()) {
            throw Error(Code::unsupported, "a text has more characters than the " +
                                               std::to_string(text.size() / 4) +
                                               " that the data type in its attribute _exchange has room for");
        }
        const std::uint32_t stored = order == native_order ? c : __builtin_bswap32(c);
        std::memcpy(text.data() + end, &stored, sizeof stored);
        end += 4;
    }
    std::fill(text.begin() + static_cast<std::ptrdiff_t>(end), text.end(), std::byte{0});
}

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
