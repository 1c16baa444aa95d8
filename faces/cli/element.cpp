#include "element.hpp"

#include <fmt/format.h>

#include <iterator>
#include <pmemcpy/error.hpp>

#include "datetime.hpp"
#include "number.hpp"

namespace pmemcpy::cli {

namespace {

void append_hexadecimal(std::string& out, std::span<const std::byte> bytes) {
    out += "0x";
    for (const std::byte byte : bytes)
        fmt::format_to(std::back_inserter(out), "{:02x}", static_cast<unsigned>(byte));
}

void append_complex(std::string& out, const Type& type, std::span<const std::byte> bytes) {
    const std::span<const std::byte> parts[] = {bytes.first(bytes.size() / 2),
                                                bytes.subspan(bytes.size() / 2)};
    visit_number(part_of(type.kind()), type.byte_order(), parts[0],
                 [&](auto real) { fmt::format_to(std::back_inserter(out), "{}", real); });
    visit_number(part_of(type.kind()), type.byte_order(), parts[1], [&](auto imaginary) {
        fmt::format_to(std::back_inserter(out), "{:+}i", static_cast<double>(imaginary));
    });
}

void append_structure(std::string& out, const Type& type, std::span<const std::byte> bytes) {
    const char* separator = "";
    out += '{';
    for (const Field& field : type.fields()) {
        out += separator;
        out += field.name;
        out += ": ";
        append_text(out, field.type, bytes.subspan(field.offset, field.type.size()));
        separator = ", ";
    }
    out += '}';
}

void append_array(std::string& out, const Type& type, std::span<const std::byte> bytes) {
    const char* separator = "";
    out += '[';
    for (std::uint64_t at = 0; at < bytes.size(); at += type.element().size()) {
        out += separator;
        append_text(out, type.element(), bytes.subspan(at, type.element().size()));
        separator = ", ";
    }
    out += ']';
}

}  // namespace

void append_text(std::string& out, const Type& type, std::span<const std::byte> bytes) {
    const auto plain = [&](auto number) { fmt::format_to(std::back_inserter(out), "{}", number); };
    if (visit_number(type.kind(), type.byte_order(), bytes, plain)) return;
    switch (type.kind()) {
        case Kind::complex64:
        case Kind::complex128:
            append_complex(out, type, bytes);
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
            append_array(out, type, bytes);
            return;
        case Kind::structure:
            append_structure(out, type, bytes);
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

std::string value_text(const Type& type, std::span<const std::byte> bytes) {
    std::string out;
    if (type.kind() == Kind::string) {
        out.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
        out += '\n';
        return out;
    }
    const Type& element = type.kind() == Kind::sequence ? type.element() : type;
    if (element.size() == 0 || bytes.size() % element.size() != 0) {
        throw Error(Code::corrupt,
                    fmt::format("{} bytes are no whole number of {}", bytes.size(), element.name()));
    }
    for (std::size_t at = 0; at < bytes.size(); at += element.size()) {
        append_text(out, element, bytes.subspan(at, element.size()));
        out += '\n';
    }
    return out;
}

}  // namespace pmemcpy::cli
