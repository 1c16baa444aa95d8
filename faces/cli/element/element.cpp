#include "cli/element/element.hpp"

#include <fmt/format.h>

#include <iterator>
#include <pmemcpy/error.hpp>
#include <pmemcpy/number.hpp>
#include <type_traits>

#include "cli/element/datetime.hpp"

namespace pmemcpy::cli {

namespace {

void append_hexadecimal(std::string& out, std::span<const std::byte> bytes) {
    out += "0x";
    for (const std::byte byte : bytes)
        fmt::format_to(std::back_inserter(out), "{:02x}", static_cast<unsigned>(byte));
}

void append_number(std::string& out, auto number, Precision precision) {
    if constexpr (std::is_floating_point_v<decltype(number)>) {
        if (precision != exact) {
            fmt::format_to(std::back_inserter(out), "{:.{}g}", number, precision);
            return;
        }
    }
    fmt::format_to(std::back_inserter(out), "{}", number);
}

void append_complex(std::string& out, const Type& type, std::span<const std::byte> bytes,
                    Precision precision) {
    const std::size_t half = bytes.size() / 2;
    const auto append = [&](auto part) { append_number(out, part, precision); };
    visit_number(part_of(type.kind()), type.byte_order(), bytes.first(half), append);
    const std::size_t middle = out.size();
    visit_number(part_of(type.kind()), type.byte_order(), bytes.subspan(half), append);
    if (out[middle] != '-') out.insert(middle, 1, '+');
    out += 'i';
}

void append_structure(std::string& out, const Type& type, std::span<const std::byte> bytes,
                      Precision precision) {
    const char* separator = "";
    out += '{';
    for (const Field& field : type.fields()) {
        out += separator;
        out += field.name;
        out += ": ";
        append_text(out, field.type, bytes.subspan(field.offset, field.type.size()), precision);
        separator = ", ";
    }
    out += '}';
}

void append_array(std::string& out, const Type& type, std::span<const std::byte> bytes, Precision precision) {
    const char* separator = "";
    out += '[';
    for (std::uint64_t at = 0; at < bytes.size(); at += type.element().size()) {
        out += separator;
        append_text(out, type.element(), bytes.subspan(at, type.element().size()), precision);
        separator = ", ";
    }
    out += ']';
}

}  // namespace

void append_text(std::string& out, const Type& type, std::span<const std::byte> bytes, Precision precision) {
    const auto plain = [&](auto number) { append_number(out, number, precision); };
    if (visit_number(type.kind(), type.byte_order(), bytes, plain)) return;
    switch (type.kind()) {
        case Kind::complex64:
        case Kind::complex128:
            append_complex(out, type, bytes, precision);
            return;
        case Kind::enumeration:
            visit_number(type.element().kind(), type.element().byte_order(), bytes, [&](auto number) {
                const EnumValue* named = named_value(type, static_cast<std::int64_t>(number));
                if (named != nullptr) {
                    out += named->name;
                } else {
                    plain(number);
                }
            });
            return;
        case Kind::datetime64:
            out += datetime_text(read_number<std::int64_t>(bytes, type.byte_order()), type.unit());
            return;
        case Kind::fixed_string:
        case Kind::string:
            out += padded_text(bytes);
            return;
        case Kind::array:
            append_array(out, type, bytes, precision);
            return;
        case Kind::structure:
            append_structure(out, type, bytes, precision);
            return;
        default:
            append_hexadecimal(out, bytes);
            return;
    }
}

bool is_readable(const Type& type, SerializerType serializer) {
    if (serializer != SerializerType::bp4 && serializer != SerializerType::none) return false;
    if (type.kind() == Kind::sequence) return type.element().is_fixed_size();
    return type.kind() == Kind::string || type.is_fixed_size();
}

bool is_text(const Type& type) {
    return type.kind() == Kind::string || (type.kind() == Kind::opaque && type.tag() == "json");
}

void check_whole(const Type& element, std::span<const std::byte> bytes, bool is_sequence) {
    if (element.kind() == Kind::opaque && element.size() == 1) return;
    const bool is_whole = element.size() != 0 && bytes.size() % element.size() == 0;
    if (is_whole && (is_sequence || bytes.size() == element.size())) return;
    throw Error(Code::corrupt,
                fmt::format("{} bytes are no whole number of {}", bytes.size(), element.name()));
}

std::string value_text(const Type& type, std::span<const std::byte> bytes, Precision precision) {
    std::string out;
    if (is_text(type)) {
        out.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
        out += '\n';
        return out;
    }
    const bool is_sequence = type.kind() == Kind::sequence;
    const Type& element = is_sequence ? type.element() : type;
    check_whole(element, bytes, is_sequence);
    const std::size_t each = is_sequence ? element.size() : bytes.size();
    for (std::size_t at = 0; at < bytes.size(); at += each) {
        append_text(out, element, bytes.subspan(at, each), precision);
        out += '\n';
    }
    return out;
}

}  // namespace pmemcpy::cli
