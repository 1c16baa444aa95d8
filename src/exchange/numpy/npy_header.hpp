#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <pmemcpy/box.hpp>
#include <string>
#include <vector>

#include "exchange/numpy/byte_source.hpp"

namespace pmemcpy::exchange {

inline constexpr std::string_view npy_magic = "\x93NUMPY";

/// What a .npy file says of its array, before the elements.
struct NpyHeader {
    nlohmann::json descr;
    bool is_fortran = false;
    Dimensions dims;
    std::uint64_t bytes = 0;  ///< of the header, all in all
};

/// Of versions 1.0, 2.0 and 3.0; `file_bytes` are those of header and elements. Errors: corrupt; unsupported for more than 32
/// dimensions and headers of more than 4 MiB.
NpyHeader read_npy_header(ByteSource& source, std::uint64_t file_bytes);

/// To the byte what NumPy would write: padded to a multiple of 64, in the oldest version that can hold it.
std::string make_npy_header(const nlohmann::json& descr, bool is_fortran, const std::vector<Extent>& dims);

/// With its dimensions the other way round: elements in Fortran order lie as those of such a box do in C order.
Box reversed(Box box);

}  // namespace pmemcpy::exchange
