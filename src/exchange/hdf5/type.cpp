#include "exchange/hdf5/type.hpp"

#include <string>
#include <vector>

namespace pmemcpy::exchange {

Handle hdf5_copy_of(hid_t type) { return {H5Tcopy(type), H5Tclose}; }

hid_t hdf5_little_integer(Kind kind) {
    switch (kind) {
        case Kind::int8:
            return H5T_STD_I8LE;
        case Kind::int16:
            return H5T_STD_I16LE;
        case Kind::int32:
            return H5T_STD_I32LE;
        case Kind::int64:
            return H5T_STD_I64LE;
        case Kind::uint8:
        case Kind::boolean:
            return H5T_STD_U8LE;
        case Kind::uint16:
            return H5T_STD_U16LE;
        case Kind::uint32:
            return H5T_STD_U32LE;
        default:
            return H5T_STD_U64LE;
    }
}

Handle hdf5_text(bool utf8) {
    Handle text = hdf5_copy_of(H5T_C_S1);
    H5Tset_size(text, H5T_VARIABLE);
    H5Tset_cset(text, utf8 ? H5T_CSET_UTF8 : H5T_CSET_ASCII);
    return text;
}

namespace {

Handle real_of_two_bytes(const RealFields& fields, ByteOrder order) {
    Handle type = hdf5_copy_of(H5T_IEEE_F32LE);
    H5Tset_fields(type, 15, fields.exponent_at, fields.exponent_bits, 0, fields.mantissa_bits);
    H5Tset_size(type, 2);
    H5Tset_ebias(type, fields.bias);
    H5Tset_order(type, order == ByteOrder::big ? H5T_ORDER_BE : H5T_ORDER_LE);
    return type;
}

Handle scalar_of(const Type& type) {
    const bool big = type.byte_order() == ByteOrder::big;
    switch (type.kind()) {
        case Kind::float16:
            return real_of_two_bytes(half_fields, type.byte_order());
        case Kind::bfloat16:
            return real_of_two_bytes(brain_fields, type.byte_order());
        case Kind::float32:
            return hdf5_copy_of(big ? H5T_IEEE_F32BE : H5T_IEEE_F32LE);
        case Kind::float64:
            return hdf5_copy_of(big ? H5T_IEEE_F64BE : H5T_IEEE_F64LE);
        case Kind::complex64:
        case Kind::complex128: {
            const Kind part = type.kind() == Kind::complex64 ? Kind::float32 : Kind::float64;
            const Handle real = scalar_of(Type::scalar(part, type.byte_order()));
            Handle both(H5Tcreate(H5T_COMPOUND, type.size()), H5Tclose);
            H5Tinsert(both, "r", 0, real);
            H5Tinsert(both, "i", type.size() / 2, real);
            return both;
        }
        case Kind::boolean: {
            Handle truth(H5Tenum_create(H5T_STD_I8LE), H5Tclose);
            constexpr std::array<signed char, 2> values = {0, 1};
            H5Tenum_insert(truth, "FALSE", &values[0]);
            H5Tenum_insert(truth, "TRUE", &values[1]);
            return truth;
        }
        default: {
            Handle integer = hdf5_copy_of(hdf5_little_integer(type.kind()));
            if (big) H5Tset_order(integer, H5T_ORDER_BE);
            return integer;
        }
    }
}

Handle enumeration_of(const Type& type) {
    const Handle base = scalar_of(type.element());
    Handle named(H5Tenum_create(base), H5Tclose);
    for (const EnumValue& value : type.values()) {
        std::int64_t number = value.value;
        H5Tconvert(H5T_NATIVE_INT64, base, 1, &number, nullptr, H5P_DEFAULT);
        H5Tenum_insert(named, value.name.c_str(), &number);
    }
    return named;
}

Handle opaque_of(std::uint64_t bytes, const std::string& tag) {
    Handle opaque(H5Tcreate(H5T_OPAQUE, bytes), H5Tclose);
    H5Tset_tag(opaque, tag.substr(0, H5T_OPAQUE_TAG_MAX - 1).c_str());
    return opaque;
}

}  // namespace

Handle hdf5_type_of(const Type& type) {
    switch (type.kind()) {
        case Kind::enumeration:
            return enumeration_of(type);
        case Kind::opaque:
            return opaque_of(type.size(), type.tag());
        case Kind::datetime64: {
            const std::string unit = numpy_units[static_cast<std::size_t>(type.unit())];
            return opaque_of(8, numpy_tag + std::string(type.byte_order() == ByteOrder::big ? ">" : "<") +
                                    "M8[" + unit + "]");
        }
        case Kind::fixed_string: {
            Handle text = hdf5_copy_of(H5T_C_S1);
            H5Tset_size(text, type.size());
            H5Tset_strpad(text, H5T_STR_NULLPAD);
            H5Tset_cset(text, type.is_utf8() ? H5T_CSET_UTF8 : H5T_CSET_ASCII);
            return text;
        }
        case Kind::array: {
            std::vector<hsize_t> dims(type.dimensions().begin(), type.dimensions().end());
            const Handle element = hdf5_type_of(type.element());
            return {H5Tarray_create2(element, static_cast<unsigned>(dims.size()), dims.data()), H5Tclose};
        }
        case Kind::structure: {
            if (!type.is_fixed_size()) break;
            Handle compound(H5Tcreate(H5T_COMPOUND, type.size()), H5Tclose);
            for (const Field& field : type.fields()) {
                const Handle inner = hdf5_type_of(field.type);
                H5Tinsert(compound, field.name.c_str(), field.offset, inner);
            }
            return compound;
        }
        case Kind::none:
        case Kind::string:
        case Kind::sequence:
            break;
        default:
            return scalar_of(type);
    }
    throw Error(Code::unsupported, "HDF5 cannot be given elements of the type " + type.name());
}

Handle hdf5_space_of(const Dimensions& shape) {
    const std::vector<hsize_t> extents(shape.begin(), shape.end());
    return {shape.empty() ? H5Screate(H5S_SCALAR) : H5Screate_simple(shape.size(), extents.data(), nullptr),
            H5Sclose};
}

}  // namespace pmemcpy::exchange
