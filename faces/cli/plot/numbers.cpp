#include "cli/plot/numbers.hpp"

#include <fmt/core.h>

#include <pmemcpy/number.hpp>
#include <vector>

#include "cli/array/pieces.hpp"

namespace pmemcpy::cli {

namespace {

constexpr std::uint64_t piece_bytes = 16ULL << 20;

/// The number that an element is; of an enumeration its integer.
const Type& number_type(const Type& type) { return type.kind() == Kind::enumeration ? type.element() : type; }

bool is_number(const Type& type) {
    const std::vector<std::byte> zero(number_type(type).size());
    return visit_number(number_type(type).kind(), native_order, zero, [](auto) {});
}

/// A selection like the present one, for an error to show: all of the last two dimensions, and the first of the others.
std::string example(const Selection& selection) {
    std::string text;
    for (int d = 0; d < selection.size(); ++d) {
        text += d == 0 ? "" : ",";
        text += d < selection.size() - 2 ? std::to_string(selection.offset[d]) : ":";
    }
    return text;
}

}  // namespace

Slice slice_of(const Info& info, const Selection& selection) {
    if (!info.type.is_fixed_size() || !is_number(info.type)) {
        throw Error(Code::type_mismatch,
                    fmt::format("{} holds {}; only numbers can be plotted", info.id, info.type.name()));
    }
    if (selection.empty()) {
        throw Error(Code::invalid_argument,
                    fmt::format("{} of {} has no elements to plot", to_string(selection), info.id));
    }
    Slice slice{selection};
    for (int d = 0; d < selection.size(); ++d) {
        if (selection.count[d] == 1) continue;
        if (slice.row >= 0) {
            throw Error(
                Code::invalid_argument,
                fmt::format(
                    "{} is {}, and a picture has two dimensions: fix the others, for example --box {}",
                    info.id, to_string(info.dims), example(selection)));
        }
        slice.row = slice.column;
        slice.column = d;
    }
    if (slice.column < 0 && !selection.count.empty()) slice.column = selection.size() - 1;
    return slice;
}

void each_number(const PMEM& pmem, const Info& info, const Slice& slice, const Packing& packing,
                 std::optional<std::uint64_t> step, const std::function<void(Extent, Extent, double)>& visit,
                 const std::function<void(std::uint64_t)>& show) {
    const Type& type = number_type(info.type);
    const std::uint64_t size = info.type.size();
    std::vector<std::byte> buffer;
    std::uint64_t done = 0;
    const auto first = [&](const Selection& piece, int d) {
        return d < 0 ? 0 : (piece.offset[d] - slice.selection.offset[d]) / slice.selection.stride[d];
    };
    each_piece(slice.selection, info.order, size, piece_bytes, [&](const Selection& piece) {
        buffer.resize(piece.elements() * size);
        pmem.load(info.id, info.type, buffer.data(), piece, step);
        const Extent first_row = first(piece, slice.row);
        const Extent first_column = first(piece, slice.column);
        const Extent columns = slice.column < 0 ? 1 : piece.count[slice.column];
        Extent k = 0;
        each_place(piece.count, info.order, [&](std::uint64_t place) {
            const auto element = std::span<const std::byte>(buffer).subspan(place * size, size);
            const auto take = [&](auto number) {
                visit(first_row + k / columns, first_column + k % columns, static_cast<double>(number));
            };
            if (packing.is_plain())
                visit_number(type.kind(), type.byte_order(), element, take);
            else
                packing.visit(element, take);
            ++k;
        });
        show(done += k);
    });
}

}  // namespace pmemcpy::cli
