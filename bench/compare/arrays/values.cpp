#include "values.hpp"

#include <cstring>
#include <stdexcept>
#include <vector>

namespace compare::arrays {
namespace {

using pmemcpy::Dimensions;
using pmemcpy::Extent;

// Exact in each element type: doubles hold 53 bits, floats 24.
template <class T>
T value(std::uint64_t array, std::uint64_t step, Extent element) {
    if constexpr (sizeof(T) == 8)
        return static_cast<T>((step % 64 << 46) + (array % 64 << 40) + element);
    else if constexpr (std::is_floating_point_v<T>)
        return static_cast<T>((element + array * 4099 + step * 65537) & 0xffffff);
    else
        return static_cast<T>(static_cast<std::uint32_t>(element + array * 40993 + step * 655373));
}

// Calls row(linear index of its first element) for each row of the piece, in the order of a dense buffer.
template <class Row>
void for_each_row(const Dimensions& shape, const pmemcpy::Selection& where, const Row& row) {
    if (where.empty()) return;
    const int last = shape.size() - 1;
    Dimensions at = Dimensions::filled(shape.size(), 0);
    while (true) {
        Extent index = 0;
        for (int d = 0; d <= last; ++d) index = index * shape[d] + where.offset[d] + at[d] * where.stride[d];
        row(index);
        int d = last - 1;
        while (d >= 0 && ++at[d] == where.count[d]) at[d--] = 0;
        if (d < 0) return;
    }
}

template <class T>
void fill_as(const Content& content, const Piece& piece, void* out) {
    const Extent length = piece.where.count[piece.where.size() - 1];
    const Extent stride = piece.where.stride[piece.where.size() - 1];
    T* next = static_cast<T*>(out);
    for_each_row(content.arrays[piece.array].shape, piece.where, [&](Extent first) {
        for (Extent k = 0; k < length; ++k) next[k] = value<T>(piece.array, piece.step, first + k * stride);
        next += length;
    });
}

template <class T>
void verify_as(const Content& content, const Piece& piece, const void* data) {
    const Extent length = piece.where.count[piece.where.size() - 1];
    const Extent stride = piece.where.stride[piece.where.size() - 1];
    const T* next = static_cast<const T*>(data);
    std::vector<T> expected(length);
    for_each_row(content.arrays[piece.array].shape, piece.where, [&](Extent first) {
        for (Extent k = 0; k < length; ++k)
            expected[k] = value<T>(piece.array, piece.step, first + k * stride);
        if (std::memcmp(expected.data(), next, length * sizeof(T)) != 0) {
            Extent k = 0;
            while (std::memcmp(&expected[k], next + k, sizeof(T)) == 0) ++k;
            throw std::runtime_error("what was read is wrong: element " + std::to_string(first + k * stride) +
                                     " of " + content.arrays[piece.array].name + " in step " +
                                     std::to_string(piece.step) + " is " + std::to_string(next[k]) +
                                     " and not " + std::to_string(expected[k]));
        }
        next += length;
    });
}

}  // namespace

void fill(const Content& content, const Piece& piece, void* out) {
    switch (content.arrays[piece.array].element) {
        case Element::float64:
            return fill_as<double>(content, piece, out);
        case Element::float32:
            return fill_as<float>(content, piece, out);
        case Element::int32:
            return fill_as<std::int32_t>(content, piece, out);
    }
}

void verify(const Content& content, const Piece& piece, const void* data) {
    switch (content.arrays[piece.array].element) {
        case Element::float64:
            return verify_as<double>(content, piece, data);
        case Element::float32:
            return verify_as<float>(content, piece, data);
        case Element::int32:
            return verify_as<std::int32_t>(content, piece, data);
    }
}

}  // namespace compare::arrays
