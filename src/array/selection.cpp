#include "array/selection.hpp"

#include <algorithm>
#include <numeric>
#include <pmemcpy/error.hpp>
#include <string>
#include <utility>

namespace pmemcpy::array {

namespace {

__extension__ typedef unsigned __int128 Wide;

struct Progression {
    Extent offset;
    Extent count;
    Extent stride;
};

/// The x with value * x = 1 modulo `modulus`, for coprime numbers, by Euclid's algorithm. 0 for the
/// modulus 1.
Extent inverse(Extent value, Extent modulus) {
    Extent old_rest = value % modulus, rest = modulus;
    Extent old_factor = 1 % modulus, factor = 0;  // old_factor * value = old_rest, modulo modulus
    while (rest != 0) {
        const Extent quotient = old_rest / rest;
        const auto product = static_cast<Extent>(Wide{quotient} * factor % modulus);
        const Extent next_factor =
            old_factor >= product ? old_factor - product : old_factor + (modulus - product);
        old_factor = std::exchange(factor, next_factor);
        const Extent next_rest = old_rest - quotient * rest;
        old_rest = std::exchange(rest, next_rest);
    }
    return old_factor;
}

Extent divide_up(Extent value, Extent by) { return value / by + (value % by != 0 ? 1 : 0); }

/// Which i in [0, wanted.count) have wanted.offset + i * wanted.stride in `block`; count 0 if none.
Progression covered(const Progression& wanted, const Progression& block) {
    if (wanted.count == 0 || block.count == 0) return {0, 0, 1};
    const Extent block_last = block.offset + (block.count - 1) * block.stride;
    if (block_last < wanted.offset) return {0, 0, 1};
    Extent first = block.offset <= wanted.offset ? 0 : divide_up(block.offset - wanted.offset, wanted.stride);
    const Extent last = std::min(wanted.count - 1, (block_last - wanted.offset) / wanted.stride);
    Extent step = 1;
    if (block.stride > 1 && block.count > 1) {
        // wanted.stride * i = block.offset - wanted.offset, modulo block.stride.
        const Extent divisor = std::gcd(wanted.stride, block.stride);
        step = block.stride / divisor;
        const Extent from = wanted.offset % block.stride;
        const Extent to = block.offset % block.stride;
        const Extent distance = to >= from ? to - from : to + (block.stride - from);
        if (distance % divisor != 0) return {0, 0, 1};
        const auto residue =
            static_cast<Extent>(Wide{distance / divisor} * inverse(wanted.stride / divisor, step) % step);
        const Extent behind = first % step;
        const Extent ahead = residue >= behind ? residue - behind : residue + (step - behind);
        if (last < first || last - first < ahead) return {0, 0, 1};
        first += ahead;
    }
    if (first > last) return {0, 0, 1};
    const Extent count = (last - first) / step + 1;
    return {first, count, count == 1 ? 1 : step};
}

std::string in_dimension(int dimension) { return " in dimension " + std::to_string(dimension); }

}  // namespace

void validate(const Selection& selection, const Dimensions& dims) {
    const int ndims = dims.size();
    if (selection.offset.size() != ndims || selection.count.size() != ndims ||
        selection.stride.size() != ndims) {
        throw Error(Code::invalid_argument, "the selection has " + std::to_string(selection.offset.size()) +
                                                " offsets, " + std::to_string(selection.count.size()) +
                                                " counts and " + std::to_string(selection.stride.size()) +
                                                " strides; the array has " + std::to_string(ndims) +
                                                " dimensions (" + to_string(dims) + ")");
    }
    for (int d = 0; d < ndims; ++d) {
        const Extent offset = selection.offset[d], count = selection.count[d], stride = selection.stride[d];
        if (stride == 0) {
            throw Error(Code::invalid_argument, "stride 0" + in_dimension(d) + "; the smallest is 1");
        }
        // Of an unlimited dimension the last index must be below UINT64_MAX, which needs no case of its own.
        if (offset > dims[d] || (count > 0 && offset == dims[d])) {
            throw Error(Code::out_of_range, "offset " + std::to_string(offset) + in_dimension(d) +
                                                " is outside the array, whose extent there is " +
                                                to_string(Dimensions{dims[d]}) + " (" + to_string(dims) +
                                                ")");
        }
        if (count > 0 && count - 1 > (dims[d] - 1 - offset) / stride) {
            std::string asked = std::to_string(count) + " elements from " + std::to_string(offset);
            if (stride != 1) asked += " with stride " + std::to_string(stride);
            throw Error(Code::out_of_range, asked + in_dimension(d) + " go past its extent of " +
                                                to_string(Dimensions{dims[d]}) + " (" + to_string(dims) +
                                                ")");
        }
    }
    static_cast<void>(selection.elements());
}

Extent end_of(const Selection& selection, int dimension) {
    const Extent count = selection.count[dimension];
    return selection.offset[dimension] + (count == 0 ? 0 : (count - 1) * selection.stride[dimension] + 1);
}

Box bounding_box(const Selection& selection) {
    Box box{selection.offset, selection.count};
    for (int d = 0; d < selection.size(); ++d) box.count[d] = end_of(selection, d) - selection.offset[d];
    return box;
}

std::optional<Selection> covered(const Selection& wanted, const Selection& block) {
    Selection part;
    part.offset = part.count = part.stride = wanted.count;
    for (int d = 0; d < wanted.size(); ++d) {
        const Progression in_dimension =
            covered(Progression{wanted.offset[d], wanted.count[d], wanted.stride[d]},
                    Progression{block.offset[d], block.count[d], block.stride[d]});
        if (in_dimension.count == 0) return std::nullopt;
        part.offset[d] = in_dimension.offset;
        part.count[d] = in_dimension.count;
        part.stride[d] = in_dimension.stride;
    }
    return part;
}

std::optional<Box> covered(const Selection& wanted, const Box& block) {
    auto part = covered(wanted, Selection(block));
    if (!part) return std::nullopt;
    return Box{part->offset, part->count};
}

Selection compose(const Selection& outer, const Selection& inner) {
    Selection result = inner;
    for (int d = 0; d < outer.size(); ++d) {
        result.offset[d] = outer.offset[d] + inner.offset[d] * outer.stride[d];
        result.stride[d] = inner.count[d] > 1 ? inner.stride[d] * outer.stride[d] : 1;
    }
    return result;
}

Dimensions reversed(const Dimensions& dims) {
    Dimensions result = dims;
    std::reverse(result.begin(), result.end());
    return result;
}

Box reversed(const Box& box) { return {reversed(box.offset), reversed(box.count)}; }

Selection reversed(const Selection& selection) {
    return {reversed(selection.offset), reversed(selection.count), reversed(selection.stride)};
}

}  // namespace pmemcpy::array
