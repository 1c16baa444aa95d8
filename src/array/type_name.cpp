#include <array>
#include <pmemcpy/type.hpp>

#include "array/type_details.hpp"

namespace pmemcpy {

namespace {

constexpr std::array scalar_names = {"none",    "int8",      "int16",      "int32",   "int64",    "uint8",
                                     "uint16",  "uint32",    "uint64",     "float16", "bfloat16", "float32",
                                     "float64", "complex64", "complex128", "bool"};
constexpr std::array unit_names = {"Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "ps", "fs", "as"};
constexpr std::size_t values_shown = 8;

std::string names_of(std::span<const EnumValue> values) {
    std::string text;
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (i > 0) text += ", ";
        if (i == values_shown) return text + "...";
        text += values[i].name + "=" + std::to_string(values[i].value);
    }
    return text;
}

std::string names_of(std::span<const Field> fields) {
    std::string text;
    for (const Field& field : fields) {
        if (!text.empty()) text += ", ";
        text += field.name + ": " + field.type.name();
    }
    return text;
}

std::string in_brackets(const Dimensions& dims) {
    std::string text;
    for (const Extent extent : dims) text += (text.empty() ? "" : ", ") + std::to_string(extent);
    return "[" + text + "]";
}

}  // namespace

std::string Type::name() const {
    // The order is said only when it is the rarer one, whatever this machine has.
    const std::string order = order_ == ByteOrder::big && size_ > 1 ? "(big-endian)" : "";
    switch (kind_) {
        case Kind::enumeration:
            return "enum<" + element().name() + ">{" + names_of(values()) + "}";
        case Kind::opaque:
            return "opaque(" + std::to_string(size_) + (tag().empty() ? "" : ", " + tag()) + ")";
        case Kind::datetime64:
            return std::string("datetime64[") + unit_names.at(static_cast<std::size_t>(unit_)) + "]" + order;
        case Kind::fixed_string:
            return "string(" + std::to_string(size_) + (utf8_ ? "" : ", ascii") + ")";
        case Kind::string:
            return "string";
        case Kind::sequence:
            return "sequence<" + element().name() + ">";
        case Kind::array:
            return element().name() + in_brackets(dimensions());
        case Kind::structure:
            return "struct{" + names_of(fields()) + "}";
        default:
            return scalar_names.at(static_cast<std::size_t>(kind_)) + order;
    }
}

}  // namespace pmemcpy
