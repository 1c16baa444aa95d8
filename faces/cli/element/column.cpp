#include "cli/element/column.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <pmemcpy/number.hpp>
#include <tuple>

#include "cli/element/datetime.hpp"
#include "cli/element/leaf.hpp"

namespace pmemcpy::cli {

namespace {

bool is_number(const Type& type) {
    switch (type.kind()) {
        case Kind::none:
        case Kind::opaque:
        case Kind::fixed_string:
        case Kind::string:
        case Kind::sequence:
        case Kind::array:
        case Kind::structure:
            return false;
        default:
            return true;
    }
}

/// Fills chunks of T with what `read` makes of each number's bytes.
template <class T, class Read>
void fill_chunks(const Column& column, std::uint64_t element_bytes, std::span<const std::byte> elements,
                 const std::function<void(const Chunk&)>& visit, Read&& read) {
    std::array<T, most_numbers> numbers;
    std::size_t count = 0;
    const std::uint64_t number_bytes = column.type.size();
    for (std::uint64_t at = 0; at < elements.size(); at += element_bytes) {
        for (const std::uint64_t offset : column.offsets) {
            numbers[count++] = read(elements.subspan(at + offset, number_bytes));
            if (count == numbers.size()) {
                visit(std::span<const T>(numbers));
                count = 0;
            }
        }
    }
    if (count > 0) visit(std::span<const T>(numbers).first(count));
}

template <class T>
T magnitude(std::span<const std::byte> bytes, ByteOrder order) {
    return std::hypot(read_number<T>(bytes.first(sizeof(T)), order),
                      read_number<T>(bytes.subspan(sizeof(T)), order));
}

}  // namespace

Columns columns_of(const Type& element) {
    Columns columns;
    for (const Leaf& leaf : leaves_of(element)) {
        const auto is_its = [&](const Column& column) { return column.field == leaf.field; };
        if (!is_number(leaf.type)) {
            if (columns.others.empty() || columns.others.back() != leaf.field)
                columns.others.push_back(leaf.field);
            continue;
        }
        const auto known = std::find_if(columns.numbers.begin(), columns.numbers.end(), is_its);
        Column& column = known != columns.numbers.end()
                             ? *known
                             : columns.numbers.emplace_back(Column{leaf.field, leaf.type, {}});
        column.offsets.push_back(leaf.offset);
    }
    return columns;
}

void each_chunk(const Column& column, std::uint64_t element_bytes, std::span<const std::byte> elements,
                const std::function<void(const Chunk&)>& visit) {
    const Type& type = column.type.kind() == Kind::enumeration ? column.type.element() : column.type;
    const ByteOrder order = type.byte_order();
    const auto fill = [&]<class T>(T, auto&& read) {
        fill_chunks<T>(column, element_bytes, elements, visit, read);
    };
    const auto plain = [&]<class T, class Raw>(T wide, Raw) {
        fill(wide, [&](std::span<const std::byte> bytes) { return T{read_number<Raw>(bytes, order)}; });
    };
    switch (type.kind()) {
        case Kind::int8:
            return plain(std::int64_t{}, std::int8_t{});
        case Kind::int16:
            return plain(std::int64_t{}, std::int16_t{});
        case Kind::int32:
            return plain(std::int64_t{}, std::int32_t{});
        case Kind::int64:
        case Kind::datetime64:
            return plain(std::int64_t{}, std::int64_t{});
        case Kind::uint8:
            return plain(std::uint64_t{}, std::uint8_t{});
        case Kind::uint16:
            return plain(std::uint64_t{}, std::uint16_t{});
        case Kind::uint32:
            return plain(std::uint64_t{}, std::uint32_t{});
        case Kind::uint64:
            return plain(std::uint64_t{}, std::uint64_t{});
        case Kind::float32:
            return plain(float{}, float{});
        case Kind::float64:
            return plain(double{}, double{});
        case Kind::boolean:
            return fill(std::uint64_t{}, [](std::span<const std::byte> bytes) {
                return std::uint64_t{bytes[0] != std::byte{0}};
            });
        case Kind::float16:
            return fill(float{}, [&](std::span<const std::byte> bytes) {
                return float(float16::from_bits(read_number<std::uint16_t>(bytes, order)));
            });
        case Kind::bfloat16:
            return fill(float{}, [&](std::span<const std::byte> bytes) {
                return float(bfloat16::from_bits(read_number<std::uint16_t>(bytes, order)));
            });
        case Kind::complex64:
            return fill(float{},
                        [&](std::span<const std::byte> bytes) { return magnitude<float>(bytes, order); });
        case Kind::complex128:
            return fill(double{},
                        [&](std::span<const std::byte> bytes) { return magnitude<double>(bytes, order); });
        default:
            return;  // columns_of() makes no column of anything else
    }
}

std::uint64_t each_meant(const Packing& packing, const Chunk& chunk,
                         const std::function<void(const Chunk&)>& visit) {
    if (packing.is_plain()) {
        visit(chunk);
        return 0;
    }
    // All are of one of these kinds, which one the packing says.
    std::tuple<std::vector<std::int64_t>, std::vector<std::uint64_t>, std::vector<float>, std::vector<double>>
        meant;
    std::uint64_t missing = 0;
    std::visit(
        [&](const auto& numbers) {
            for (const auto stored : numbers) {
                const bool is_there = packing.visit(
                    stored, [&]<class T>(T number) { std::get<std::vector<T>>(meant).push_back(number); });
                if (!is_there) ++missing;
            }
        },
        chunk);
    std::apply(
        [&](const auto&... kinds) {
            const auto show = [&]<class T>(const std::vector<T>& numbers) {
                if (!numbers.empty()) visit(std::span<const T>(numbers));
            };
            (show(kinds), ...);
        },
        meant);
    return missing;
}

std::string number_text(const Type& type, const Number& number) {
    if (type.kind() == Kind::datetime64) return datetime_text(std::get<std::int64_t>(number), type.unit());
    return std::visit([](auto n) { return fmt::format("{}", n); }, number);
}

}  // namespace pmemcpy::cli
