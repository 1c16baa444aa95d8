#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <pmemcpy/packing.hpp>
#include <pmemcpy/pmemcpy.hpp>

namespace pmemcpy::cli {

/// A selection of an array of numbers, of which at most two dimensions are longer than one: a picture has no more.
struct Slice {
    Selection selection;
    int row = -1;     ///< the dimension that goes down; -1: a line has none
    int column = -1;  ///< the dimension that goes to the right; -1: there is one number
    Extent rows() const { return row < 0 ? 1 : selection.count[row]; }
    Extent columns() const { return column < 0 ? 1 : selection.count[column]; }
};

/// Errors: type_mismatch, when the elements are no single numbers; invalid_argument, with what to write, when too many
/// dimensions are longer than one, or nothing is selected.
Slice slice_of(const Info& info, const Selection& selection);

/// Calls visit(row, column, number) for each element that is not missing, in any order, and show(elements so far) now and then.
/// Cost: memory for 16 MiB of the array, whatever its size.
void each_number(const PMEM& pmem, const Info& info, const Slice& slice, const Packing& packing,
                 std::optional<std::uint64_t> step,
                 const std::function<void(Extent row, Extent column, double number)>& visit,
                 const std::function<void(std::uint64_t elements)>& show);

}  // namespace pmemcpy::cli
