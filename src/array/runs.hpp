#pragma once

#include <array>
#include <cstdint>
#include <pmemcpy/box.hpp>

namespace pmemcpy::array {

/// Equal rows at equal distances: row i is `row_bytes` at block_offset + i * block_stride on the one side,
/// and at buffer_offset + i * buffer_stride on the other. All in bytes. One element per row says that the
/// innermost elements are not contiguous on one of the sides.
struct RowSet {
    std::uint64_t block_offset;
    std::uint64_t block_stride;
    std::uint64_t buffer_offset;
    std::uint64_t buffer_stride;
    std::uint64_t row_bytes;
    std::uint64_t rows;
};

/// How a part of a selection lies in a dense block and in the user's dense buffer: nested loops over rows,
/// merged where neighbouring dimensions are contiguous on both sides. Plain numbers; making one does not
/// allocate.
class CopyPlan {
public:
    /// `wanted` is what the user's buffer holds, densely with shape wanted.count, last index fastest.
    /// `block` is what the block holds, as densely, with shape block.count.
    /// `part` is in the index space of `wanted`, and all of it lies in `block` (see `covered`).
    CopyPlan(const Selection& wanted, const Selection& block, const Selection& part,
             std::uint64_t element_bytes);

    /// True if one row is everything: one memcpy, or a zero-copy view.
    bool is_one_run() const noexcept { return rows_.rows == 1 && loops_ == 0; }
    /// The first rows; where they start is also the first byte of all.
    const RowSet& first() const noexcept { return rows_; }
    std::uint64_t bytes() const noexcept { return bytes_; }

    /// Calls visit(const RowSet&) until all bytes are visited, in ascending order of block offsets.
    template <class Visit>
    void for_each_rows(Visit&& visit) const {
        if (bytes_ == 0) return;
        RowSet rows = rows_;
        std::array<std::uint64_t, static_cast<std::size_t>(max_dimensions)> done;
        for (int loop = 0; loop < loops_; ++loop) done[at(loop)] = 0;
        while (true) {
            visit(static_cast<const RowSet&>(rows));
            int loop = loops_ - 1;
            for (; loop >= 0; --loop) {
                const Loop& l = loop_[at(loop)];
                rows.block_offset += l.block_stride;
                rows.buffer_offset += l.buffer_stride;
                if (++done[at(loop)] < l.count) break;
                done[at(loop)] = 0;
                rows.block_offset -= l.count * l.block_stride;
                rows.buffer_offset -= l.count * l.buffer_stride;
            }
            if (loop < 0) return;
        }
    }

    /// Calls visit(block_offset, buffer_offset, bytes) for each contiguous run.
    template <class Visit>
    void for_each_run(Visit&& visit) const {
        for_each_rows([&](const RowSet& set) {
            for (std::uint64_t row = 0; row < set.rows; ++row) {
                visit(set.block_offset + row * set.block_stride, set.buffer_offset + row * set.buffer_stride,
                      set.row_bytes);
            }
        });
    }

private:
    struct Loop {
        std::uint64_t count;
        std::uint64_t block_stride;
        std::uint64_t buffer_stride;
    };
    static std::size_t at(int loop) noexcept { return static_cast<std::size_t>(loop); }

    RowSet rows_{};
    std::uint64_t bytes_ = 0;
    int loops_ = 0;  // those around rows_, outermost first
    std::array<Loop, static_cast<std::size_t>(max_dimensions) + 1> loop_;
};

}  // namespace pmemcpy::array
