// Writes the BP4 directory that bp4_adios_test.py reads with ADIOS itself. What is in it is said there too;
// the two must say the same.

#include <algorithm>
#include <array>
#include <complex>
#include <cstdio>
#include <exception>
#include <iterator>
#include <vector>

#include "codec/bp4_directory.hpp"

namespace bp4 = pmemcpy::codec::bp4;

namespace {

template <typename T>
std::span<const std::byte> bytes_of(const std::vector<T>& values) {
    return std::as_bytes(std::span(values));
}

template <typename T>
bp4::Element element(const T& value) {
    return bp4::element_of(std::as_bytes(std::span(&value, 1)));
}

template <typename T>
bp4::Block block(std::vector<std::uint64_t> offset, std::vector<std::uint64_t> count,
                 const std::vector<T>& values) {
    bp4::Block made{std::move(offset), std::move(count), {}, {}, bytes_of(values), {}};
    if constexpr (std::is_arithmetic_v<T>) {
        const auto [least, most] = std::minmax_element(values.begin(), values.end());
        made.min = element(*least);
        made.max = element(*most);
    }
    return made;
}

/// first, first + 1, ...
template <typename T>
std::vector<T> ramp(std::size_t count, std::int64_t first) {
    std::vector<T> values(count);
    for (T& value : values) value = static_cast<T>(first++);
    return values;
}

template <typename T>
bp4::Variable line(const char* id, bp4::Type type, const std::vector<T>& values) {
    return {id, type, {values.size()}, bp4::Order::c, {block({0}, {values.size()}, values)}};
}

template <typename T>
bp4::Variable scalar(const char* id, bp4::Type type, const T& value) {
    return {id, type, {}, bp4::Order::c, {{{}, {}, {}, {}, std::as_bytes(std::span(&value, 1)), {}}}};
}

/// Every element type, in one step.
void write_types(const std::filesystem::path& path) {
    using bp4::Type;
    const auto i8 = ramp<std::int8_t>(5, -2);
    const auto i16 = ramp<std::int16_t>(5, -300);
    const auto i32 = ramp<std::int32_t>(5, -70000);
    const auto i64 = ramp<std::int64_t>(5, -2);
    const auto u8 = ramp<std::uint8_t>(5, 250);
    const auto u16 = ramp<std::uint16_t>(5, 65000);
    const auto u32 = ramp<std::uint32_t>(5, 7);
    const auto u64 = ramp<std::uint64_t>(5, 7);
    const auto f32 = ramp<float>(5, -2);
    const auto f64 = ramp<double>(5, -2);
    const std::vector<std::complex<float>> c64 = {{1, 2}, {3, -4}};
    const std::vector<std::complex<double>> c128 = {{1, 2}, {3, -4}, {0, 0.5}};
    const std::array<char, 7> text = {'p', 'M', 'E', 'M', 'C', 'P', 'Y'};
    const double pi = 3.25;
    const std::int32_t answer = 42;
    const std::complex<double> root = {0, 1};
    const std::vector<bp4::Variable> variables = {line("i8", Type::int8, i8),
                                                  line("i16", Type::int16, i16),
                                                  line("i32", Type::int32, i32),
                                                  line("i64", Type::int64, i64),
                                                  line("u8", Type::uint8, u8),
                                                  line("u16", Type::uint16, u16),
                                                  line("u32", Type::uint32, u32),
                                                  line("u64", Type::uint64, u64),
                                                  line("f32", Type::float32, f32),
                                                  line("f64", Type::float64, f64),
                                                  line("c64", Type::complex64, c64),
                                                  line("c128", Type::complex128, c128),
                                                  scalar("text", Type::string, text),
                                                  scalar("pi", Type::float64, pi),
                                                  scalar("answer", Type::int32, answer),
                                                  scalar("root", Type::complex128, root)};
    const std::vector<double> levels = {0.5, 1.5, 2.5};
    const std::vector<std::int32_t> one = {7};
    const std::vector<bp4::Attribute> attributes = {
        {"title", Type::string, {}, {"a sample"}},
        {"dimensions", Type::string_array, {}, {"depth", "latitude", "longitude"}},
        {"levels", Type::float64, bytes_of(levels), {}},
        {"i32/flag", Type::int32, bytes_of(one), {}}};
    bp4::Directory directory(path);
    directory.writer().step(variables, attributes);
    directory.close();
}

/// Three steps of a 4 x 6 array of four blocks and an array in Fortran order, a scalar in each, a string in
/// one.
void write_steps(const std::filesystem::path& path) {
    bp4::Directory directory(path);
    for (int step = 0; step < 3; ++step) {
        bp4::Variable grid{"group/grid", bp4::Type::float64, {4, 6}, bp4::Order::c, {}};
        std::array<std::vector<double>, 4> parts;
        for (std::uint64_t b = 0; b < 4; ++b) {
            const std::uint64_t row = b / 2 * 2;
            const std::uint64_t column = b % 2 * 3;
            for (std::uint64_t i = 0; i < 2; ++i)
                for (std::uint64_t j = 0; j < 3; ++j)
                    parts[b].push_back(1000 * step + static_cast<double>(10 * (row + i) + column + j));
            grid.blocks.push_back(block({row, column}, {2, 3}, parts[b]));
        }
        // The last block is written in two pieces, as one that has to be decompressed is.
        grid.blocks.back().data = {};
        grid.blocks.back().stream = [&parts](bp4::Sink& sink) {
            sink.write(bytes_of(parts[3]).first(16));
            sink.write(bytes_of(parts[3]).subspan(16));
        };
        const auto column_major = ramp<std::int32_t>(6, std::int64_t{100} * step);
        const bp4::Variable fortran{
            "fortran", bp4::Type::int32, {2, 3}, bp4::Order::fortran, {block({0, 0}, {2, 3}, column_major)}};
        const double time = 0.25 * step;
        std::vector<bp4::Variable> variables = {grid, fortran, scalar("time", bp4::Type::float64, time)};
        const std::array<char, 3> note = {'e', 'n', 'd'};
        if (step == 2) variables.push_back(scalar("note", bp4::Type::string, note));
        directory.writer().step(variables);
    }
    directory.close();
}

}  // namespace

int main(int argc, char** argv) try {
    if (argc != 3) {
        std::fprintf(stderr, "usage: %s TYPES.bp STEPS.bp\n", argv[0]);
        return 2;
    }
    write_types(argv[1]);
    write_steps(argv[2]);
    return 0;
} catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
}
