#include "array/cover.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <span>
#include <utility>

#include "array/region.hpp"
#include "array/selection.hpp"

namespace pmemcpy::array {

namespace {

// With so few blocks left, each is compared with each; with more, the wanted part is cut in two.
constexpr std::size_t few_blocks = 16;
// Blocks with odd strides can shatter a part; then it is cut in two as well, down to this size.
constexpr std::size_t many_pieces = 1024;
constexpr Extent small_part = 4096;
// Where to cut is judged by a sample of the blocks.
constexpr std::size_t sample_size = 128;

using Number = std::uint32_t;

/// The recursion over parts of the index space of the wanted selection.
class Planner {
public:
    Planner(int dims, const std::vector<Extent>& parts, const std::vector<std::uint64_t>& handles,
            const Cover::Take& take, const Cover::Miss& miss)
        : dims_(dims), parts_(parts), handles_(handles), take_(take), miss_(miss) {}

    /// `blocks` are newest first, and may include some that do not meet `part`.
    void plan(const Box& part, std::span<const Number> blocks) {
        std::vector<Number> meeting;
        for (const Number block : blocks) {
            if (!meets(block, part)) continue;
            const bool hides_older = holds_all_of(block, part);
            // Most loads want what one store has written.
            if (hides_older && meeting.empty()) return take_(handles_[block], Selection(part));
            meeting.push_back(block);
            if (hides_older) break;
        }
        if (meeting.empty()) {
            miss_(part);
        } else if (meeting.size() > few_blocks || !plan_few(part, meeting)) {
            const auto [first, second] = cut(part, meeting);
            plan(first, meeting);
            plan(second, meeting);
        }
    }

private:
    const Extent* at(Number block) const { return parts_.data() + std::size_t{block} * 3 * width(); }
    std::size_t width() const { return static_cast<std::size_t>(dims_); }
    Extent offset(Number block, int d) const { return at(block)[d]; }
    Extent count(Number block, int d) const { return at(block)[dims_ + d]; }
    Extent stride(Number block, int d) const { return at(block)[2 * dims_ + d]; }
    Extent end(Number block, int d) const {
        return offset(block, d) + (count(block, d) - 1) * stride(block, d) + 1;
    }

    Selection selection(Number block) const {
        const std::span<const Extent> all(at(block), 3 * width());
        return {Dimensions(all.subspan(0, width())), Dimensions(all.subspan(width(), width())),
                Dimensions(all.subspan(2 * width(), width()))};
    }

    bool meets(Number block, const Box& part) const {
        bool strided = false;
        for (int d = 0; d < dims_; ++d) {
            if (offset(block, d) >= part.end(d) || part.offset[d] >= end(block, d)) return false;
            strided |= stride(block, d) != 1;
        }
        return !strided || covered(Selection(part), selection(block)).has_value();
    }

    /// Of a block that meets the part.
    bool holds_all_of(Number block, const Box& part) const {
        for (int d = 0; d < dims_; ++d) {
            if (offset(block, d) > part.offset[d] || end(block, d) < part.end(d)) return false;
            if (stride(block, d) != 1 && part.count[d] != 1) return false;
        }
        return true;
    }

    /// Each block gives what no newer one has. False, with nothing done, if that makes too many pieces.
    bool plan_few(const Box& part, std::span<const Number> blocks) {
        struct Piece {
            std::uint64_t handle;
            Selection part;
        };
        const Selection whole(part);
        const Extent elements = part.elements();
        std::vector<Selection> common;
        std::vector<Piece> taken;
        Extent elements_taken = 0;
        std::vector<Selection> pieces;
        const auto shattered = [&] {
            return elements > small_part && pieces.size() + taken.size() > many_pieces;
        };
        for (const Number block : blocks) {
            common.push_back(*both(whole, selection(block)));
            pieces.assign(1, common.back());
            for (std::size_t newer = 0; newer + 1 < common.size() && !pieces.empty(); ++newer) {
                remove(common[newer], pieces);
            }
            for (Selection& piece : pieces) {
                elements_taken += piece.elements();
                taken.push_back({handles_[block], piece});
            }
            if (shattered()) return false;
        }
        pieces.clear();
        if (elements_taken != elements) {
            pieces.push_back(whole);
            for (const Selection& held : common) remove(held, pieces);
            if (shattered()) return false;
        }
        for (const Piece& piece : taken) take_(piece.handle, piece.part);
        for (const Selection& piece : pieces) miss_(piece);
        return true;
    }

    /// The elements of both, in the space in which both are given.
    static std::optional<Selection> both(const Selection& a, const Selection& b) {
        const auto part = covered(a, b);
        if (!part) return std::nullopt;
        return compose(a, *part);
    }

    void remove(const Selection& held, std::vector<Selection>& pieces) {
        rest_.clear();
        bool changed = false;
        for (const Selection& piece : pieces) {
            if (const auto gone = both(piece, held)) {
                subtract_part(piece, *gone, rest_);
                changed = true;
            } else {
                rest_.push_back(piece);
            }
        }
        if (changed) pieces.swap(rest_);
    }

    /// Two halves of a part, cut where few blocks are cut in two: at the median of where blocks start or end.
    std::pair<Box, Box> cut(const Box& part, std::span<const Number> blocks) const {
        const std::size_t step = blocks.size() / sample_size + 1;
        std::size_t best_cost = SIZE_MAX;
        int best_dimension = -1;
        Extent best_position = 0;
        for (int d = 0; d < dims_; ++d) {
            if (part.count[d] < 2) continue;
            std::vector<Extent> edges;
            for (std::size_t i = 0; i < blocks.size(); i += step) {
                const Extent start = offset(blocks[i], d), stop = end(blocks[i], d);
                if (start > part.offset[d]) edges.push_back(start);
                if (stop < part.end(d)) edges.push_back(stop);
            }
            Extent position = part.offset[d] + part.count[d] / 2;
            if (!edges.empty()) {
                const auto median = edges.begin() + static_cast<std::ptrdiff_t>(edges.size() / 2);
                std::nth_element(edges.begin(), median, edges.end());
                position = *median;
            }
            std::size_t before = 0, after = 0;  // blocks cut in two count in both
            for (std::size_t i = 0; i < blocks.size(); i += step) {
                before += offset(blocks[i], d) < position;
                after += end(blocks[i], d) > position;
            }
            const std::size_t cost = std::max(before, after) + (before + after) / 2;
            const bool longer = best_dimension >= 0 && part.count[d] > part.count[best_dimension];
            if (cost < best_cost || (cost == best_cost && longer)) {
                best_cost = cost;
                best_dimension = d;
                best_position = position;
            }
        }
        // A part of one element is held by any block that meets it, and is never cut.
        std::pair<Box, Box> halves{part, part};
        halves.first.count[best_dimension] = best_position - part.offset[best_dimension];
        halves.second.offset[best_dimension] = best_position;
        halves.second.count[best_dimension] = part.end(best_dimension) - best_position;
        return halves;
    }

    int dims_;
    const std::vector<Extent>& parts_;
    const std::vector<std::uint64_t>& handles_;
    const Cover::Take& take_;
    const Cover::Miss& miss_;
    std::vector<Selection> rest_;
};

}  // namespace

Cover::Cover(const Selection& wanted) : wanted_(wanted) {}

void Cover::add(const Selection& block, std::uint64_t version, std::uint64_t handle) {
    const auto part = covered(wanted_, block);
    if (!part) return;
    const auto dims = static_cast<std::ptrdiff_t>(wanted_.size());
    parts_.resize(parts_.size() + static_cast<std::size_t>(3 * dims));
    std::copy(part->offset.begin(), part->offset.end(), parts_.end() - 3 * dims);
    std::copy(part->count.begin(), part->count.end(), parts_.end() - 2 * dims);
    std::copy(part->stride.begin(), part->stride.end(), parts_.end() - dims);
    versions_.push_back(version);
    handles_.push_back(handle);
}

std::vector<Number> Cover::newest_first() const {
    std::vector<Number> blocks(handles_.size());
    std::iota(blocks.begin(), blocks.end(), Number{0});
    std::sort(blocks.begin(), blocks.end(),
              [&](Number a, Number b) { return std::pair(versions_[a], a) > std::pair(versions_[b], b); });
    return blocks;
}

void Cover::plan(const Take& take, const Miss& miss) const {
    if (wanted_.empty()) return;
    Planner(wanted_.size(), parts_, handles_, take, miss).plan(Box::whole(wanted_.count), newest_first());
}

Selection Cover::part(Number block) const {
    const auto dims = static_cast<std::size_t>(wanted_.size());
    const std::span<const Extent> all(parts_.data() + std::size_t{block} * 3 * dims, 3 * dims);
    return {Dimensions(all.subspan(0, dims)), Dimensions(all.subspan(dims, dims)),
            Dimensions(all.subspan(2 * dims, dims))};
}

bool Cover::is_all(Number block) const {
    const auto dims = static_cast<std::size_t>(wanted_.size());
    return std::equal(wanted_.count.begin(), wanted_.count.end(),
                      parts_.begin() + static_cast<std::ptrdiff_t>((std::size_t{block} * 3 + 1) * dims));
}

bool Cover::paint(const Take& take) const {
    if (handles_.size() <= few_blocks) return false;
    const std::vector<Number> blocks = newest_first();
    const auto base = std::find_if(blocks.begin(), blocks.end(), [&](Number block) { return is_all(block); });
    const auto above = static_cast<std::size_t>(base - blocks.begin());
    if (base == blocks.end() || above <= few_blocks) return false;
    Extent elements = 0;
    for (auto block = blocks.begin(); block != base; ++block) elements += part(*block).elements();
    if (elements > wanted_.elements()) return false;
    for (auto block = base + 1; block != blocks.begin(); --block)
        take(handles_[*(block - 1)], part(*(block - 1)));
    return true;
}

}  // namespace pmemcpy::array
