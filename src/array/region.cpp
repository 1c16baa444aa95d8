#include "array/region.hpp"

#include <algorithm>

namespace pmemcpy::array {

std::optional<Box> intersect(const Box& a, const Box& b) {
    Box common = a;
    for (int d = 0; d < a.size(); ++d) {
        const Extent first = std::max(a.offset[d], b.offset[d]);
        const Extent end = std::min(a.end(d), b.end(d));
        if (first >= end) return std::nullopt;
        common.offset[d] = first;
        common.count[d] = end - first;
    }
    return common;
}

bool contains(const Box& outer, const Box& inner) {
    if (inner.empty()) return true;
    for (int d = 0; d < outer.size(); ++d) {
        if (inner.offset[d] < outer.offset[d] || inner.end(d) > outer.end(d)) return false;
    }
    return true;
}

void subtract(const Box& a, const Box& b, std::vector<Box>& out) {
    if (a.empty()) return;
    const auto common = intersect(a, b);
    if (!common) {
        out.push_back(a);
        return;
    }
    // What lies before and after b in one dimension is cut off, and the rest goes on with the next dimension.
    Box rest = a;
    for (int d = 0; d < a.size(); ++d) {
        const Extent end = rest.end(d);
        if (rest.offset[d] < common->offset[d]) {
            out.push_back(rest);
            out.back().count[d] = common->offset[d] - rest.offset[d];
        }
        if (common->end(d) < end) {
            out.push_back(rest);
            out.back().offset[d] = common->end(d);
            out.back().count[d] = end - common->end(d);
        }
        rest.offset[d] = common->offset[d];
        rest.count[d] = common->count[d];
    }
}

void subtract_part(const Selection& a, const Selection& b, std::vector<Selection>& out) {
    Selection rest = a;
    for (int d = 0; d < a.size(); ++d) {
        const Extent start = a.offset[d], stride = a.stride[d];
        // In the indexes of a, b has every `multiple`-th element from `first` to `last`.
        const Extent first = (b.offset[d] - start) / stride;
        const Extent multiple = b.count[d] > 1 ? b.stride[d] / stride : 1;
        const Extent last = first + (b.count[d] - 1) * multiple;
        const auto keep = [&](Extent index, Extent count, Extent step) {
            if (count == 0) return;
            out.push_back(rest);
            out.back().offset[d] = start + index * stride;
            out.back().count[d] = count;
            out.back().stride[d] = count > 1 ? step * stride : 1;
        };
        keep(0, first, 1);
        keep(last + 1, a.count[d] - last - 1, 1);
        // Between b's elements: as combs when they are dense, as gaps when they are few.
        if (multiple <= b.count[d]) {
            for (Extent comb = 1; comb < multiple; ++comb) keep(first + comb, b.count[d] - 1, multiple);
        } else {
            for (Extent gap = 0; gap + 1 < b.count[d]; ++gap)
                keep(first + gap * multiple + 1, multiple - 1, 1);
        }
        rest.offset[d] = b.offset[d];
        rest.count[d] = b.count[d];
        rest.stride[d] = b.stride[d];
    }
}

}  // namespace pmemcpy::array
