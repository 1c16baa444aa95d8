#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace pmemcpy {

/// How the bytes of a block are compressed. Written as text: "none", or the kind with a level and shuffle,
/// for example "lz4", "zstd:5", "zstd:5:shuffle", "lz4:1:noshuffle".
struct Codec {
    /// The numbers are on media: a number is never reused for something else.
    enum class Kind : std::uint8_t { none = 0, lz4 = 1, lz4hc = 2, zstd = 3, zlib = 4, blosclz = 5 };

    static constexpr int min_level = 0;  ///< 0 only copies
    static constexpr int max_level = 9;

    Kind kind = Kind::none;
    int level = 5;
    bool shuffle =
        true;  ///< bytes of equal weight first put side by side, which is what makes floats compress

    friend bool operator==(const Codec&, const Codec&) = default;
};

/// Shape: kind[:level][:shuffle|:noshuffle]; what is left out is as in a fresh Codec.
/// Errors: invalid_argument, which lists what there is
Codec parse_codec(std::string_view text);

/// The text that parse_codec() makes the same codec of: "none", "zstd:5:shuffle".
std::string to_string(const Codec& codec);

/// True when this build of the library can compress and decompress with that kind.
bool is_available(Codec::Kind kind) noexcept;

}  // namespace pmemcpy
