#pragma once

#include <cstddef>
#include <span>

namespace pmemcpy::fuzz {

/// Takes the bytes for a Cap'n Proto message; does nothing in a build without Cap'n Proto.
void decode_message(std::span<const std::byte> bytes);

}  // namespace pmemcpy::fuzz
