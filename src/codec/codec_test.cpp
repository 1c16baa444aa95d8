#include <gtest/gtest.h>

#include <pmemcpy/codec.hpp>
#include <pmemcpy/error.hpp>

namespace pmemcpy {
namespace {

TEST(codec, text_of_a_codec_parses_to_the_same_codec) {
    for (const auto kind :
         {Codec::Kind::lz4, Codec::Kind::lz4hc, Codec::Kind::zstd, Codec::Kind::zlib, Codec::Kind::blosclz})
        for (const int level : {0, 1, 9})
            for (const bool shuffle : {false, true}) {
                const Codec codec{kind, level, shuffle};
                EXPECT_EQ(parse_codec(to_string(codec)), codec) << to_string(codec);
            }
    EXPECT_EQ(parse_codec(to_string(Codec{})), Codec{});
}

TEST(codec, parts_left_out_are_those_of_a_fresh_codec) {
    EXPECT_EQ(to_string(parse_codec("zstd:5:shuffle")), "zstd:5:shuffle");
    EXPECT_EQ(to_string(parse_codec("zstd")), "zstd:5:shuffle");
    EXPECT_EQ(to_string(parse_codec("lz4:noshuffle")), "lz4:5:noshuffle");
    EXPECT_EQ(to_string(parse_codec("lz4:1")), "lz4:1:shuffle");
    EXPECT_EQ(to_string(parse_codec("none")), "none");
}

TEST(codec, text_that_is_no_codec_is_refused_with_what_there_is) {
    for (const char* text :
         {"", ":", "gzip", "zstd:", "zstd:10", "zstd:-1", "zstd:5:", "zstd:shuffle:5", "zstd:5:5",
          "zstd:5:shuffle:shuffle", "none:5", "ZSTD", "zstd 5", "zstd::shuffle"}) {
        try {
            parse_codec(text);
            ADD_FAILURE() << "accepted '" << text << "'";
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), Code::invalid_argument);
            EXPECT_NE(std::string(error.what()).find("blosclz"), std::string::npos) << error.what();
        }
    }
}

}  // namespace
}  // namespace pmemcpy
