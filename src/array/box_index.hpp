#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <pmemcpy/box.hpp>
#include <span>
#include <unordered_map>
#include <vector>

namespace pmemcpy::array {

/// Finds, among up to millions of boxes, those that meet a given one. Derived: rebuilt from the blocks at any
/// time. A few trees of bounding boxes, each at least twice the next, and a short unsorted tail. Sharing:
/// queries may run at the same time, changes need the object alone. Cost: query O(log^2 n + hits); insert
/// O(log^2 n) on the average; erase O(1) on the average.
class BoxIndex {
public:
    explicit BoxIndex(int dims);

    /// Handles are the caller's and unique. An empty box is kept, but has no end and is never found.
    void insert(std::uint64_t handle, const Box& box);
    /// Many at once: append them all, then settle() once. Queries are right before that too, but slow.
    void append(std::uint64_t handle, const Box& box);
    void settle();

    /// False if there is no such handle.
    bool erase(std::uint64_t handle);

    std::size_t size() const noexcept { return slots_.size(); }
    bool contains(std::uint64_t handle) const { return slots_.contains(handle); }
    /// The box of a handle that is there.
    Box box_of(std::uint64_t handle) const;

    /// The greatest end over all boxes in the first dimension: the length of an unlimited one. 0 if empty.
    Extent greatest_end() const noexcept { return ends_.empty() ? 0 : ends_.rbegin()->first; }

    /// Calls found(handle) for each box that shares an element with `box`, in no order.
    template <class Found>
    void query(const Box& box, Found&& found) const;

private:
    // Boxes are numbered in the order of arrival, and lie flat in corners_: `dims` first indexes, then `dims`
    // ends.
    using Number = std::uint32_t;
    struct Tree {
        Number first;  // of order_; a tree has order_[first, last)
        Number last;
        std::vector<Extent> bounds;  // per node as in corners_; the children of node i are 2i+1 and 2i+2
    };
    static constexpr Number leaf_size = 8;
    static constexpr Number tail_limit = 64;

    const Extent* corners(Number number) const { return corners_.data() + std::size_t{number} * 2 * width_; }
    bool meets(const Extent* corners, const Extent* query) const noexcept {
        for (std::size_t d = 0; d < width_; ++d) {
            if (corners[d] >= query[width_ + d] || query[d] >= corners[width_ + d]) return false;
        }
        return true;
    }
    void build(Number first);
    void bound(Tree& tree, std::size_t node, Number first, Number last);
    void drop_erased();

    std::size_t width_;
    std::vector<Extent> corners_;
    std::vector<std::uint64_t> handles_;
    std::vector<bool> erased_;
    std::vector<Number> order_;  // first those in trees, then the tail as it arrived
    std::vector<Tree> trees_;
    std::unordered_map<std::uint64_t, Number> slots_;
    std::map<Extent, std::uint64_t> ends_;  // in the first dimension, and how many boxes have each
};

template <class Found>
void BoxIndex::query(const Box& box, Found&& found) const {
    if (box.empty()) return;
    std::array<Extent, 2 * static_cast<std::size_t>(max_dimensions)> wanted;
    for (std::size_t d = 0; d < width_; ++d) {
        wanted[d] = box.offset[static_cast<int>(d)];
        wanted[width_ + d] = box.end(static_cast<int>(d));
    }
    const auto scan = [&](Number first, Number last) {
        for (Number i = first; i < last; ++i) {
            const Number number = order_[i];
            if (!erased_[number] && meets(corners(number), wanted.data())) found(handles_[number]);
        }
    };
    struct Visit {
        std::size_t node;
        Number first, last;
    };
    std::array<Visit, 64> stack;  // depth is at most 32, and a visit leaves one sibling behind
    for (const Tree& tree : trees_) {
        std::size_t depth = 0;
        stack[depth++] = {0, tree.first, tree.last};
        while (depth > 0) {
            const Visit visit = stack[--depth];
            if (!meets(tree.bounds.data() + visit.node * 2 * width_, wanted.data())) continue;
            if (visit.last - visit.first <= leaf_size) {
                scan(visit.first, visit.last);
                continue;
            }
            const Number middle = visit.first + (visit.last - visit.first) / 2;
            stack[depth++] = {2 * visit.node + 2, middle, visit.last};
            stack[depth++] = {2 * visit.node + 1, visit.first, middle};
        }
    }
    scan(trees_.empty() ? 0 : trees_.back().last, static_cast<Number>(order_.size()));
}

}  // namespace pmemcpy::array
