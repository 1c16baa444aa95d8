#include "exchange/pieces.hpp"

#include <algorithm>

namespace pmemcpy::exchange {

namespace {

/// The largest multiple of `chunk` (at least one) of which `most` elements are not exceeded.
Extent fitting(Extent chunk, Extent most) { return std::max<Extent>(most / chunk, 1) * chunk; }

}  // namespace

void each_piece(const Box& whole, const Dimensions& chunk, std::uint64_t element_bytes,
                std::uint64_t piece_bytes, const std::function<void(const Box&)>& visit) {
    if (whole.empty()) return;
    const int n = whole.size();
    Dimensions step = Dimensions::filled(n, 1);
    for (int d = 0; d < chunk.size(); ++d) step[d] = std::clamp<Extent>(chunk[d], 1, whole.count[d]);
    // From the last dimension on whole rows, planes, ... for as long as they fit beside one chunk of the dimensions before.
    Extent room = std::max<Extent>(piece_bytes / std::max<std::uint64_t>(element_bytes, 1), 1);
    for (int d = 0; d < n; ++d) room = std::max<Extent>(room / step[d], 1);
    for (int d = n; d-- > 0 && room > 1;) {
        const Extent before = step[d];
        step[d] = std::min(fitting(before, before * room), whole.count[d]);
        room = step[d] == whole.count[d] ? room * before / step[d] : 1;
    }
    Dimensions at = Dimensions::filled(n, 0);
    for (;;) {
        Box piece{whole.offset, step};
        for (int d = 0; d < n; ++d) {
            piece.offset[d] += at[d];
            piece.count[d] = std::min(step[d], whole.count[d] - at[d]);
        }
        visit(piece);
        int d = n;
        for (; d-- > 0; at[d] = 0) {
            if (whole.count[d] - at[d] > step[d]) {
                at[d] += step[d];
                break;
            }
        }
        if (d < 0) return;
    }
}

}  // namespace pmemcpy::exchange
