#pragma once

#include <cstdint>

#include "pattern.hpp"

namespace compare::arrays {

/// Writes to `out`, densely, what belongs into a piece: values that tell their array, step and place, so that an element that
/// strays, or is of another step, is noticed.
void fill(const Content& content, const Piece& piece, void* out);

/// Compares bits. Throws std::runtime_error that names the first element which is wrong.
void verify(const Content& content, const Piece& piece, const void* data);

}  // namespace compare::arrays
