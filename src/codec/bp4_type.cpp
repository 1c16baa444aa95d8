#include "codec/bp4_type.hpp"

namespace pmemcpy::codec::bp4 {

std::optional<Type> type_of(const pmemcpy::Type& type) {
    if (!type.is_native()) return std::nullopt;
    switch (type.kind()) {
        case Kind::int8:
            return Type::int8;
        case Kind::int16:
            return Type::int16;
        case Kind::int32:
            return Type::int32;
        case Kind::int64:
            return Type::int64;
        case Kind::uint8:
            return Type::uint8;
        case Kind::uint16:
            return Type::uint16;
        case Kind::uint32:
            return Type::uint32;
        case Kind::uint64:
            return Type::uint64;
        case Kind::float32:
            return Type::float32;
        case Kind::float64:
            return Type::float64;
        case Kind::complex64:
            return Type::complex64;
        case Kind::complex128:
            return Type::complex128;
        case Kind::boolean:
            return Type::uint8;
        case Kind::enumeration:
            return type_of(type.element());
        case Kind::datetime64:
            return Type::int64;
        case Kind::string:
            return Type::string;
        case Kind::none:
        case Kind::float16:
        case Kind::bfloat16:
        case Kind::opaque:
        case Kind::fixed_string:
        case Kind::sequence:
        case Kind::array:
        case Kind::structure:
            break;
    }
    return std::nullopt;
}

}  // namespace pmemcpy::codec::bp4
