#include "exchange/utf8.hpp"

#include <array>
#include <cstdint>

namespace pmemcpy::exchange {

bool is_utf8(std::string_view bytes) noexcept {
    constexpr std::array<std::uint32_t, 5> smallest = {0, 0, 0x80, 0x800,
                                                       0x10000};  // of a character of so many bytes
    for (std::size_t i = 0; i < bytes.size();) {
        const auto first = static_cast<unsigned char>(bytes[i]);
        const std::size_t length = first < 0x80       ? 1
                                   : first >> 5 == 6  ? 2
                                   : first >> 4 == 14 ? 3
                                   : first >> 3 == 30 ? 4
                                                      : 0;
        if (length == 0 || bytes.size() - i < length) return false;
        std::uint32_t character = length == 1 ? first : first & (0x7FU >> length);
        for (std::size_t k = 1; k < length; ++k) {
            const auto next = static_cast<unsigned char>(bytes[i + k]);
            if (next >> 6 != 2) return false;
            character = character << 6 | (next & 0x3FU);
        }
        const bool is_surrogate = character >= 0xD800 && character < 0xE000;
        if (character < smallest[length] || is_surrogate || character > 0x10FFFF) return false;
        i += length;
    }
    return true;
}

}  // namespace pmemcpy::exchange
