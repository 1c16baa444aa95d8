#pragma once

#include <cstdint>
#include <functional>
#include <pmemcpy/box.hpp>

namespace pmemcpy::cli {

/// Cuts a selection into pieces of at most `most_bytes` each (an element, if that is larger), which one
/// behind the other are the whole selection, its elements in the order `order`.
void each_piece(const Selection& selection, Order order, std::uint64_t element_bytes,
                std::uint64_t most_bytes, const std::function<void(const Selection&)>& visit);

/// Calls visit(place) for each element of a dense buffer of that shape and order, the last index fastest.
void each_place(const Dimensions& shape, Order order, const std::function<void(std::uint64_t)>& visit);

}  // namespace pmemcpy::cli
