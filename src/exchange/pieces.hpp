#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <pmemcpy/box.hpp>

namespace pmemcpy::exchange {

/// Parts a box into boxes of at most about `piece_bytes`, in C order: whole chunks of the grid `chunk` (empty: single elements),
/// as many along the last dimensions as fit. A chunk that is larger than a piece is a piece. Nothing for an empty box. Without a
/// grid the elements of each piece follow each other in C order, and those of the next follow them.
class Pieces {
public:
    Pieces(const Box& whole, const Dimensions& chunk, std::uint64_t element_bytes, std::uint64_t piece_bytes);
    /// Nothing after the last.
    std::optional<Box> next();

private:
    Box whole_;
    Dimensions step_;
    Dimensions at_;
    bool is_done_;
};

void each_piece(const Box& whole, const Dimensions& chunk, std::uint64_t element_bytes,
                std::uint64_t piece_bytes, const std::function<void(const Box&)>& visit);

}  // namespace pmemcpy::exchange
