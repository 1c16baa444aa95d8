#include "cli/terminal/printable.hpp"

namespace pmemcpy::cli {

namespace {

/// The bytes of the control character that a text begins with; 0 if it begins with another.
std::size_t control_length(std::string_view text) {
    const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
    if (byte(0) < 0x20 || byte(0) == 0x7F) return 1;
    // U+0080 to U+009F: terminals take U+009B for ESC [.
    const bool is_later_control = text.size() > 1 && byte(0) == 0xC2 && byte(1) >= 0x80 && byte(1) < 0xA0;
    return is_later_control ? 2 : 0;
}

std::string without_controls(std::string_view text, bool keeps_lines) {
    std::string out;
    out.reserve(text.size());
    while (!text.empty()) {
        const bool is_kept = keeps_lines && text.front() == '\n';
        const std::size_t length = is_kept ? 0 : control_length(text);
        out += length == 0 ? text.front() : '?';
        text.remove_prefix(length == 0 ? 1 : length);
    }
    return out;
}

}  // namespace

std::string printable(std::string_view name) { return without_controls(name, false); }
std::string printable_lines(std::string_view text) { return without_controls(text, true); }

}  // namespace pmemcpy::cli
