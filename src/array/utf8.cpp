#include "array/utf8.hpp"

namespace pmemcpy::array {

namespace {

struct Lead {
    std::size_t length;      // of the whole sequence; 0 if no sequence starts so
    unsigned char least;     // of the second byte: excludes overlong forms
    unsigned char greatest;  // of the second byte: excludes surrogates and what is beyond U+10FFFF
};

Lead lead_of(unsigned char byte) noexcept {
    if (byte < 0x80) return {1, 0, 0};
    if (byte < 0xC2) return {0, 0, 0};
    if (byte < 0xE0) return {2, 0x80, 0xBF};
    if (byte < 0xF0) {
        return {3, static_cast<unsigned char>(byte == 0xE0 ? 0xA0 : 0x80),
                static_cast<unsigned char>(byte == 0xED ? 0x9F : 0xBF)};
    }
    if (byte < 0xF5) {
        return {4, static_cast<unsigned char>(byte == 0xF0 ? 0x90 : 0x80),
                static_cast<unsigned char>(byte == 0xF4 ? 0x8F : 0xBF)};
    }
    return {0, 0, 0};
}

}  // namespace

std::size_t first_invalid_utf8(std::string_view text) noexcept {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    for (std::size_t i = 0; i < text.size();) {
        const Lead lead = lead_of(byte(i));
        if (lead.length == 0 || lead.length > text.size() - i) return i;
        for (std::size_t next = 1; next < lead.length; ++next) {
            const unsigned char least = next == 1 ? lead.least : 0x80,
                                greatest = next == 1 ? lead.greatest : 0xBF;
            if (byte(i + next) < least || byte(i + next) > greatest) return i;
        }
        i += lead.length;
    }
    return std::string_view::npos;
}

}  // namespace pmemcpy::array
