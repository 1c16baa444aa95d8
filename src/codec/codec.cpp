#include <array>
#include <pmemcpy/codec.hpp>
#include <pmemcpy/error.hpp>
#include <utility>

namespace pmemcpy {

namespace {

constexpr std::array<std::pair<Codec::Kind, std::string_view>, 6> kinds = {{
    {Codec::Kind::none, "none"},
    {Codec::Kind::lz4, "lz4"},
    {Codec::Kind::lz4hc, "lz4hc"},
    {Codec::Kind::zstd, "zstd"},
    {Codec::Kind::zlib, "zlib"},
    {Codec::Kind::blosclz, "blosclz"},
}};

[[noreturn]] void refuse(std::string_view text, const std::string& why) {
    throw Error(
        Code::invalid_argument,
        "codec '" + std::string(text) + "': " + why +
            "; write kind[:level][:shuffle|:noshuffle] with kind none, lz4, lz4hc, zstd, zlib or blosclz and "
            "level 0 to 9, for example zstd:5:shuffle");
}

Codec::Kind parse_kind(std::string_view word, std::string_view text) {
    for (const auto& [kind, name] : kinds)
        if (name == word) return kind;
    refuse(text, "there is no kind '" + std::string(word) + "'");
}

}  // namespace

Codec parse_codec(std::string_view text) {
    Codec codec;
    std::string_view rest = text;
    const auto next_word = [&rest] {
        const auto colon = rest.find(':');
        const auto word = rest.substr(0, colon);
        rest = colon == std::string_view::npos ? std::string_view() : rest.substr(colon + 1);
        return word;
    };
    codec.kind = parse_kind(next_word(), text);
    if (text.ends_with(':')) refuse(text, "it ends in a colon");
    bool level_seen = false;
    bool shuffle_seen = false;
    while (!rest.empty()) {
        const auto word = next_word();
        if (!shuffle_seen && (word == "shuffle" || word == "noshuffle")) {
            codec.shuffle = word == "shuffle";
            shuffle_seen = true;
        } else if (!level_seen && !shuffle_seen && word.size() == 1 && word[0] >= '0' && word[0] <= '9') {
            codec.level = word[0] - '0';
            level_seen = true;
        } else {
            refuse(text, "'" + std::string(word) + "' is not understood here");
        }
    }
    if (codec.kind == Codec::Kind::none && (level_seen || shuffle_seen))
        refuse(text, "none takes nothing behind it");
    return codec;
}

std::string to_string(const Codec& codec) {
    std::string name = "kind " + std::to_string(static_cast<int>(codec.kind));
    for (const auto& [kind, known] : kinds)
        if (kind == codec.kind) name = known;
    if (codec.kind == Codec::Kind::none) return name;
    return name + ":" + std::to_string(codec.level) + (codec.shuffle ? ":shuffle" : ":noshuffle");
}

}  // namespace pmemcpy
