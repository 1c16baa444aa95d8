#pragma once

#include <array>
#include <cstddef>
#include <pmemcpy/box.hpp>
#include <pmemcpy/type.hpp>

#include "exchange/hdf5/handle.hpp"

namespace pmemcpy::exchange {

/// HDF5's type for elements of a pool, as they lie in it. Errors: unsupported for elements without a fixed size.
Handle hdf5_type_of(const Type& type);

/// Text of any length.
Handle hdf5_text(bool utf8 = true);

/// A copy that its owner may change.
Handle hdf5_copy_of(hid_t type);

/// The dataspace of a value of that shape; a scalar for none.
Handle hdf5_space_of(const Dimensions& shape);

/// Of an integer's kind (boolean: its byte), little-endian.
hid_t hdf5_little_integer(Kind kind);

/// Where the parts of a floating-point number of two bytes lie.
struct RealFields {
    std::size_t exponent_at, exponent_bits, mantissa_bits;
    std::size_t bias;
};
inline constexpr RealFields half_fields{10, 5, 10, 15};
inline constexpr RealFields brain_fields{7, 8, 7, 127};

/// h5py's tag of opaque bytes that are datetime64: NUMPY:<M8[us].
inline constexpr const char* numpy_tag = "NUMPY:";
/// By the number of the TimeUnit.
inline constexpr std::array numpy_units = {"Y",  "M",  "W",  "D",  "h",  "m", "s",
                                           "ms", "us", "ns", "ps", "fs", "as"};

}  // namespace pmemcpy::exchange
