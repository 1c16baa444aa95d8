#pragma once

#include <cstdint>
#include <pmemcpy/operations.hpp>
#include <string>

namespace pmemcpy::operate {

// The operations that the library has itself. Each throws unsupported for elements that it knows nothing of.

/// The same elements in the order of bytes of this machine.
void make_native(OperationArray& array);

/// Each element once, in the order in which they come first. NaNs are alike.
OperationArray deduplicated(const OperationArray& array);
/// All elements in one row, the least first; NaN, and what is not a time, last.
OperationArray sorted(const OperationArray& array);

/// One element of the array's type. NaN, and what is not a time, are neither. Errors: invalid_argument when there are no others.
OperationArray least(const OperationArray& array);
OperationArray greatest(const OperationArray& array);
/// One float64 (of integers int64 or uint64, which is what is left modulo 2^64; of complex numbers complex128).
OperationArray sum(const OperationArray& array);

/// How many elements lie in each of `bins` equal parts from the least to the greatest. The last part has its upper end too; where all
/// are equal the range is half a unit to both sides; NaN is in none.
struct Histogram {
    OperationArray counts{};  // uint64
    double low = 0;
    double high = 0;
};
/// Errors: invalid_argument when there is none that is finite, or one that is not.
Histogram histogram(const OperationArray& array, std::uint32_t bins);

}  // namespace pmemcpy::operate
