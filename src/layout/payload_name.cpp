#include "layout/payload_name.hpp"

#include <charconv>

namespace pmemcpy::layout {
namespace {

constexpr std::size_t digits = 16;
constexpr std::string_view passing = ".name";
constexpr std::string_view kept_prefix = "kept-";

}  // namespace

std::string name_of_payload(std::uint64_t number) {
    std::string name(digits, '0');
    for (std::size_t i = digits; i-- > 0; number >>= 4) name[i] = "0123456789abcdef"[number & 15];
    return name;
}

std::string passing_name_of(std::uint64_t number) { return name_of_payload(number) + std::string(passing); }

namespace {

constexpr int drawn_bits = 16, session_bits = 19;  // and 29 of the owner

std::uint64_t session_tag(std::uint64_t began_at) {
    return began_at * 0x9e3779b97f4a7c15ULL >> (64 - session_bits);
}

}  // namespace

std::uint64_t passing_number(std::uint64_t owner, std::uint64_t session_began_at, std::uint64_t drawn) {
    return owner << (session_bits + drawn_bits) | session_tag(session_began_at) << drawn_bits |
           (drawn & ((1U << drawn_bits) - 1));
}

std::uint64_t owner_of_passing(std::uint64_t number) { return number >> (session_bits + drawn_bits); }

bool is_of_session(std::uint64_t number, std::uint64_t session_began_at) {
    return (number >> drawn_bits & ((1U << session_bits) - 1)) == session_tag(session_began_at);
}

std::string kept_name_of(std::uint64_t number) { return std::string(kept_prefix) + name_of_payload(number); }

std::optional<std::uint64_t> number_of_kept(std::string_view name) {
    return name.starts_with(kept_prefix) ? number_of_payload(name.substr(kept_prefix.size())) : std::nullopt;
}

std::optional<std::uint64_t> number_of_payload(std::string_view name) {
    std::uint64_t number = 0;
    if (name.size() != digits) return std::nullopt;
    std::from_chars(name.data(), name.data() + name.size(), number, 16);
    if (name_of_payload(number) != name) return std::nullopt;
    return number;
}

std::optional<std::uint64_t> number_of_passing(std::string_view name) {
    return name.ends_with(passing) ? number_of_payload(name.substr(0, name.size() - passing.size()))
                                   : std::nullopt;
}

bool is_payload_name(std::string_view name) { return number_of_payload(name) || number_of_passing(name); }

}  // namespace pmemcpy::layout
