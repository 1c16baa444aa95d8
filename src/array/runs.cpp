#include "array/runs.hpp"

#include <algorithm>

namespace pmemcpy::array {

CopyPlan::CopyPlan(const Selection& wanted, const Selection& block, const Selection& part,
                   std::uint64_t element_bytes) {
    if (part.empty() || element_bytes == 0) return;
    // Built from the innermost loop, which walks the bytes of an element, outwards. A dimension that
    // continues the loop inside it on both sides only makes that loop longer.
    std::array<Loop, static_cast<std::size_t>(max_dimensions) + 1> loops;
    loops[0] = {element_bytes, 1, 1};
    int outermost = 0;
    bytes_ = element_bytes;
    std::uint64_t block_row = element_bytes;   // distance of neighbours in dimension d of the block
    std::uint64_t buffer_row = element_bytes;  // and of the buffer
    for (int d = part.size() - 1; d >= 0; --d) {
        const Extent count = part.count[d];
        const Extent first = wanted.offset[d] + part.offset[d] * wanted.stride[d];
        rows_.block_offset += (first - block.offset[d]) / block.stride[d] * block_row;
        rows_.buffer_offset += part.offset[d] * buffer_row;
        if (count > 1) {
            const Loop loop{count, part.stride[d] * wanted.stride[d] / block.stride[d] * block_row,
                            part.stride[d] * buffer_row};
            Loop& inner = loops[at(outermost)];
            if (loop.block_stride == inner.count * inner.block_stride &&
                loop.buffer_stride == inner.count * inner.buffer_stride) {
                inner.count *= count;
            } else {
                loops[at(++outermost)] = loop;
            }
        }
        bytes_ *= count;
        block_row *= block.count[d];
        buffer_row *= wanted.count[d];
    }
    rows_.row_bytes = loops[0].count;
    rows_.rows = 1;
    rows_.block_stride = rows_.buffer_stride = rows_.row_bytes;
    if (outermost > 0) {
        rows_.rows = loops[1].count;
        rows_.block_stride = loops[1].block_stride;
        rows_.buffer_stride = loops[1].buffer_stride;
    }
    for (int loop = outermost; loop >= 2; --loop) loop_[at(loops_++)] = loops[at(loop)];
}

}  // namespace pmemcpy::array
