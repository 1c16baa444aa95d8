#include "exchange/numpy/type.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <pmemcpy/error.hpp>
#include <string_view>
#include <utility>

namespace pmemcpy::exchange {

namespace {

using Json = nlohmann::json;

constexpr int deepest_structure = 32;
constexpr std::size_t most_texts = 1 << 16;  // in one element, for each is noted

constexpr std::array<std::pair<std::string_view, Kind>, 14> numbers = {{{"i1", Kind::int8},
                                                                        {"i2", Kind::int16},
                                                                        {"i4", Kind::int32},
                                                                        {"i8", Kind::int64},
                                                                        {"u1", Kind::uint8},
                                                                        {"u2", Kind::uint16},
                                                                        {"u4", Kind::uint32},
                                                                        {"u8", Kind::uint64},
                                                                        {"f2", Kind::float16},
                                                                        {"f4", Kind::float32},
                                                                        {"f8", Kind::float64},
                                                                        {"c8", Kind::complex64},
                                                                        {"c16", Kind::complex128},
                                                                        {"b1", Kind::boolean}}};

// In the order of TimeUnit; CF has names for some.
constexpr std::array<std::pair<std::string_view, std::string_view>, 13> units = {{{"Y", ""},
                                                                                  {"M", ""},
                                                                                  {"W", ""},
                                                                                  {"D", "days"},
                                                                                  {"h", "hours"},
                                                                                  {"m", "minutes"},
                                                                                  {"s", "seconds"},
                                                                                  {"ms", "milliseconds"},
                                                                                  {"us", "microseconds"},
                                                                                  {"ns", "nanoseconds"},
                                                                                  {"ps", ""},
                                                                                  {"fs", ""},
                                                                                  {"as", ""}}};

[[noreturn]] void corrupt(const Json& descr) {
    std::string text = descr.dump(-1, ' ', false, Json::error_handler_t::replace);
    if (text.size() > 80) text = text.substr(0, 80) + "...";
    throw Error(Code::corrupt, "its elements are described as " + text + ", which means nothing to NumPy");
}

std::uint64_t number_in(std::string_view digits, const Json& descr) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc() || end != digits.data() + digits.size() || value > std::uint64_t{1} << 40)
        corrupt(descr);
    return value;
}

Dimensions shape_in(const Json& shape, const Json& descr) {
    if (shape.is_number_unsigned()) return {shape.get<Extent>()};
    if (!shape.is_array()) corrupt(descr);
    Dimensions dims;
    for (const Json& extent : shape) {
        if (!extent.is_number_unsigned()) corrupt(descr);
        dims.push_back(extent.get<Extent>());
    }
    return dims;
}

bool is_subarray(const Json& descr) {
    return descr.size() == 2 &&
           (descr[1].is_number() || (descr[1].is_array() && !descr[1].empty() && descr[1][0].is_number()));
}

NumpyElement read(const Json& descr, int depth);

// Dates of a unit that a pool does not have, and spans of time, are kept as the integers that they are.
NumpyElement read_time(std::string_view text, ByteOrder order, const Json& descr) {
    const bool is_span = text[0] == 'm';
    const std::string name = (is_span ? "timedelta64" : "datetime64") + std::string(text.substr(2));
    NumpyElement element{.type = Type::scalar(Kind::int64, order), .descr = descr, .bytes = 8};
    const bool has_unit = text.size() > 3 && text[2] == '[' && text.back() == ']';
    if (text.size() > 2 && !has_unit) corrupt(descr);
    const std::string_view unit = has_unit ? text.substr(3, text.size() - 4) : std::string_view();
    const auto* known =
        std::find_if(units.begin(), units.end(), [&](const auto& one) { return one.first == unit; });
    if (known != units.end() && !is_span) {
        element.type = Type::datetime64(static_cast<TimeUnit>(known - units.begin()), order);
        return element;
    }
    std::string note = "elements of " + name + " become int64";
    if (known != units.end() && !known->second.empty()) {
        element.units = known->second;
        note += " with the attribute units";
    }
    element.notes.push_back(std::move(note));
    return element;
}

NumpyElement read_text(const Json& descr) {
    std::string_view text = descr.get_ref<const std::string&>();
    ByteOrder order = native_order;
    if (!text.empty() && std::string_view("<>|=").find(text[0]) != std::string_view::npos) {
        if (text[0] == '<') order = ByteOrder::little;
        if (text[0] == '>') order = ByteOrder::big;
        text.remove_prefix(1);
    }
    if (text == "?") text = "b1";
    if (text.empty()) corrupt(descr);
    for (const auto& [code, kind] : numbers) {
        if (code == text) {
            const Type type = Type::scalar(kind, order);
            return {.type = type, .descr = descr, .bytes = type.size()};
        }
    }
    if (text.starts_with("M8") || text.starts_with("m8")) return read_time(text, order, descr);
    if (text[0] == 'O') {
        throw Error(Code::unsupported,
                    "its elements are Python objects, which only Python reads: numpy.load with allow_pickle, "
                    "then .astype of what they are");
    }
    const std::uint64_t n = number_in(text.substr(1), descr);
    switch (text[0]) {
        case 'S':
        case 'a':
            return {
                .type = Type::fixed_string(std::max<std::uint64_t>(n, 1), false), .descr = descr, .bytes = n};
        case 'U': {
            const std::uint64_t bytes = 4 * n;
            NumpyElement element{.type = Type::fixed_string(std::max<std::uint64_t>(bytes, 4)),
                                 .descr = descr,
                                 .bytes = bytes};
            if (n > 0) element.texts.push_back({0, bytes, bytes, order});
            return element;
        }
        case 'V':
            return {.type = Type::opaque(n), .descr = descr, .bytes = n};
        case 'f':
        case 'c':
            if (n == 10 || n == 12 || n == 16 || n == 20 || n == 24 || n == 32) {
                throw Error(Code::unsupported, "its elements are of " + std::string(text) +
                                                   ", which means something else on every machine; make it " +
                                                   (text[0] == 'f' ? "float64" : "complex128"));
            }
            corrupt(descr);
        default:
            corrupt(descr);
    }
}

NumpyElement repeat(NumpyElement element, const Dimensions& dims) {
    const std::uint64_t size = element.bytes;
    const Type type = Type::array(element.type, dims);
    const Extent copies = dims.elements();
    if (!element.texts.empty() && copies > most_texts / element.texts.size())
        throw Error(Code::unsupported, "its elements hold more than 65536 texts each");
    const std::vector<NumpyText> first = element.texts;
    for (Extent i = 1; i < copies && !first.empty(); ++i) {
        for (NumpyText text : first) {
            text.offset += i * size;
            element.texts.push_back(text);
        }
    }
    element.type = type;
    element.bytes = type.size();
    return element;
}

/// How many bytes of padding a field is: it has no name, and is of no type.
std::optional<std::uint64_t> padding(const Json& field, const std::string& name) {
    if (!name.empty() || field.size() != 2 || !field[1].is_string()) return {};
    std::string_view text = field[1].get_ref<const std::string&>();
    if (text.starts_with('|')) text.remove_prefix(1);
    if (!text.starts_with('V')) return {};
    return number_in(text.substr(1), field);
}

NumpyElement read_fields(const Json& descr, int depth) {
    NumpyElement whole{.type = {}, .descr = descr};
    std::vector<Field> fields;
    for (const Json& field : descr) {
        if (!field.is_array() || field.size() < 2 || field.size() > 3) corrupt(descr);
        const bool has_title = field[0].is_array() && field[0].size() == 2;
        const Json& name = has_title ? field[0][1] : field[0];
        if (!name.is_string()) corrupt(descr);
        const auto& text = name.get_ref<const std::string&>();
        if (const auto bytes = padding(field, text)) {
            whole.bytes += *bytes;
            continue;
        }
        if (has_title) whole.notes.push_back("the title of the field " + text + " is not kept");
        NumpyElement part = read(field[1], depth + 1);
        if (part.bytes == 0)
            throw Error(Code::unsupported, "the field " + text + " is text of no characters");
        if (field.size() == 3) part = repeat(std::move(part), shape_in(field[2], descr));
        if (whole.texts.size() + part.texts.size() > most_texts)
            throw Error(Code::unsupported, "its elements hold more than 65536 texts each");
        for (NumpyText inner : part.texts) {
            inner.offset += whole.bytes;
            whole.texts.push_back(inner);
        }
        for (std::string& note : part.notes)
            whole.notes.push_back(std::move(note.insert(0, "the field " + text + ": ")));
        fields.push_back({text, whole.bytes, part.type});
        whole.bytes += part.bytes;
    }
    whole.type = Type::structure(std::move(fields), whole.bytes);
    return whole;
}

NumpyElement read(const Json& descr, int depth) {
    if (depth > deepest_structure) throw Error(Code::unsupported, "structures nested more than 32 deep");
    if (descr.is_string()) return read_text(descr);
    if (!descr.is_array()) corrupt(descr);
    if (is_subarray(descr)) {
        NumpyElement inner = read(descr[0], depth + 1);
        if (inner.bytes == 0) corrupt(descr);
        NumpyElement all = repeat(std::move(inner), shape_in(descr[1], descr));
        all.descr = descr;
        return all;
    }
    return read_fields(descr, depth);
}

std::string code_of(char letter, std::uint64_t n) { return "|" + (letter + std::to_string(n)); }

/// `notes` are of what is inside of something else; `inside` is then its name.
Json describe(const Type& type, const std::string& inside, std::vector<std::string>& notes) {
    const std::string whose = inside.empty() ? "" : "the field " + inside + ": ";
    const char order = type.size() == 1 ? '|' : type.byte_order() == ByteOrder::big ? '>' : '<';
    switch (type.kind()) {
        case Kind::enumeration:
            notes.push_back(whose + "an enumeration; its names are not kept, its numbers are");
            return describe(type.element(), inside, notes);
        case Kind::opaque:
            if (!type.tag().empty())
                notes.push_back(whose + "bytes tagged '" + type.tag() + "'; the tag is not kept");
            return code_of('V', type.size());
        case Kind::datetime64:
            return order + ("M8[" + std::string(units[static_cast<std::size_t>(type.unit())].first) + "]");
        case Kind::fixed_string:
            if (type.is_utf8()) notes.push_back(whose + "text becomes bytes of UTF-8");
            return code_of('S', type.size());
        case Kind::bfloat16:
            notes.push_back(whose + "NumPy has no bfloat16; it becomes bytes");
            return code_of('V', type.size());
        case Kind::structure: {
            if (!type.is_fixed_size()) break;
            Json fields = Json::array();
            std::uint64_t end = 0;
            const auto pad = [&](std::uint64_t offset) {
                if (offset > end) fields.push_back(Json::array({"", code_of('V', offset - end)}));
            };
            for (const Field& field : type.fields()) {
                pad(field.offset);
                const bool repeats = field.type.kind() == Kind::array;
                const Type& element = repeats ? field.type.element() : field.type;
                const std::string name = inside.empty() ? field.name : inside + "." + field.name;
                Json described = Json::array({field.name, describe(element, name, notes)});
                const Dimensions& dims = field.type.dimensions();
                if (repeats) described.push_back(std::vector<Extent>(dims.begin(), dims.end()));
                fields.push_back(std::move(described));
                end = field.offset + field.type.size();
            }
            pad(type.size());
            return fields;
        }
        default:
            for (const auto& [code, kind] : numbers) {
                if (kind == type.kind()) return order + std::string(code);
            }
    }
    throw Error(Code::unsupported, "NumPy has no elements of the type " + type.name());
}

}  // namespace

NumpyElement element_of_numpy(const Json& descr) {
    try {
        return read(descr, 0);
    } catch (const Error& error) {
        if (error.kind() != Code::invalid_argument) throw;
        throw Error(Code::unsupported, std::string("a pool cannot hold its elements: ") + error.what());
    }
}

NumpyElement numpy_of(const Type& type) {
    NumpyElement element{.type = type, .descr = {}, .bytes = type.size()};
    const bool repeats = type.kind() == Kind::array;
    const Type& one = repeats ? type.element() : type;
    if (one.kind() == Kind::bfloat16) {
        element.descr = one.byte_order() == ByteOrder::big ? ">f4" : "<f4";
        element.widens = true;
        element.bytes *= 2;
        element.notes.emplace_back("NumPy has no bfloat16; it becomes float32");
        return element;
    }
    if (one.kind() == Kind::fixed_string && one.is_utf8() && !repeats)
        return numpy_text_of(type, type.size());
    element.descr = describe(one, "", element.notes);
    return element;
}

NumpyElement numpy_text_of(const Type& type, std::uint64_t characters) {
    const std::uint64_t bytes = 4 * characters;
    return {.type = type,
            .descr = "<U" + std::to_string(characters),
            .bytes = bytes,
            .texts = {{0, type.size(), bytes, ByteOrder::little}}};
}

}  // namespace pmemcpy::exchange
