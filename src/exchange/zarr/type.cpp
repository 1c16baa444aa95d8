#include "exchange/zarr/type.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <limits>
#include <optional>
#include <pmemcpy/error.hpp>

#include "exchange/numpy/text.hpp"
#include "exchange/zarr/json.hpp"

namespace pmemcpy::exchange {

namespace {

constexpr std::array<std::pair<const char*, Kind>, 15> scalars = {{{"bool", Kind::boolean},
                                                                   {"int8", Kind::int8},
                                                                   {"int16", Kind::int16},
                                                                   {"int32", Kind::int32},
                                                                   {"int64", Kind::int64},
                                                                   {"uint8", Kind::uint8},
                                                                   {"uint16", Kind::uint16},
                                                                   {"uint32", Kind::uint32},
                                                                   {"uint64", Kind::uint64},
                                                                   {"float16", Kind::float16},
                                                                   {"bfloat16", Kind::bfloat16},
                                                                   {"float32", Kind::float32},
                                                                   {"float64", Kind::float64},
                                                                   {"complex64", Kind::complex64},
                                                                   {"complex128", Kind::complex128}}};
constexpr std::array units = {"Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "ps", "fs", "as"};
constexpr int most_nested = 16;
constexpr std::uint64_t most_element_bytes = 1U << 30;

std::uint64_t length_bytes(const ZarrNamed& named) {
    const Json length = named.configuration.value("length_bytes", Json());
    if (!length.is_number_unsigned() || length.get<std::uint64_t>() == 0 ||
        length.get<std::uint64_t>() > most_element_bytes)
        throw Error(Code::corrupt, "the data type " + named.name + " of length_bytes " + shown_json(length));
    return length.get<std::uint64_t>();
}

/// Of r8, r16, ...
std::optional<std::uint64_t> raw_bits(const std::string& name) {
    std::uint64_t bits = 0;
    const char* end = name.data() + name.size();
    if (name.size() < 2 || name[0] != 'r' ||
        std::from_chars(name.data() + 1, end, bits) != std::from_chars_result{end, std::errc()})
        return {};
    if (bits == 0 || bits % 8 != 0 || bits / 8 > most_element_bytes)
        throw Error(Code::corrupt, "the data type " + name);
    return bits;
}

Type time_of(const ZarrNamed& named, ByteOrder order, std::string& note) {
    const Json& configuration = named.configuration;
    const std::string unit = configuration.value("unit", "");
    const Json scale = configuration.value("scale_factor", Json(1));
    const auto* found = std::find(units.begin(), units.end(), unit == "\u03bcs" ? "us" : unit);
    if (named.name == "numpy.datetime64" && found != units.end() && scale == 1)
        return Type::datetime64(static_cast<TimeUnit>(found - units.begin()), order);
    note = "its times are kept as int64, of which only the attribute _exchange says that they are " +
           named.name + " in units of " + shown_json(scale) + " " + unit;
    return Type::scalar(Kind::int64, order);
}

void add(const Json& data_type, ByteOrder order, int depth, std::uint64_t offset, ZarrElement& element);

void add_structure(const ZarrNamed& named, ByteOrder order, int depth, std::uint64_t offset,
                   ZarrElement& element) {
    const Json list = named.configuration.value("fields", Json());
    if (!list.is_array() || list.empty() || depth == most_nested)
        throw Error(Code::corrupt, "a data type " + named.name + " without fields, or nested too deep");
    std::vector<Field> fields;
    std::uint64_t bytes = 0;
    for (const Json& item : list) {
        Json name, type;
        if (item.is_array() && item.size() == 2) {
            name = item[0];
            type = item[1];
        } else if (item.is_object()) {
            name = item.value("name", Json());
            type = item.value("data_type", Json());
        }
        if (!name.is_string())
            throw Error(Code::corrupt, "a data type " + named.name + " with a field " + shown_json(item));
        ZarrElement field;
        add(type, order, depth + 1, offset + bytes, field);
        if (field.has_any_length()) throw Error(Code::unsupported, "text of any length in a structure");
        fields.push_back({name.get<std::string>(), bytes, field.type});
        bytes += field.type.size();
        if (bytes > most_element_bytes)
            throw Error(Code::corrupt, "a data type " + named.name + " that large");
        element.texts.insert(element.texts.end(), field.texts.begin(), field.texts.end());
        if (!field.note.empty()) element.note = field.note;
    }
    element.type = Type::structure(std::move(fields), bytes);
}

void add(const Json& data_type, ByteOrder order, int depth, std::uint64_t offset, ZarrElement& element) {
    const ZarrNamed named = zarr_named(data_type, "data type");
    for (const auto& [name, kind] : scalars) {
        if (named.name == name) {
            element.type = Type::scalar(kind, order);
            return;
        }
    }
    if (named.name == "string") {
        element.any_length = ZarrElement::AnyLength::text;
    } else if (named.name == "bytes" || named.name == "variable_length_bytes") {
        element.any_length = ZarrElement::AnyLength::bytes;
    } else if (named.name == "fixed_length_utf32") {
        const std::uint64_t bytes = length_bytes(named);
        if (bytes % 4 != 0)
            throw Error(Code::corrupt, "text in UTF-32 of " + std::to_string(bytes) + " bytes");
        element.type = Type::fixed_string(bytes, true);
        element.texts.push_back({offset, bytes, order});
    } else if (named.name == "null_terminated_bytes") {
        element.type = Type::fixed_string(length_bytes(named), false);
    } else if (named.name == "raw_bytes") {
        element.type = Type::opaque(length_bytes(named));
    } else if (named.name == "numpy.datetime64" || named.name == "numpy.timedelta64") {
        element.type = time_of(named, order, element.note);
    } else if (named.name == "structured" || named.name == "struct") {
        add_structure(named, order, depth, offset, element);
    } else if (const auto bits = raw_bits(named.name)) {
        element.type = Type::opaque(*bits / 8);
    } else {
        throw Error(Code::unsupported, "its data type is " + named.name + ", which is not known here");
    }
}

struct Leaf {
    std::uint64_t offset;
    std::uint64_t bytes;
    std::uint64_t number_bytes;  // 1: no order
    ByteOrder order;
};

void add_leaves(const Type& type, std::uint64_t offset, std::vector<Leaf>& leaves) {
    switch (type.kind()) {
        case Kind::structure:
            for (const Field& field : type.fields()) add_leaves(field.type, offset + field.offset, leaves);
            return;
        case Kind::opaque:
        case Kind::fixed_string:
        case Kind::array:  // raw bytes in Zarr
            leaves.push_back({offset, type.size(), 1, native_order});
            return;
        case Kind::complex64:
        case Kind::complex128:
            leaves.push_back({offset, type.size(), type.size() / 2, type.byte_order()});
            return;
        default:
            leaves.push_back({offset, type.size(), type.size(), type.byte_order()});
    }
}

}  // namespace

ZarrNamed zarr_named(const Json& json, const char* what) {
    if (json.is_string()) return {json.get<std::string>(), Json::object()};
    if (json.is_object() && json.contains("name") && json["name"].is_string()) {
        Json configuration = json.value("configuration", Json::object());
        if (configuration.is_object()) return {json["name"].get<std::string>(), std::move(configuration)};
    }
    throw Error(Code::corrupt, std::string("a ") + what + " without a name: " + shown_json(json));
}

ZarrElement zarr_element(const Json& data_type, ByteOrder order) {
    ZarrElement element;
    try {
        add(data_type, order, 0, 0, element);
    } catch (const Json::exception& error) {
        throw Error(Code::corrupt, std::string("its data type: ") + error.what());
    } catch (const Error& error) {
        if (error.kind() != Code::invalid_argument) throw;
        throw Error(Code::corrupt, std::string("its data type: ") + error.what());
    }
    return element;
}

void ZarrElement::to_pool(std::span<std::byte> elements) const {
    if (texts.empty()) return;
    for (std::size_t at = 0; at < elements.size(); at += type.size()) {
        for (const Text& text : texts) {
            const std::span<std::byte> one = elements.subspan(at + text.offset, text.bytes);
            if (!utf8_of_numpy(one, text.order, one))
                throw Error(Code::corrupt, "a text has a character that there is not");
        }
    }
}

Json zarr_data_type(const Type& type, std::string& note) {
    for (const auto& [name, kind] : scalars) {
        if (type.kind() == kind) return name;
    }
    const auto sized = [&](const char* name) {
        return Json{{"name", name}, {"configuration", {{"length_bytes", type.size()}}}};
    };
    switch (type.kind()) {
        case Kind::datetime64:
            return {{"name", "numpy.datetime64"},
                    {"configuration",
                     {{"unit", units.at(static_cast<std::size_t>(type.unit()))}, {"scale_factor", 1}}}};
        case Kind::enumeration:
            note = "Zarr has no enumerations; of this one the numbers are exported, without their names";
            return zarr_data_type(type.element(), note);
        case Kind::string:
            return "string";
        case Kind::fixed_string:
            return type.is_utf8() ? Json("string") : sized("null_terminated_bytes");
        case Kind::structure: {
            Json fields = Json::array();
            for (const Field& field : type.fields()) {
                Json inner = zarr_data_type(field.type, note);
                if (inner == "string")  // which has any length, and a character no more bytes than in UTF-8
                    inner = {{"name", "fixed_length_utf32"},
                             {"configuration", {{"length_bytes", 4 * field.type.size()}}}};
                fields.push_back(Json::array({field.name, std::move(inner)}));
            }
            return {{"name", "structured"}, {"configuration", {{"fields", std::move(fields)}}}};
        }
        case Kind::opaque:
            if (!type.tag().empty())
                note = "Zarr has no tags of opaque types; '" + type.tag() + "' is not exported";
            return sized("raw_bytes");
        case Kind::array:
            note = "Zarr has no arrays inside of elements; they become raw bytes";
            return sized("raw_bytes");
        default:
            throw Error(Code::unsupported, "Zarr has no type for " + type.name());
    }
}

bool has_no_order(const Type& type) {
    if (!type.is_fixed_size()) return true;
    std::vector<Leaf> leaves;
    add_leaves(type, 0, leaves);
    return std::all_of(leaves.begin(), leaves.end(), [](const Leaf& leaf) { return leaf.number_bytes == 1; });
}

ZarrPacking::ZarrPacking(const Type& from, const ZarrElement& to)
    : from_bytes_(from.size()), to_bytes_(to.type.size()), texts_(to.texts) {
    std::vector<Leaf> theirs, ours;
    add_leaves(from, 0, ours);
    add_leaves(to.type, 0, theirs);
    does_nothing_ = from_bytes_ == to_bytes_ && texts_.empty();
    for (std::size_t i = 0; i < ours.size() && i < theirs.size(); ++i) {
        const bool is_swapped = ours[i].number_bytes > 1 && ours[i].order != theirs[i].order;
        moves_.push_back({ours[i].offset, theirs[i].offset, std::min(ours[i].bytes, theirs[i].bytes),
                          is_swapped ? ours[i].number_bytes : 0});
        does_nothing_ = does_nothing_ && !is_swapped && ours[i].offset == theirs[i].offset;
    }
    does_nothing_ = does_nothing_ && ours.size() == theirs.size();
}

std::span<const std::byte> ZarrPacking::operator()(std::span<const std::byte> elements,
                                                   std::vector<std::byte>& room) const {
    if (does_nothing_) return elements;
    const std::size_t count = elements.size() / from_bytes_;
    room.assign(count * to_bytes_, std::byte{0});
    for (std::size_t i = 0; i < count; ++i) {
        const std::byte* from = elements.data() + i * from_bytes_;
        std::byte* to = room.data() + i * to_bytes_;
        for (const Move& move : moves_) {
            std::memcpy(to + move.to, from + move.from, move.bytes);
            for (std::uint64_t at = 0; move.swapped != 0 && at < move.bytes; at += move.swapped)
                std::reverse(to + move.to + at, to + move.to + at + move.swapped);
        }
        for (const ZarrElement::Text& text : texts_) {
            const std::span<std::byte> one(to + text.offset, text.bytes);
            const std::vector<std::byte> utf8(one.begin(), one.end());
            const auto characters = characters_of(utf8);
            if (!characters) throw Error(Code::unsupported, "a text is no UTF-8");
            if (4 * *characters > text.bytes) {
                throw Error(Code::unsupported,
                            "a text has more characters than the " + std::to_string(text.bytes / 4) +
                                " that the data type in its attribute _exchange has room for");
            }
            numpy_of_utf8(utf8, text.order, one);
        }
    }
    return room;
}

}  // namespace pmemcpy::exchange
