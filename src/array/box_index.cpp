#include "array/box_index.hpp"

#include <algorithm>

namespace pmemcpy::array {

BoxIndex::BoxIndex(int dims) : width_(static_cast<std::size_t>(dims)) {}

void BoxIndex::insert(std::uint64_t handle, const Box& box) {
    append(handle, box);
    const Number in_trees = trees_.empty() ? 0 : trees_.back().last;
    if (order_.size() - in_trees > tail_limit) settle();
}

void BoxIndex::append(std::uint64_t handle, const Box& box) {
    const auto number = static_cast<Number>(handles_.size());
    slots_.emplace(handle, number);
    handles_.push_back(handle);
    erased_.push_back(false);
    corners_.insert(corners_.end(), box.offset.begin(), box.offset.end());
    for (int d = 0; d < box.size(); ++d) corners_.push_back(box.end(d));
    if (box.empty()) return;
    order_.push_back(number);
    if (width_ > 0) ++ends_[box.end(0)];
}

void BoxIndex::settle() {
    // A tree that is not at least twice as large as what comes after it is built again together with that, so
    // that a box is built into log n trees in its life, and there are never more than log n trees.
    auto first = trees_.empty() ? Number{0} : trees_.back().last;
    const auto end = static_cast<Number>(order_.size());
    if (first == end) return;
    while (!trees_.empty() && trees_.back().last - trees_.back().first < 2 * (end - first)) {
        first = trees_.back().first;
        trees_.pop_back();
    }
    order_.erase(
        std::remove_if(order_.begin() + first, order_.end(), [&](Number n) { return bool{erased_[n]}; }),
        order_.end());
    if (order_.size() > first) build(first);
}

void BoxIndex::build(Number first) {
    Tree tree{first, static_cast<Number>(order_.size()), {}};
    bound(tree, 0, tree.first, tree.last);
    trees_.push_back(std::move(tree));
}

void BoxIndex::bound(Tree& tree, std::size_t node, Number first, Number last) {
    const std::size_t base = node * 2 * width_;
    if (tree.bounds.size() < base + 2 * width_) tree.bounds.resize(base + 2 * width_);
    Extent* bounds = tree.bounds.data() + base;
    std::size_t widest = 0;
    Extent width = 0;
    for (std::size_t d = 0; d < width_; ++d) {
        Extent least = UINT64_MAX, greatest_start = 0, end = 0;
        for (Number i = first; i < last; ++i) {
            const Extent* box = corners(order_[i]);
            least = std::min(least, box[d]);
            greatest_start = std::max(greatest_start, box[d]);
            end = std::max(end, box[width_ + d]);
        }
        bounds[d] = least;
        bounds[width_ + d] = end;
        if (greatest_start - least > width) {
            width = greatest_start - least;
            widest = d;
        }
    }
    if (last - first <= leaf_size) return;
    const Number middle = first + (last - first) / 2;
    if (width_ > 0) {
        std::nth_element(order_.begin() + first, order_.begin() + middle, order_.begin() + last,
                         [&](Number a, Number b) { return corners(a)[widest] < corners(b)[widest]; });
    }
    bound(tree, 2 * node + 1, first, middle);
    bound(tree, 2 * node + 2, middle, last);
}

bool BoxIndex::erase(std::uint64_t handle) {
    const auto slot = slots_.find(handle);
    if (slot == slots_.end()) return false;
    const Box box = box_of(handle);
    if (width_ > 0 && !box.empty()) {
        const auto end = ends_.find(box.end(0));
        if (--end->second == 0) ends_.erase(end);
    }
    erased_[slot->second] = true;
    slots_.erase(slot);
    if (handles_.size() > 2 * slots_.size() + tail_limit) drop_erased();
    return true;
}

void BoxIndex::drop_erased() {
    BoxIndex kept(static_cast<int>(width_));
    for (const auto& [handle, number] : slots_) kept.append(handle, box_of(handle));
    kept.settle();
    *this = std::move(kept);
}

Box BoxIndex::box_of(std::uint64_t handle) const {
    const Extent* box = corners(slots_.at(handle));
    Box result{Dimensions(std::span(box, width_)), Dimensions(std::span(box + width_, width_))};
    for (int d = 0; d < result.size(); ++d) result.count[d] -= result.offset[d];
    return result;
}

}  // namespace pmemcpy::array
