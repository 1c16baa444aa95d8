#include "cli/element/writer.hpp"

#include <gtest/gtest.h>

#include <complex>
#include <fstream>
#include <iterator>
#include <numeric>

#include "tests/folder.hpp"

using namespace pmemcpy;
using namespace pmemcpy::cli;

namespace {

struct Mark {
    std::int32_t id;
    float at[2];
    char name[6];
};

/// What a writer makes of some elements.
template <class T, class Make>
std::string written(const std::vector<T>& elements, Make&& make) {
    const Folder folder;
    const std::string path = folder / "out";
    {
        Sink sink(path);
        const std::unique_ptr<Writer> writer = make(sink);
        for (const T& element : elements) writer->add(std::as_bytes(std::span(&element, 1)));
        writer->finish();
        sink.finish();
    }
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

template <class T>
std::string csv(const std::vector<T>& elements, const Selection& selection) {
    return written(elements, [&](Sink& sink) { return csv_writer(sink, type_of<T>(), selection, exact); });
}

std::vector<std::int32_t> ramp(std::size_t count) {
    std::vector<std::int32_t> numbers(count);
    std::iota(numbers.begin(), numbers.end(), 0);
    return numbers;
}

}  // namespace

PMEMCPY_STRUCT(Mark, id, at, name);

TEST(cli_writer, text_has_rows_and_planes) {
    const auto text = [](const Dimensions& shape) {
        return written(ramp(shape.elements()),
                       [&](Sink& sink) { return text_writer(sink, type_of<std::int32_t>(), shape, exact); });
    };
    EXPECT_EQ(text({}), "0\n");
    EXPECT_EQ(text({3}), "0\n1\n2\n");
    EXPECT_EQ(text({2, 2}), "0 1\n2 3\n");
    EXPECT_EQ(text({2, 1, 2}), "0 1\n\n2 3\n");
    EXPECT_EQ(text({0, 2}), "");
}

TEST(cli_writer, json_has_lists_in_lists) {
    const auto json = [](const Dimensions& shape) {
        return written(ramp(shape.elements()),
                       [&](Sink& sink) { return json_writer(sink, type_of<std::int32_t>(), shape); });
    };
    EXPECT_EQ(json({}), "0");
    EXPECT_EQ(json({2, 2}), "[[0,1],[2,3]]");
    EXPECT_EQ(json({0, 2}), "[]");
}

TEST(cli_writer, csv_has_the_indices_in_the_array) {
    EXPECT_EQ(csv<std::int32_t>({7, 8, 9, 10}, Selection({1, 4}, {2, 2}, {1, 3})),
              "dim_0,dim_1,value\r\n1,4,7\r\n1,7,8\r\n2,4,9\r\n2,7,10\r\n");
    EXPECT_EQ(csv<double>({0.5}, Selection({}, {})), "value\r\n0.5\r\n");
    EXPECT_EQ(csv<double>({}, Selection({0}, {0})), "dim_0,value\r\n");
}

TEST(cli_writer, csv_has_a_column_for_each_field) {
    EXPECT_EQ(csv<Mark>({{1, {0.5F, 2}, "a,b"}, {2, {3, 4}, "\"q\""}}, Selection({0}, {2})),
              "dim_0,id,at[0],at[1],name\r\n"
              "0,1,0.5,2,\"a,b\"\r\n"
              "1,2,3,4,\"\"\"q\"\"\"\r\n");
    EXPECT_EQ(csv<std::complex<float>>({{1, -2}}, Selection({}, {})), "value.real,value.imag\r\n1,-2\r\n");
}

TEST(cli_writer, csv_quotes_lines_in_text) {
    const std::string poem = "one\ntwo";
    const std::string text = written(std::vector<char>{}, [&](Sink& sink) {
        auto writer = csv_writer(sink, Type::string(), Selection({}, {}), exact);
        writer->add(std::as_bytes(std::span(poem)));
        return writer;
    });
    EXPECT_EQ(text, "value\r\n\"one\ntwo\"\r\n");
}
