#include "exchange/pieces.hpp"

#include <algorithm>

namespace pmemcpy::exchange {

namespace {

/// The largest multiple of `chunk` (at least one) of which `most` elements are not exceeded.
Extent fitting(Extent chunk, Extent most) { return std::max<Extent>(most / chunk, 1) * chunk; }

}  // namespace

Pieces::Pieces(const Box& whole, const Dimensions& chunk, std::uint64_t element_bytes,
               std::uint64_t piece_bytes)
    : whole_(whole),
      step_(Dimensions::filled(whole.size(), 1)),
      at_(Dimensions::filled(whole.size(), 0)),
      is_done_(whole.empty()) {
    if (is_done_) return;
    const int n = whole.size();
    for (int d = 0; d < chunk.size(); ++d) step_[d] = std::clamp<Extent>(chunk[d], 1, whole.count[d]);
    // From the last dimension on whole rows, planes, ... for as long as they fit beside one chunk of the dimensions before.
    Extent room = std::max<Extent>(piece_bytes / std::max<std::uint64_t>(element_bytes, 1), 1);
    for (int d = 0; d < n; ++d) room = std::max<Extent>(room / step_[d], 1);
    for (int d = n; d-- > 0 && room > 1;) {
        const Extent before = step_[d];
        step_[d] = std::min(fitting(before, before * room), whole.count[d]);
        room = step_[d] == whole.count[d] ? room * before / step_[d] : 1;
    }
}

std::optional<Box> Pieces::next() {
    if (is_done_) return {};
    Box piece{whole_.offset, step_};
    for (int d = 0; d < whole_.size(); ++d) {
        piece.offset[d] += at_[d];
        piece.count[d] = std::min(step_[d], whole_.count[d] - at_[d]);
    }
    int d = whole_.size();
    for (; d-- > 0; at_[d] = 0) {
        if (whole_.count[d] - at_[d] > step_[d]) {
            at_[d] += step_[d];
            break;
        }
    }
    is_done_ = d < 0;
    return piece;
}

void each_piece(const Box& whole, const Dimensions& chunk, std::uint64_t element_bytes,
                std::uint64_t piece_bytes, const std::function<void(const Box&)>& visit) {
    Pieces pieces(whole, chunk, element_bytes, piece_bytes);
    while (const auto piece = pieces.next()) visit(*piece);
}

}  // namespace pmemcpy::exchange
