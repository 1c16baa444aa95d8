#include "codec/bp4_writer.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <pmemcpy/error.hpp>

#include "codec/bp4_directory.hpp"
#include "codec/mapped_memory.hpp"

// What ADIOS makes of such files is in bp4_adios_test.py; here is what needs no ADIOS.

namespace pmemcpy::codec::bp4 {
namespace {

struct MemorySink final : Sink {
    void write(std::span<const std::byte> more) override {
        bytes.insert(bytes.end(), more.begin(), more.end());
    }
    std::vector<std::byte> bytes;
};

struct Files {
    MemorySink data, metadata, index;
    Writer writer{data, metadata, index};
};

std::uint64_t number_at(const std::vector<std::byte>& bytes, std::size_t at) {
    std::uint64_t number = 0;
    std::memcpy(&number, bytes.data() + at, sizeof number);
    return number;
}

const std::vector<double> six = {1, 2, 3, 4, 5, 6};

Variable variable() {
    return {
        "A", Type::float64, {2, 3}, Order::c, {{{0, 0}, {2, 3}, {}, {}, std::as_bytes(std::span(six)), {}}}};
}

Code code_of_step(const std::vector<Variable>& variables, const std::vector<Attribute>& attributes = {}) {
    Files files;
    try {
        files.writer.step(variables, attributes);
    } catch (const Error& error) {
        return error.kind();
    }
    return Code{0};
}

TEST(bp4_writer, the_index_leads_to_the_metadata_of_every_step) {
    Files files;
    for (int step = 0; step < 3; ++step) files.writer.step(std::vector{variable()});
    files.writer.close();
    ASSERT_EQ(files.index.bytes.size(), 64u * 4);
    std::uint64_t expected = 64;
    for (std::size_t step = 0; step < 3; ++step) {
        const std::size_t row = 64 * (step + 1);
        EXPECT_EQ(number_at(files.index.bytes, row), step + 1);
        EXPECT_EQ(number_at(files.index.bytes, row + 16), expected);
        expected = number_at(files.index.bytes, row + 40);
    }
    EXPECT_EQ(expected, files.metadata.bytes.size());
    EXPECT_EQ(std::to_integer<int>(files.index.bytes[37]), 4);  // the version by which ADIOS knows BP4
}

TEST(bp4_writer, elements_lie_raw_and_aligned_where_the_characteristics_say) {
    Files files;
    files.writer.step(std::vector{variable()});
    // The characteristics end with the payload's offset, and the metadata with an empty attribute table
    // behind them.
    const std::uint64_t payload = number_at(files.metadata.bytes, files.metadata.bytes.size() - 12 - 8);
    EXPECT_EQ(payload % 64, 0u);
    ASSERT_LE(payload + 48, files.data.bytes.size());
    const auto found = std::span(files.data.bytes).subspan(payload, 48);
    EXPECT_TRUE(std::equal(found.begin(), found.end(), std::as_bytes(std::span(six)).begin()));
}

TEST(bp4_writer, what_bp4_cannot_say_is_refused_before_a_byte_is_written) {
    auto outside = variable();
    outside.blocks[0].offset = {1, 0};
    auto wrapping = variable();
    wrapping.blocks[0].offset = {~std::uint64_t{0}, 0};
    auto flat = variable();
    flat.blocks[0].count = {6};
    auto scarce = variable();
    scarce.blocks[0].data = scarce.blocks[0].data.first(40);
    auto without = variable();
    without.blocks.clear();
    auto nameless = variable();
    nameless.id.clear();
    auto endless = variable();
    endless.id.assign(65536, 'x');
    auto deep = variable();
    deep.shape.assign(33, 1);
    for (const auto& wrong : {outside, wrapping, flat, scarce, without, nameless, endless, deep})
        EXPECT_EQ(code_of_step({wrong}), Code::invalid_argument);
    EXPECT_EQ(code_of_step({variable(), variable()}), Code::invalid_argument);

    auto nothing = variable();
    nothing.shape = {0, 0};
    auto texts = variable();
    texts.type = Type::string;
    for (const auto& wrong : {nothing, texts}) EXPECT_EQ(code_of_step({wrong}), Code::unsupported);

    EXPECT_EQ(code_of_step({}, {{"a", Type::string, {}, {}}}), Code::invalid_argument);
    EXPECT_EQ(code_of_step({}, {{"a", Type::float64, std::as_bytes(std::span(six)).first(7), {}}}),
              Code::invalid_argument);
    EXPECT_EQ(code_of_step({variable()}, {{"a", Type::string, {}, {"x"}}}), Code{0});

    Files files;
    const auto before = files.data.bytes.size();
    EXPECT_THROW(files.writer.step(std::vector{variable(), outside}), Error);
    EXPECT_EQ(files.data.bytes.size(), before);
    files.writer.step(std::vector{variable()});
}

TEST(bp4_writer, a_block_that_streams_another_size_is_an_error_and_ends_the_file) {
    for (const std::size_t size : {40u, 56u}) {
        Files files;
        auto streaming = variable();
        const std::vector<std::byte> bytes(size);
        streaming.blocks[0].stream = [&bytes](Sink& sink) { sink.write(bytes); };
        EXPECT_THROW(files.writer.step(std::vector{streaming}), Error);
        EXPECT_THROW(files.writer.step(std::vector{variable()}), Error);
        EXPECT_THROW(files.writer.close(), Error);
    }
}

class Scratch {
public:
    Scratch() : path_(std::filesystem::temp_directory_path() / ("pmemcpy-bp4-" + std::to_string(getpid()))) {
        std::filesystem::remove_all(path_);
        std::filesystem::create_directory(path_);
    }
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;
    ~Scratch() { std::filesystem::remove_all(path_); }
    const std::filesystem::path& path() const { return path_; }

private:
    std::filesystem::path path_;
};

TEST(bp4_writer, a_directory_is_made_anew_or_not_at_all) {
    const Scratch scratch;
    const auto path = scratch.path() / "x.bp";
    Directory directory(path);
    directory.writer().step(std::vector{variable()});
    directory.close();
    for (const char* file : {"data.0", "md.0", "md.idx"})
        EXPECT_TRUE(std::filesystem::exists(path / file)) << file;
    try {
        Directory again(path);
        ADD_FAILURE() << "no error";
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), Code::already_exists);
    }
    try {
        Directory nowhere(scratch.path() / "no" / "x.bp");
        ADD_FAILURE() << "no error";
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), Code::io_error);
    }
}

TEST(bp4_writer, large_arrays_pass_through_without_being_collected) {
    if (!memory_is_countable) GTEST_SKIP() << "sanitizers keep memory of their own";
    struct Discarding final : Sink {
        void write(std::span<const std::byte> more) override { size_bytes += more.size(); }
        std::uint64_t size_bytes = 0;
    } data, metadata, index;
    constexpr std::uint64_t rows = 64;
    constexpr std::uint64_t columns = (4u << 20) / sizeof(double);
    const SharedMapping mapping(rows * columns * sizeof(double));
    Variable large{"large", Type::float64, {rows, columns}, Order::c, {}};
    for (std::uint64_t row = 0; row < rows; ++row)
        large.blocks.push_back(
            {{row, 0},
             {1, columns},
             {},
             {},
             mapping.bytes().subspan(row * columns * sizeof(double), columns * sizeof(double)),
             {}});
    const auto before = anonymous_bytes();
    Writer writer(data, metadata, index);
    writer.step(std::vector{large});
    writer.close();
    EXPECT_GT(data.size_bytes, mapping.bytes().size());
    EXPECT_LT(anonymous_bytes() - before, std::int64_t{16} << 20);
}

}  // namespace
}  // namespace pmemcpy::codec::bp4
