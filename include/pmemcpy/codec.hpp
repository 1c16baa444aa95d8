#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace pmemcpy {

/// The compression of a block. As text: "none", or the kind with a level and shuffle, such as "lz4",
/// "zstd:5", "zstd:5:shuffle", "lz4:1:noshuffle".
struct Codec {
    /// The numbers are on media: a number is never reused for something else.
    enum class Kind : std::uint8_t { none = 0, lz4 = 1, lz4hc = 2, zstd = 3, zlib = 4, blosclz = 5 };

    static constexpr int min_level = 0;  ///< 0 only copies
    static constexpr int max_level = 9;

    Kind kind = Kind::none;
    int level = 5;
    bool shuffle = true;  ///< groups bytes of equal significance first, which makes floats compressible

    friend bool operator==(const Codec&, const Codec&) = default;
};

/// The codec that a text names.
/// Shape: kind[:level][:shuffle|:noshuffle]; parts left out have the defaults of Codec.
/// Errors: invalid_argument, with a list of the codecs.
Codec parse_codec(std::string_view text);

/// The text of a codec, as parse_codec() reads it: "none", "zstd:5:shuffle".
std::string to_string(const Codec& codec);

/// True when this build can compress and decompress with that kind.
bool is_available(Codec::Kind kind) noexcept;

}  // namespace pmemcpy
