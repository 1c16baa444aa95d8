#include "exchange/zarr/fill.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <pmemcpy/error.hpp>
#include <pmemcpy/float16.hpp>

#include "exchange/zarr/base64.hpp"
#include "exchange/zarr/json.hpp"

namespace pmemcpy::exchange {

namespace {

constexpr std::int64_t not_a_time = std::numeric_limits<std::int64_t>::min();

[[noreturn]] void refuse_fill(const Json& fill, const std::string& type) {
    throw Error(Code::corrupt, "its fill_value " + shown_json(fill) + " is none of " + type);
}

/// The lowest bytes of `bits`, in the order of the type.
void put(std::uint64_t bits, ByteOrder order, std::span<std::byte> to) {
    static_assert(native_order == ByteOrder::little);
    std::memcpy(to.data(), &bits, to.size());
    if (order == ByteOrder::big) std::reverse(to.begin(), to.end());
}

std::uint64_t bits_of(ByteOrder order, std::span<const std::byte> from) {
    std::array<std::byte, 8> bytes{};
    std::copy(from.begin(), from.end(), bytes.begin());
    if (order == ByteOrder::big)
        std::reverse(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(from.size()));
    return std::bit_cast<std::uint64_t>(bytes);
}

std::uint64_t bits_of_float(Kind kind, double value) {
    switch (kind) {
        case Kind::float16:
            return float16(static_cast<float>(value)).bits;
        case Kind::bfloat16:
            return bfloat16(static_cast<float>(value)).bits;
        case Kind::float32:
            return std::bit_cast<std::uint32_t>(static_cast<float>(value));
        default:
            return std::bit_cast<std::uint64_t>(value);
    }
}

double float_of_bits(Kind kind, std::uint64_t bits) {
    switch (kind) {
        case Kind::float16:
            return static_cast<double>(
                static_cast<float>(float16::from_bits(static_cast<std::uint16_t>(bits))));
        case Kind::bfloat16:
            return static_cast<double>(
                static_cast<float>(bfloat16::from_bits(static_cast<std::uint16_t>(bits))));
        case Kind::float32:
            return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
        default:
            return std::bit_cast<double>(bits);
    }
}

/// The NaN that "NaN" means: positive, quiet, the rest zeros.
std::uint64_t quiet_nan(Kind kind) {
    switch (kind) {
        case Kind::float16:
            return 0x7E00;
        case Kind::bfloat16:
            return 0x7FC0;
        case Kind::float32:
            return 0x7FC00000;
        default:
            return 0x7FF8000000000000;
    }
}

std::uint64_t bits_of_json_float(Kind kind, std::uint64_t bytes, const Json& fill) {
    if (fill.is_number()) {
        const auto value = fill.get<double>();
        return std::isnan(value) ? quiet_nan(kind) : bits_of_float(kind, value);
    }
    const std::string text = fill.is_string() ? fill.get<std::string>() : "";
    if (text == "NaN") return quiet_nan(kind);
    if (text == "Infinity") return bits_of_float(kind, std::numeric_limits<double>::infinity());
    if (text == "-Infinity") return bits_of_float(kind, -std::numeric_limits<double>::infinity());
    std::uint64_t bits = 0;
    const char* end = text.data() + text.size();
    if (!text.starts_with("0x") || text.size() != 2 + 2 * bytes ||
        std::from_chars(text.data() + 2, end, bits, 16) != std::from_chars_result{end, std::errc()})
        refuse_fill(fill, "float" + std::to_string(8 * bytes));
    return bits;
}

Json json_of_float(Kind kind, std::uint64_t bytes, std::uint64_t bits) {
    const double value = float_of_bits(kind, bits);
    if (std::isfinite(value)) return value;
    if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
    if (bits == quiet_nan(kind)) return "NaN";
    constexpr std::string_view hex_digits = "0123456789abcdef";
    std::string text = "0x";
    for (auto shift = 8 * bytes; shift > 0; shift -= 4) text += hex_digits[bits >> (shift - 4) & 0xF];
    return text;
}

std::uint64_t bits_of_integer(const Type& type, const Json& fill) {
    const Kind kind = type.kind();
    const bool is_signed = kind >= Kind::int8 && kind <= Kind::int64;
    const auto width = 8 * static_cast<unsigned>(type.size());
    if (fill.is_number_float()) {  // some write 0.0 for 0
        const auto value = fill.get<double>();
        if (value != std::floor(value) || std::abs(value) >= 9e15) refuse_fill(fill, type.name());
        return bits_of_integer(type, value < 0 ? Json(static_cast<std::int64_t>(value))
                                               : Json(static_cast<std::uint64_t>(value)));
    }
    if (!fill.is_number_integer()) refuse_fill(fill, type.name());
    if (fill.is_number_unsigned()) {
        const auto value = fill.get<std::uint64_t>();
        const auto most = std::numeric_limits<std::uint64_t>::max() >> (64 - width + (is_signed ? 1 : 0));
        if (value > most) refuse_fill(fill, type.name());
        return value;
    }
    const auto value = fill.get<std::int64_t>();
    if (!is_signed || value < (std::numeric_limits<std::int64_t>::min() >> (64 - width)))
        refuse_fill(fill, type.name());
    return static_cast<std::uint64_t>(value);
}

std::int64_t integer_of_bits(const Type& type, std::uint64_t bits) {
    const unsigned unused = 64 - 8 * static_cast<unsigned>(type.size());
    return static_cast<std::int64_t>(bits << unused) >> unused;
}

/// Base64, or a list of numbers below 256.
std::vector<std::byte> raw(const Json& fill, const std::string& type) {
    if (fill.is_string()) {
        if (auto bytes = bytes_of_base64(fill.get_ref<const std::string&>())) return std::move(*bytes);
        refuse_fill(fill, type);
    }
    std::vector<std::byte> bytes;
    if (!fill.is_array()) refuse_fill(fill, type);
    for (const Json& item : fill) {
        if (!item.is_number_unsigned() || item.get<std::uint64_t>() > 255) refuse_fill(fill, type);
        bytes.push_back(static_cast<std::byte>(item.get<unsigned>()));
    }
    return bytes;
}

void fill_structure(const Json& fill, const ZarrNamed& named, const ZarrElement& element,
                    std::span<std::byte> to) {
    const Type& type = element.type;
    if (fill.is_number() && fill == 0) return;
    if (!fill.is_object()) {
        std::vector<std::byte> bytes = raw(fill, named.name);
        if (bytes.size() != to.size()) refuse_fill(fill, type.name());
        element.to_pool(bytes);
        std::copy(bytes.begin(), bytes.end(), to.begin());
        return;
    }
    const Json& fields = named.configuration["fields"];
    for (std::size_t i = 0; i < fields.size(); ++i) {
        const Json& field = fields[i];
        const Json& inner = field.is_array() ? field[1] : field["data_type"];
        const Field& place = type.fields()[i];
        if (!fill.contains(place.name)) refuse_fill(fill, type.name());
        ZarrElement part = zarr_element(inner, ByteOrder::little);
        part.type = place.type;  // in its own order
        const std::vector<std::byte> bytes = bytes_of_fill(fill[place.name], inner, part);
        std::copy(bytes.begin(), bytes.end(), to.begin() + static_cast<std::ptrdiff_t>(place.offset));
    }
}

}  // namespace

Json number_of(const Type& type, std::span<const std::byte> bytes) {
    const auto half = bytes.size() / 2;
    switch (type.kind()) {
        case Kind::boolean:
            return bytes[0] != std::byte{0};
        case Kind::int8:
        case Kind::int16:
        case Kind::int32:
        case Kind::int64:
        case Kind::datetime64:
            return integer_of_bits(type, bits_of(type.byte_order(), bytes));
        case Kind::uint8:
        case Kind::uint16:
        case Kind::uint32:
        case Kind::uint64:
            return bits_of(type.byte_order(), bytes);
        case Kind::float16:
        case Kind::bfloat16:
        case Kind::float32:
        case Kind::float64:
            return float_of_bits(type.kind(), bits_of(type.byte_order(), bytes));
        case Kind::complex64:
        case Kind::complex128: {
            const Type part = Type::scalar(type.kind() == Kind::complex64 ? Kind::float32 : Kind::float64,
                                           type.byte_order());
            return Json::array({number_of(part, bytes.first(half)), number_of(part, bytes.subspan(half))});
        }
        case Kind::enumeration:
            return number_of(type.element(), bytes);
        case Kind::fixed_string: {
            std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
            while (!text.empty() && text.back() == '\0') text.pop_back();
            return text;
        }
        default:
            throw Error(Code::unsupported, "JSON has no " + type.name());
    }
}

std::vector<std::byte> bytes_of_fill(const Json& fill, const Json& data_type, const ZarrElement& element) {
    if (element.has_any_length()) {
        if (fill.is_null() || (fill.is_number() && fill == 0)) return {};  // of Zarr 2
        if (element.any_length == ZarrElement::AnyLength::bytes) return raw(fill, "bytes");
        if (!fill.is_string()) refuse_fill(fill, "text");
        const auto& text = fill.get_ref<const std::string&>();
        const auto bytes = std::as_bytes(std::span(text));
        return {bytes.begin(), bytes.end()};
    }
    const Type& type = element.type;
    std::vector<std::byte> bytes(type.size());
    const auto half = bytes.size() / 2;
    const std::span<std::byte> all(bytes);
    switch (type.kind()) {
        case Kind::boolean:
            if (fill.is_number() && (fill == 0 || fill == 1)) {
                bytes[0] = fill == 1 ? std::byte{1} : std::byte{0};
            } else if (fill.is_boolean()) {
                bytes[0] = fill.get<bool>() ? std::byte{1} : std::byte{0};
            } else {
                refuse_fill(fill, "bool");
            }
            break;
        case Kind::float16:
        case Kind::bfloat16:
        case Kind::float32:
        case Kind::float64:
            put(bits_of_json_float(type.kind(), bytes.size(), fill), type.byte_order(), all);
            break;
        case Kind::complex64:
        case Kind::complex128: {
            const Kind part = type.kind() == Kind::complex64 ? Kind::float32 : Kind::float64;
            const Json parts = fill.is_number() ? Json::array({fill, 0.0}) : fill;
            if (!parts.is_array() || parts.size() != 2) refuse_fill(fill, type.name());
            put(bits_of_json_float(part, half, parts[0]), type.byte_order(), all.first(half));
            put(bits_of_json_float(part, half, parts[1]), type.byte_order(), all.subspan(half));
            break;
        }
        case Kind::fixed_string: {
            if (fill.is_number() && fill == 0) break;  // of Zarr 2
            const bool is_utf8 = type.is_utf8();
            if (is_utf8 && !fill.is_string()) refuse_fill(fill, "text");
            std::vector<std::byte> text;
            if (is_utf8) {
                const auto part = std::as_bytes(std::span(fill.get_ref<const std::string&>()));
                text.assign(part.begin(), part.end());
            } else {
                text = raw(fill, type.name());
            }
            if (text.size() > bytes.size()) refuse_fill(fill, type.name());
            std::copy(text.begin(), text.end(), bytes.begin());
            break;
        }
        case Kind::opaque: {
            bytes =
                raw(fill.is_number() && fill == 0 ? Json(std::vector<int>(bytes.size())) : fill, type.name());
            if (bytes.size() != type.size()) refuse_fill(fill, type.name());
            break;
        }
        case Kind::structure:
            fill_structure(fill, zarr_named(data_type, "data type"), element, all);
            break;
        default:
            if (fill == "NaT" && type.size() == 8) {
                put(static_cast<std::uint64_t>(not_a_time), type.byte_order(), all);
            } else {
                put(bits_of_integer(
                        type.kind() == Kind::datetime64 ? Type::scalar(Kind::int64, type.byte_order()) : type,
                        fill),
                    type.byte_order(), all);
            }
    }
    return bytes;
}

Json fill_of_bytes(const ZarrElement& element, std::span<const std::byte> bytes) {
    const Type& type = element.type;
    const auto half = bytes.size() / 2;
    const auto one_float = [&](Kind kind, std::span<const std::byte> part) {
        return json_of_float(kind, part.size(), bits_of(type.byte_order(), part));
    };
    if (element.any_length == ZarrElement::AnyLength::bytes) return base64_of(bytes);
    if (element.any_length == ZarrElement::AnyLength::text)
        return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    switch (type.kind()) {
        case Kind::float16:
        case Kind::bfloat16:
        case Kind::float32:
        case Kind::float64:
            return one_float(type.kind(), bytes);
        case Kind::complex64:
            return Json::array(
                {one_float(Kind::float32, bytes.first(half)), one_float(Kind::float32, bytes.subspan(half))});
        case Kind::complex128:
            return Json::array(
                {one_float(Kind::float64, bytes.first(half)), one_float(Kind::float64, bytes.subspan(half))});
        case Kind::fixed_string: {
            const std::string text = number_of(type, bytes).get<std::string>();
            return type.is_utf8() ? Json(text) : Json(base64_of(std::as_bytes(std::span(text))));
        }
        case Kind::opaque:
        case Kind::structure:
        case Kind::array:
            return base64_of(bytes);
        default:
            return number_of(type, bytes);
    }
}

}  // namespace pmemcpy::exchange
