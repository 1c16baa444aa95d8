#include "exchange/numpy/text.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "exchange/utf8.hpp"

namespace pmemcpy::exchange {

namespace {

std::string_view without_padding(std::span<const std::byte> bytes) {
    const std::string_view all(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return all.substr(0, all.find_last_not_of('\0') + 1);
}

}  // namespace

bool append_utf8(std::string& into, std::uint32_t character) {
    if (character > 0x10FFFF || (character >= 0xD800 && character < 0xE000)) return false;
    const auto put = [&](std::uint32_t byte) { into += static_cast<char>(byte); };
    if (character < 0x80) {
        put(character);
        return true;
    }
    const int more = character < 0x800 ? 1 : character < 0x10000 ? 2 : 3;
    const std::uint32_t mark = more == 1 ? 0xC0 : more == 2 ? 0xE0 : 0xF0;
    put(mark | character >> (6 * more));
    for (int i = more; i-- > 0;) put(0x80 | (character >> (6 * i) & 0x3F));
    return true;
}

std::optional<std::uint64_t> characters_of(std::span<const std::byte> utf8) {
    const std::string_view text = without_padding(utf8);
    if (!is_utf8(text)) return {};
    return std::count_if(text.begin(), text.end(),
                         [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80; });
}

bool utf8_of_numpy(std::span<const std::byte> characters, ByteOrder order, std::span<std::byte> to) {
    std::string text;
    for (std::size_t at = 0; at + 4 <= characters.size(); at += 4) {
        std::uint32_t character = 0;
        std::memcpy(&character, characters.data() + at, 4);
        if (order != native_order) character = __builtin_bswap32(character);
        if (!append_utf8(text, character)) return false;
    }
    const std::string_view kept = without_padding(std::as_bytes(std::span(text)));
    std::fill(std::copy_n(reinterpret_cast<const std::byte*>(kept.data()), kept.size(), to.begin()), to.end(),
              std::byte{0});
    return true;
}

void numpy_of_utf8(std::span<const std::byte> utf8, ByteOrder order, std::span<std::byte> to) {
    const std::string_view text = without_padding(utf8);
    std::fill(to.begin(), to.end(), std::byte{0});
    std::size_t place = 0;
    for (std::size_t i = 0; i < text.size(); place += 4) {
        const auto first = static_cast<unsigned char>(text[i++]);
        const int more = first < 0x80 ? 0 : first < 0xE0 ? 1 : first < 0xF0 ? 2 : 3;
        std::uint32_t character = more == 0 ? first : first & (0x3FU >> more);
        for (int k = 0; k < more; ++k)
            character = character << 6 | (static_cast<unsigned char>(text[i++]) & 0x3FU);
        if (order != native_order) character = __builtin_bswap32(character);
        std::memcpy(to.data() + place, &character, 4);
    }
}

}  // namespace pmemcpy::exchange
