#include "store/reading.hpp"

#include "array/cover.hpp"

#include <algorithm>

namespace pmemcpy::store {

namespace {

bool may_meet(const Selection& a, const Selection& b) {
    const Box one = array::bounding_box(a);
    const Box other = array::bounding_box(b);
    for (int d = 0; d < one.size(); ++d) {
        if (one.end(d) <= other.offset[d] || other.end(d) <= one.offset[d]) return false;
    }
    return true;
}

}  // namespace

// Of what was kept, and has something newer above it now, more than that leaves is still there if the newer was not read.
void Store::Reading::keep_what_is_read() {
    std::vector<bool> is_whole(kept.size());
    for (const Piece& piece : pieces) {
        if (piece.origin != no_origin && piece.part == kept[piece.origin].part) is_whole[piece.origin] = true;
    }
    for (std::size_t i = 0; i < kept.size(); ++i) {
        is_whole[i] =
            is_whole[i] || std::none_of(pieces.begin(), pieces.end(), [&](const Piece& piece) {
                return piece.is_read && piece.origin == no_origin && may_meet(piece.part, kept[i].part);
            });
    }
    std::vector<Piece> all;
    for (std::size_t i = 0; i < kept.size(); ++i) {
        if (is_whole[i]) all.push_back(std::move(kept[i]));
    }
    for (Piece& piece : pieces) {
        if (piece.is_read && (piece.origin == no_origin || !is_whole[piece.origin]))
            all.push_back(std::move(piece));
    }
    kept = std::move(all);
    pieces.clear();
}

std::vector<Selection> Store::Reading::missing() const {
    array::Cover cover(wanted);
    for (const Piece& piece : kept) cover.add(array::compose(wanted, piece.part), piece.block.version, 0);
    std::vector<Selection> missing;
    cover.plan([](std::uint64_t, const Selection&) {},
               [&](const Selection& part) { missing.push_back(array::compose(wanted, part)); });
    return missing;
}

}  // namespace pmemcpy::store
