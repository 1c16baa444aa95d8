#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <pmemcpy/float16.hpp>
#include <pmemcpy/type.hpp>
#include <span>

namespace pmemcpy {

/// Reads a number of either byte order.
template <class T>
T read_number(std::span<const std::byte> bytes, ByteOrder order) {
    std::array<std::byte, sizeof(T)> raw{};
    std::copy_n(bytes.begin(), sizeof(T), raw.begin());
    if (order != native_order) std::reverse(raw.begin(), raw.end());
    T value;
    std::memcpy(&value, raw.data(), sizeof value);
    return value;
}

/// Calls visit with the number in `bytes`, as a std::int64_t, std::uint64_t, float, double or bool. Returns
/// false, without a call, for kinds that are no single number.
template <class Visit>
bool visit_number(Kind kind, ByteOrder order, std::span<const std::byte> bytes, Visit&& visit) {
    switch (kind) {
        case Kind::int8:
            visit(std::int64_t{read_number<std::int8_t>(bytes, order)});
            return true;
        case Kind::int16:
            visit(std::int64_t{read_number<std::int16_t>(bytes, order)});
            return true;
        case Kind::int32:
            visit(std::int64_t{read_number<std::int32_t>(bytes, order)});
            return true;
        case Kind::int64:
            visit(read_number<std::int64_t>(bytes, order));
            return true;
        case Kind::uint8:
            visit(std::uint64_t{read_number<std::uint8_t>(bytes, order)});
            return true;
        case Kind::uint16:
            visit(std::uint64_t{read_number<std::uint16_t>(bytes, order)});
            return true;
        case Kind::uint32:
            visit(std::uint64_t{read_number<std::uint32_t>(bytes, order)});
            return true;
        case Kind::uint64:
            visit(read_number<std::uint64_t>(bytes, order));
            return true;
        case Kind::float16:
            visit(float(float16::from_bits(read_number<std::uint16_t>(bytes, order))));
            return true;
        case Kind::bfloat16:
            visit(float(bfloat16::from_bits(read_number<std::uint16_t>(bytes, order))));
            return true;
        case Kind::float32:
            visit(read_number<float>(bytes, order));
            return true;
        case Kind::float64:
            visit(read_number<double>(bytes, order));
            return true;
        case Kind::boolean:
            visit(bytes[0] != std::byte{0});
            return true;
        default:
            return false;
    }
}

/// The kind of the two parts of a complex number.
inline Kind part_of(Kind complex) { return complex == Kind::complex64 ? Kind::float32 : Kind::float64; }

/// The text in a fixed string, without the zeros that pad it.
inline std::string_view padded_text(std::span<const std::byte> bytes) {
    std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    while (!text.empty() && text.back() == '\0') text.remove_suffix(1);
    return text;
}

/// The name of a value of an enumeration; null if it has none.
inline const EnumValue* named_value(const Type& type, std::int64_t value) {
    const auto values = type.values();
    const auto found = std::find_if(values.begin(), values.end(),
                                    [&](const EnumValue& named) { return named.value == value; });
    return found == values.end() ? nullptr : &*found;
}

}  // namespace pmemcpy
