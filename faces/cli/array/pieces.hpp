#pragma once

#include <cstdint>
#include <functional>
#include <pmemcpy/box.hpp>

namespace pmemcpy::cli {

/// Calls visit(place) for each element of a dense buffer of that shape and order, the last index fastest.
void each_place(const Dimensions& shape, Order order, const std::function<void(std::uint64_t)>& visit);

}  // namespace pmemcpy::cli
