#include <pmemcpy/box.hpp>

#include <algorithm>

namespace pmemcpy {

namespace {

Selection part_of(const Selection& selection, int dimension, Extent first, Extent count) {
    Selection part = selection;
    part.offset[dimension] += first * part.stride[dimension];
    part.count[dimension] = count;
    return part;
}

void cut(const Selection& selection, int depth, Order order, std::uint64_t most_elements,
         const std::function<void(const Selection&)>& visit) {
    if (depth == selection.size() || selection.elements() <= most_elements) return visit(selection);
    const int dimension = order == Order::c ? depth : selection.size() - 1 - depth;
    const Extent count = selection.count[dimension];
    const Extent row = selection.elements() / count;
    const Extent step = std::max<Extent>(1, most_elements / row);
    for (Extent first = 0; first < count; first += step) {
        cut(part_of(selection, dimension, first, std::min(step, count - first)), depth + 1, order,
            most_elements, visit);
    }
}

}  // namespace

void each_piece(const Selection& selection, Order order, std::uint64_t element_bytes,
                std::uint64_t most_bytes, const std::function<void(const Selection&)>& visit) {
    if (selection.empty()) return;
    cut(selection, 0, order, std::max<std::uint64_t>(1, most_bytes / element_bytes), visit);
}

}  // namespace pmemcpy
