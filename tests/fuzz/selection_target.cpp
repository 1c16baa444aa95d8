// Selections with numbers near every border, and blocks that lie in an array as such selections do.

#include <array>
#include <optional>
#include <string>
#include <vector>

#include <pmemcpy/error.hpp>

#include "array/cover.hpp"
#include "array/runs.hpp"
#include "array/selection.hpp"
#include "bytes.hpp"
#include "target.hpp"

#ifdef PMEMCPY_HAVE_CLI
#include "cli/array/pieces.hpp"
#include "cli/array/selection.hpp"
#endif

namespace pmemcpy::fuzz {
namespace {

constexpr std::uint64_t most_planned = 512;  // elements that are looked at one by one

Dimensions take_dimensions(Bytes& input, int n) {
    Dimensions dims = Dimensions::filled(n, 0);
    for (Extent& extent : dims) extent = input.take_number();
    return dims;
}

Selection take_selection(Bytes& input, int n) {
    const Dimensions offset = take_dimensions(input, n);
    const Dimensions count = take_dimensions(input, n);
    return {offset, count,
            input.take<std::uint8_t>() % 2 == 0 ? Dimensions::filled(n, 1) : take_dimensions(input, n)};
}

bool is_valid(const Selection& selection, const Dimensions& dims) {
    try {
        array::validate(selection, dims);
        return true;
    } catch (const Error&) {
        return false;
    }
}

/// Where in the array the n-th element of a selection lies.
Dimensions place(const Selection& selection, std::uint64_t n) {
    Dimensions at = selection.offset;
    for (int d = selection.size(); d-- > 0; n /= selection.count[d])
        at[d] = selection.offset[d] + n % selection.count[d] * selection.stride[d];
    return at;
}

/// Which element of a selection lies there, if one does.
std::optional<std::uint64_t> index(const Selection& selection, const Dimensions& at) {
    std::uint64_t n = 0;
    for (int d = 0; d < selection.size(); ++d) {
        if (at[d] < selection.offset[d] || (at[d] - selection.offset[d]) % selection.stride[d] != 0)
            return std::nullopt;
        const std::uint64_t i = (at[d] - selection.offset[d]) / selection.stride[d];
        if (i >= selection.count[d]) return std::nullopt;
        n = n * selection.count[d] + i;
    }
    return n;
}

/// The plan of a load, against what one finds by looking at each element.
void check_plan(const Selection& wanted, const std::vector<Selection>& blocks) {
    const std::uint64_t elements = wanted.elements();
    std::vector<std::int64_t> from(elements, -2);  // the block; -1: none has it
    std::vector<std::uint64_t> where(elements);
    array::Cover cover(wanted);
    for (std::size_t i = 0; i < blocks.size(); ++i) cover.add(blocks[i], i, i);
    const auto note = [&](std::uint64_t at, std::int64_t block, std::uint64_t place_in_block) {
        expect(at < elements, "a plan goes past the user's buffer");
        expect(from[at] == -2, "an element is planned twice");
        from[at] = block;
        where[at] = place_in_block;
    };
    cover.plan(
        [&](std::uint64_t handle, const Selection& part) {
            array::CopyPlan(wanted, blocks[handle], part, 1)
                .for_each_run([&](std::uint64_t block, std::uint64_t buffer, std::uint64_t bytes) {
                    for (std::uint64_t i = 0; i < bytes; ++i)
                        note(buffer + i, static_cast<std::int64_t>(handle), block + i);
                });
        },
        [&](const Selection& part) {
            const Selection buffer(Dimensions::filled(wanted.size(), 0), wanted.count);
            array::CopyPlan(buffer, buffer, part, 1)
                .for_each_run([&](std::uint64_t, std::uint64_t at, std::uint64_t bytes) {
                    for (std::uint64_t i = 0; i < bytes; ++i) note(at + i, -1, 0);
                });
        });
    for (std::uint64_t n = 0; n < elements; ++n) {
        std::int64_t newest = -1;
        for (std::size_t i = 0; i < blocks.size(); ++i) {
            if (index(blocks[i], place(wanted, n))) newest = static_cast<std::int64_t>(i);
        }
        expect(from[n] == newest, "an element comes from block " + std::to_string(from[n]) +
                                      " and not from " + std::to_string(newest));
        if (newest < 0) continue;
        const auto in_block = index(blocks[static_cast<std::size_t>(newest)], place(wanted, n));
        expect(where[n] == in_block, "an element comes from the wrong place of its block");
    }
}

void check_box(const Selection& selection, const Dimensions& dims) {
    const Box box = array::bounding_box(selection);
    for (int d = 0; d < box.size(); ++d) {
        if (selection.empty()) continue;
        expect(box.count[d] > 0 && box.end(d) > box.offset[d], "a bounding box wraps around");
        expect((d == 0 && dims[d] == unlimited) || box.end(d) <= dims[d],
               "a bounding box reaches out of the array");
        expect(array::end_of(selection, d) <= box.end(d), "an element lies behind its bounding box");
    }
    expect(array::reversed(array::reversed(selection)) == selection, "reversed twice it is another");
}

#ifdef PMEMCPY_HAVE_CLI
void check_text(const Selection& selection, const Dimensions& dims) {
    if (selection.empty()) return;
    const std::string text = to_string(selection);
    const Selection back = cli::parse_selection(text, dims);
    expect(back.offset == selection.offset && back.count == selection.count,
           text + " reads as another selection");
    if (selection.elements() > most_planned) return;
    std::uint64_t elements = 0;
    each_piece(selection, Order::c, 1, 7, [&](const Selection& piece) { elements += piece.elements(); });
    expect(elements == selection.elements(), "the pieces of " + text + " are not the whole of it");
}
#endif

}  // namespace

void read_selection(Input input) {
    Bytes bytes(input);
    const int n = bytes.take<std::uint8_t>() % 5;
    const Dimensions dims = take_dimensions(bytes, n);
    const Selection wanted = take_selection(bytes, n);
    static_cast<void>(to_string(wanted));
    const bool is_load = n == 0 || dims[0] != unlimited;
    if (!is_valid(wanted, dims)) return;
    check_box(wanted, dims);
#ifdef PMEMCPY_HAVE_CLI
    if (is_load) check_text(wanted, dims);
    const auto text = bytes.take_text();
    try {
        const Selection said = cli::parse_selection(text, dims);
        expect(is_valid(said, dims) || (n > 0 && dims[0] == unlimited),
               "'" + text + "' is taken and out of the array");
    } catch (const Error&) {
    }
#endif
    std::vector<Selection> blocks;
    while (!bytes.empty() && blocks.size() < 6) {
        const Selection block = take_selection(bytes, n);
        if (block.empty() || !is_valid(block, dims)) continue;
        blocks.push_back(block);
        static_cast<void>(array::covered(wanted, block));
        static_cast<void>(array::covered(wanted, array::bounding_box(block)));
    }
    if (!wanted.empty() && wanted.elements() <= most_planned) check_plan(wanted, blocks);
}

}  // namespace pmemcpy::fuzz
