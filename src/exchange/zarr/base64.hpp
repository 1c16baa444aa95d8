#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pmemcpy::exchange {

std::string base64_of(std::span<const std::byte> bytes);
/// Nothing if it is none.
std::optional<std::vector<std::byte>> bytes_of_base64(std::string_view text);

}  // namespace pmemcpy::exchange
