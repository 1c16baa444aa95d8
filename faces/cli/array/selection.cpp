#include "cli/array/selection.hpp"

#include <fmt/core.h>

#include <charconv>
#include <pmemcpy/error.hpp>
#include <string>
#include <vector>

namespace pmemcpy::cli {

namespace {

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
    while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
    return text;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
    std::vector<std::string_view> parts;
    for (;;) {
        const std::size_t at = text.find(separator);
        parts.push_back(trimmed(text.substr(0, at)));
        if (at == std::string_view::npos) return parts;
        text.remove_prefix(at + 1);
    }
}

Extent number(std::string_view text, Extent otherwise) {
    if (text.empty()) return otherwise;
    Extent value = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (problem != std::errc{} || end != text.data() + text.size()) {
        throw Error(Code::invalid_argument,
                    fmt::format("'{}' in a box is no number; write for example 0:10,5:17:4", text));
    }
    return value;
}

}  // namespace

Selection parse_selection(std::string_view text, const Dimensions& dims) {
    std::string_view inner = trimmed(text);
    if (inner.size() >= 2 && inner.front() == '[' && inner.back() == ']')
        inner = trimmed(inner.substr(1, inner.size() - 2));
    const std::vector<std::string_view> ranges =
        inner.empty() ? std::vector<std::string_view>{} : split(inner, ',');
    if (ranges.size() != static_cast<std::size_t>(dims.size())) {
        throw Error(
            Code::invalid_argument,
            fmt::format(
                "the box '{}' has {} dimensions, the array has {} ({}); write one first:end[:stride] for "
                "each",
                text, ranges.size(), dims.size(), to_string(dims)));
    }
    Selection selection(dims, dims, dims);
    for (int d = 0; d < dims.size(); ++d) {
        const std::string_view range = ranges[static_cast<std::size_t>(d)];
        const std::vector<std::string_view> parts = split(range, ':');
        if (range.empty() || parts.size() > 3) {
            throw Error(
                Code::invalid_argument,
                fmt::format("'{}' is no range; write first:end, first:end:stride or an index", range));
        }
        const Extent first = number(parts[0], 0);
        const bool is_index = parts.size() == 1;
        const Extent end = is_index ? first + 1 : number(parts[1], dims[d]);
        const Extent stride = parts.size() == 3 ? number(parts[2], 1) : 1;
        if (stride == 0 || end < first) {
            throw Error(Code::invalid_argument,
                        fmt::format("'{}' selects backwards or stands still; first:end:stride wants "
                                    "first <= end and a stride of at least 1",
                                    range));
        }
        if (end > dims[d]) {
            throw Error(Code::out_of_range,
                        fmt::format("'{}' reaches past the end of dimension {}, which is {} long", range, d,
                                    dims[d]));
        }
        selection.offset[d] = first;
        selection.count[d] = (end - first) / stride + ((end - first) % stride != 0 ? 1 : 0);
        selection.stride[d] = stride;
    }
    return selection;
}

}  // namespace pmemcpy::cli
