#pragma once

#include <cstddef>
#include <memory>
#include <pmemcpy/box.hpp>
#include <pmemcpy/type.hpp>
#include <span>

#include "cli/element/element.hpp"
#include "cli/terminal/sink.hpp"

namespace pmemcpy::cli {

/// Writes the elements of a selection, which come in the order of their indices, to a sink.
class Writer {
public:
    virtual ~Writer() = default;
    virtual void add(std::span<const std::byte> element) = 0;
    /// After the last element.
    virtual void finish() = 0;
};

/// Rows on lines, an empty line between planes; the elements of a 1-D array on a line each.
std::unique_ptr<Writer> text_writer(Sink& sink, const Type& type, const Dimensions& shape,
                                    Precision precision);

/// Lists in lists.
std::unique_ptr<Writer> json_writer(Sink& sink, const Type& type, const Dimensions& shape);

/// A header, and a line for each element: its indices in the array, `dim_0` and so on, and what it is: `value`, or a column
/// for each field; of arrays in it a column for each element, `at[0]`, of complex numbers two, `value.real` and `value.imag`.
/// Fields are quoted, and lines end, as RFC 4180 has it.
std::unique_ptr<Writer> csv_writer(Sink& sink, const Type& type, const Selection& selection,
                                   Precision precision);

/// What parts the elements of a selection from each other: element k begins a row, a plane, ...
class Frame {
public:
    explicit Frame(const Dimensions& shape);
    /// How many rows, planes, ... begin or end right before element k.
    std::size_t edges_at(Extent k) const;

private:
    std::vector<Extent> sizes_;  // of a row, a plane, ...
};

/// So much is kept before it goes to the sink.
inline constexpr std::size_t most_kept_bytes = 1U << 16;

}  // namespace pmemcpy::cli
