#include "exchange/numpy/npy_header.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <pmemcpy/error.hpp>
#include <string_view>

#include "exchange/numpy/python_literal.hpp"
#include "exchange/numpy/text.hpp"
#include "exchange/utf8.hpp"

namespace pmemcpy::exchange {

namespace {

using Json = nlohmann::json;

constexpr std::uint64_t most_header_bytes = 4ULL << 20;
constexpr Extent longest = static_cast<Extent>(std::numeric_limits<std::int64_t>::max());
constexpr std::size_t alignment = 64;
constexpr std::size_t room_to_grow = 21;  // digits for the first extent, as NumPy leaves them

[[noreturn]] void corrupt(const std::string& what) { throw Error(Code::corrupt, what); }

std::string read_text(ByteSource& source, std::size_t bytes) {
    std::string text(bytes, '\0');
    if (source.read(std::as_writable_bytes(std::span(text))) != bytes)
        corrupt("it ends within the header of .npy");
    return text;
}

std::string utf8_of_latin1(const std::string& text) {
    std::string utf8;
    for (const char c : text) append_utf8(utf8, static_cast<unsigned char>(c));
    return utf8;
}

/// Nothing when some character is not of Latin-1.
std::optional<std::string> latin1_of_utf8(const std::string& utf8) {
    std::string text;
    for (std::size_t i = 0; i < utf8.size(); ++i) {
        const auto byte = static_cast<unsigned char>(utf8[i]);
        if (byte >= 0xC4) return {};
        text += byte < 0x80 ? utf8[i] : static_cast<char>((byte & 3U) << 6 | (utf8[++i] & 0x3F));
    }
    return text;
}

Dimensions shape_of(const Json& shape) {
    if (!shape.is_array()) corrupt("the header of .npy has a shape that is no tuple");
    if (shape.size() > static_cast<std::size_t>(max_dimensions)) {
        throw Error(Code::unsupported, "an array of " + std::to_string(shape.size()) +
                                           " dimensions; a pool has arrays of at most 32");
    }
    Dimensions dims;
    for (const Json& extent : shape) {
        if (!extent.is_number_unsigned() || extent.get<Extent>() > longest)
            corrupt("the header of .npy has a shape that cannot be");
        dims.push_back(extent.get<Extent>());
    }
    return dims;
}

std::string quoted(const std::string& text) {
    const bool has_single = text.find('\'') != std::string::npos;
    const char quote = has_single && text.find('"') == std::string::npos ? '"' : '\'';
    std::string found(1, quote);
    for (const char c : text) {
        constexpr std::string_view hexadecimal = "0123456789abcdef";
        constexpr std::string_view known = "\n\r\t\\", letters = "nrt\\";
        if (c == quote || known.find(c) != std::string_view::npos) {
            found += '\\';
            found += c == quote ? c : letters[known.find(c)];
        } else if (const auto byte = static_cast<unsigned char>(c); byte < 0x20 || byte == 0x7F) {
            found += "\\x";
            found += hexadecimal[byte >> 4];
            found += hexadecimal[byte & 15];
        } else {
            found += c;
        }
    }
    return found + quote;
}

template <class Items, class Show>
std::string joined(const Items& items, Show&& show) {
    std::string text;
    for (const auto& item : items) text += (text.empty() ? "" : ", ") + show(item);
    return text;
}

std::string tuple_of(const Json& numbers) {
    const std::string all = joined(numbers, [](const Json& n) { return n.dump(); });
    return "(" + all + (numbers.size() == 1 ? ",)" : ")");
}

std::string literal_of(const Json& descr) {
    if (descr.is_string()) return quoted(descr.get<std::string>());
    const auto is_shape = [](const Json& json) {
        return json.is_array() && !json.empty() && json[0].is_number();
    };
    const auto shape = [&](const Json& json) { return json.is_array() ? tuple_of(json) : json.dump(); };
    if (descr.size() == 2 && (is_shape(descr[1]) || descr[1].is_number()))
        return "(" + literal_of(descr[0]) + ", " + shape(descr[1]) + ")";
    return "[" +
           joined(descr,
                  [&](const Json& field) {
                      const Json& name = field[0];
                      const std::string named =
                          name.is_string()
                              ? literal_of(name)
                              : "(" + joined(name, [](const Json& one) { return literal_of(one); }) + ")";
                      return "(" + named + ", " + literal_of(field[1]) +
                             (field.size() == 3 ? ", " + shape(field[2]) + ")" : ")");
                  }) +
           "]";
}

}  // namespace

Box reversed(Box box) {
    std::reverse(box.offset.begin(), box.offset.end());
    std::reverse(box.count.begin(), box.count.end());
    return box;
}

NpyHeader read_npy_header(ByteSource& source, std::uint64_t file_bytes) {
    const std::string start = read_text(source, 8);
    if (!start.starts_with(npy_magic)) corrupt("it does not begin as .npy does");
    const int version = static_cast<unsigned char>(start[6]);
    if (version < 1 || version > 3 || start[7] != 0) {
        throw Error(Code::unsupported, "version " + std::to_string(version) + "." +
                                           std::to_string(static_cast<unsigned char>(start[7])) +
                                           " of .npy, which this version of pMEMCPY does not know");
    }
    const std::string digits = read_text(source, version == 1 ? 2 : 4);
    std::uint64_t length = 0;
    for (std::size_t i = digits.size(); i-- > 0;)
        length = length << 8 | static_cast<unsigned char>(digits[i]);
    const std::uint64_t before = start.size() + digits.size();
    if (before > file_bytes || length > file_bytes - before) corrupt("it ends within the header of .npy");
    if (length > most_header_bytes)
        throw Error(Code::unsupported, "a header of " + std::to_string(length) + " bytes");
    std::string text = read_text(source, length);
    if (version < 3) {
        text = utf8_of_latin1(text);
    } else if (!is_utf8(text)) {
        corrupt("the header of .npy is no UTF-8");
    }
    Json header;
    try {
        header = parse_python_literal(text);
    } catch (const Error& error) {
        corrupt(std::string("the header of .npy: ") + error.what());
    }
    if (!header.is_object() || header.size() != 3 || !header.contains("descr") || !header.contains("shape") ||
        !header.contains("fortran_order") || !header["fortran_order"].is_boolean())
        corrupt("the header of .npy does not say descr, fortran_order and shape");
    return {.descr = header["descr"],
            .is_fortran = header["fortran_order"].get<bool>(),
            .dims = shape_of(header["shape"]),
            .bytes = before + length};
}

std::string make_npy_header(const Json& descr, bool is_fortran, const std::vector<Extent>& dims) {
    std::string text = "{'descr': " + literal_of(descr) +
                       ", 'fortran_order': " + (is_fortran ? "True" : "False") +
                       ", 'shape': " + tuple_of(dims) + ", }";
    if (!dims.empty()) {
        const std::size_t digits = std::to_string(is_fortran ? dims.back() : dims.front()).size();
        text.append(room_to_grow - std::min(room_to_grow, digits), ' ');
    }
    const auto latin1 = latin1_of_utf8(text);
    if (latin1) text = *latin1;
    const auto padded = [&](std::size_t before) {
        return text + std::string(alignment - (before + text.size() + 1) % alignment, ' ') + '\n';
    };
    char version = latin1 ? '\1' : '\3';
    std::string all = version == '\1' ? padded(10) : padded(12);
    if (version == '\1' && all.size() > 0xFFFF) {
        version = '\2';
        all = padded(12);
    }
    std::string head = std::string(npy_magic) + version + '\0';
    for (unsigned i = 0; i < (version == '\1' ? 2U : 4U); ++i)
        head += static_cast<char>(all.size() >> (8 * i));
    return head + all;
}

}  // namespace pmemcpy::exchange
