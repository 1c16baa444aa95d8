#include "exchange/numpy/type.hpp"

#include <gtest/gtest.h>

#include <pmemcpy/error.hpp>
#include <string>

namespace pmemcpy::exchange {
namespace {

using Json = nlohmann::json;

Code refused(const char* descr) {
    try {
        element_of_numpy(Json::parse(descr));
    } catch (const Error& error) {
        return error.kind();
    }
    return Code::busy;
}

TEST(numpy_type, of_a_pool_is_what_numpy_calls_it_and_back) {
    for (const char* descr : {R"("|b1")", R"("|u1")", R"("<i4")", R"(">i2")", R"("<f2")", R"(">c16")",
                              R"("<M8[ns]")", R"("|S8")", R"("|V16")", R"([["a","<i4"],["b",">f8",[3]]])",
                              R"([["a","|i1"],["","|V7"],["b",[["c","<f8",[2,2]]]]])"}) {
        EXPECT_EQ(numpy_of(element_of_numpy(Json::parse(descr)).type).descr, Json::parse(descr)) << descr;
    }
}

TEST(numpy_type, lays_padding_between_fields) {
    const NumpyElement element =
        element_of_numpy(Json::parse(R"([["a","|i1"],["","|V7"],["b","<f8"],["","|V4"]])"));
    EXPECT_EQ(element.bytes, 20U);
    EXPECT_EQ(element.type, Type::structure({{"a", 0, Type::scalar(Kind::int8)},
                                             {"b", 8, Type::scalar(Kind::float64, ByteOrder::little)}},
                                            20));
}

TEST(numpy_type, keeps_text_as_utf8_also_inside_of_fields) {
    const NumpyElement element = element_of_numpy(Json::parse(R"([["n","<u4"],["t",">U2",[2]]])"));
    EXPECT_EQ(element.type.fields()[1].type, Type::array(Type::fixed_string(8), {2}));
    ASSERT_EQ(element.texts.size(), 2U);
    EXPECT_EQ(element.texts[1].offset, 12U);
    const std::string numpy(
        "\x07\0\0\0"
        "\0\0\3\xb2"
        "\0\0\0x"
        "\0\0\0y"
        "\0\0\0\0",
        20);
    std::vector<std::byte> room, again;
    const auto pool = to_pool(element, std::as_bytes(std::span(numpy)), room);
    EXPECT_EQ(std::string(reinterpret_cast<const char*>(pool.data()), pool.size()),
              std::string("\x07\0\0\0"
                          "\xce\xb2x\0\0\0\0\0"
                          "y\0\0\0\0\0\0\0",
                          20));
    const auto back = to_numpy(element, pool, again);
    EXPECT_EQ(std::string(reinterpret_cast<const char*>(back.data()), back.size()), numpy);
}

TEST(numpy_type, refuses_what_a_pool_cannot_hold_and_what_means_nothing) {
    for (const char* descr :
         {R"("|O")", R"("<f16")", R"([["a","|O"]])", R"([["a","|u1"],["a","|u1"]])", "[]"})
        EXPECT_EQ(refused(descr), Code::unsupported) << descr;
    for (const char* descr : {R"("")", R"("<q3")", R"("<i5")", R"("|S-1")", "3", "null", R"([["a"]])",
                              R"([[3,"<i4"]])", R"("<M8[s")", R"([["a","<i4",[-1]]])"})
        EXPECT_EQ(refused(descr), Code::corrupt) << descr;
}

}  // namespace
}  // namespace pmemcpy::exchange
