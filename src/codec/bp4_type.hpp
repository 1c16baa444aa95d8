#pragma once

#include <optional>
#include <pmemcpy/type.hpp>

#include "codec/bp4_characteristics.hpp"

namespace pmemcpy::codec::bp4 {

/// What BP4 calls this element type, or nothing if it has no such elements. A boolean is an uint8 there, an
/// enumeration its integer, a time its ticks; float16, structures, opaque bytes, sequences, strings of fixed
/// length and numbers in the other byte order are nothing. (The store keeps the characteristics of those as
/// of uint8, without min and max.)
std::optional<Type> type_of(const pmemcpy::Type& type);

}  // namespace pmemcpy::codec::bp4
