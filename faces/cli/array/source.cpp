#include "cli/array/source.hpp"

#include <algorithm>
#include <numeric>

#include "cli/array/pieces.hpp"

namespace pmemcpy::cli {

namespace {

constexpr std::uint64_t usual_piece_bytes = 16ULL << 20;

/// One past the last index in a dimension, of a selection that is not empty.
Extent end_of(const Selection& selection, int d) {
    return selection.offset[d] + (selection.count[d] - 1) * selection.stride[d] + 1;
}

}  // namespace

Source::Source(const PMEM& pmem, Info info, const Selection& selection, std::optional<std::uint64_t> step)
    : pmem_(pmem),
      info_(std::move(info)),
      selection_(selection),
      step_(step),
      blocks_(pmem.blocks(info_.id)),
      piece_bytes_(std::max(usual_piece_bytes, info_.type.size())) {
    // A compressed block is unpacked whole for every piece that meets it: then the fewer the better.
    for (const BlockInfo& block : blocks_) {
        if (block.codec != Codec::Kind::none) piece_bytes_ = std::max(piece_bytes_, block.bytes);
    }
}

void Source::load(const Selection& piece) {
    buffer_.resize(piece.elements() * info_.type.size());
    pmem_.load(info_.id, info_.type, buffer_.data(), piece, step_);
}

void Source::each(Order order, const Visit& visit) {
    each_piece(selection_, order, info_.type.size(), piece_bytes_, [&](const Selection& piece) {
        load(piece);
        visit(buffer_, piece);
    });
}

std::uint64_t Source::each_stored(const Visit& visit) {
    std::uint64_t missing = 0;
    const std::function<void(const Part&)> look = [&](const Part& part) {
        if (has_nothing(part)) {
            missing += part.selection.elements();
        } else if (fits(part) && try_load(part)) {
            visit(loaded(), part.selection);
        } else if (part.selection.elements() == 1) {
            ++missing;
        } else {
            const auto [first, second] = halves(part, cut_of(part));
            look(first);
            look(second);
        }
    };
    if (!selection_.empty()) look(whole());
    return missing;
}

Source::Part Source::whole() const {
    std::vector<std::size_t> all(blocks_.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    return {selection_, meeting(selection_, all)};
}

/// The edge of a block that is nearest to the middle of a dimension: how many elements lie before it.
std::optional<Extent> Source::edge_in(const Part& part, int dimension) const {
    const Extent offset = part.selection.offset[dimension];
    const Extent count = part.selection.count[dimension];
    const Extent stride = part.selection.stride[dimension];
    const auto off_middle = [&](Extent before) { return std::max(before, count - before); };
    std::optional<Extent> nearest;
    for (const std::size_t block : part.blocks) {
        for (const Extent edge :
             {blocks_[block].box.offset[dimension], end_of(blocks_[block].box, dimension)}) {
            const Extent before = edge > offset ? (edge - offset - 1) / stride + 1 : 0;
            if (before == 0 || before >= count) continue;
            if (!nearest || off_middle(before) < off_middle(*nearest)) nearest = before;
        }
    }
    return nearest;
}

Source::Cut Source::cut_of(const Part& part) const {
    const int dimensions = part.selection.size();
    std::optional<Cut> middle;
    for (int i = 0; i < dimensions; ++i) {
        const int d = info_.order == Order::c ? i : dimensions - 1 - i;
        if (part.selection.count[d] < 2) continue;
        if (const auto edge = edge_in(part, d)) return {d, *edge};
        if (!middle) middle = {d, part.selection.count[d] / 2};
    }
    return middle.value();
}

std::pair<Source::Part, Source::Part> Source::halves(const Part& part, const Cut& cut) const {
    const int d = cut.dimension;
    Selection first = part.selection;
    Selection second = part.selection;
    first.count[d] = cut.count;
    second.count[d] -= cut.count;
    second.offset[d] += cut.count * second.stride[d];
    return {{first, meeting(first, part.blocks)}, {second, meeting(second, part.blocks)}};
}

bool Source::try_load(const Part& part) {
    try {
        load(part.selection);
        return true;
    } catch (const Error& error) {
        if (error.kind() != Code::not_found || step_ || !pmem_.exists(info_.id)) throw;
        return false;
    }
}

bool meet(const Selection& a, const Selection& b) {
    for (int d = 0; d < a.size(); ++d) {
        if (end_of(a, d) <= b.offset[d] || end_of(b, d) <= a.offset[d]) return false;
    }
    return true;
}

std::vector<std::size_t> Source::meeting(const Selection& part,
                                         const std::vector<std::size_t>& blocks) const {
    std::vector<std::size_t> found;
    for (const std::size_t block : blocks) {
        if (meet(part, blocks_[block].box)) found.push_back(block);
    }
    return found;
}

}  // namespace pmemcpy::cli
