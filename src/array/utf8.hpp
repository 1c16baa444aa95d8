#pragma once

#include <string_view>

namespace pmemcpy::array {

/// The position of the first byte that is not well-formed UTF-8 (Unicode 3.9, table 3-7), or npos.
std::size_t first_invalid_utf8(std::string_view text) noexcept;

}  // namespace pmemcpy::array
