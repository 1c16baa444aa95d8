#include "array/id.hpp"

#include <algorithm>
#include <pmemcpy/error.hpp>
#include <string>

#include "array/utf8.hpp"

namespace pmemcpy::array {

namespace {

[[noreturn]] void refuse(std::string_view id, const std::string& why) {
    // Messages end up in terminals and logs: control bytes and bytes that are no UTF-8 are not repeated
    // there.
    constexpr std::size_t shown = 80;
    std::string quoted;
    for (const char c : id.substr(0, shown)) {
        const auto byte = static_cast<unsigned char>(c);
        quoted += byte < 0x20 || byte >= 0x7F ? '?' : c;
    }
    if (id.size() > shown) quoted += "...";
    throw Error(Code::invalid_argument, "the id \"" + quoted + "\" is not valid: " + why);
}

std::string at_byte(std::size_t position) { return " at byte " + std::to_string(position); }

}  // namespace

void validate_id(std::string_view id) {
    if (id.empty()) throw Error(Code::invalid_argument, "an id is empty; it needs 1 to 4096 bytes");
    if (id.size() > max_id_bytes) {
        refuse(id, "it has " + std::to_string(id.size()) + " bytes, and at most 4096 are possible");
    }
    if (const auto nul = id.find('\0'); nul != std::string_view::npos) refuse(id, "a NUL" + at_byte(nul));
    if (const auto bad = first_invalid_utf8(id); bad != std::string_view::npos)
        refuse(id, "no UTF-8" + at_byte(bad));
    for (std::size_t start = 0; start <= id.size();) {
        const std::size_t end = std::min(id.find('/', start), id.size());
        const std::string_view component = id.substr(start, end - start);
        if (component.empty()) refuse(id, "an empty component (parts between `/`)" + at_byte(start));
        if (component == "." || component == "..") {
            refuse(id, "the component `" + std::string(component) + "`" + at_byte(start));
        }
        start = end + 1;
    }
}

void validate_new_id(std::string_view id) {
    validate_id(id);
    if (id.ends_with(dims_suffix)) {
        refuse(id, "the suffix `#dims` is reserved: `A#dims` reads the dimensions of `A`");
    }
}

std::string_view variable_of_dims_id(std::string_view id) {
    if (!id.ends_with(dims_suffix)) return {};
    return id.substr(0, id.size() - dims_suffix.size());
}

std::vector<std::string_view> parents(std::string_view id) {
    std::vector<std::string_view> groups;
    for (auto slash = id.find('/'); slash != std::string_view::npos; slash = id.find('/', slash + 1)) {
        groups.push_back(id.substr(0, slash));
    }
    return groups;
}

std::string_view last_component(std::string_view id) { return id.substr(id.rfind('/') + 1); }

}  // namespace pmemcpy::array
