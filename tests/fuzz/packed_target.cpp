// Bytes that a codec or serializer once wrote, as somebody else would have them. The checksums of a compressed block are
// right: they say that these are the bytes that were written, not that who wrote them meant well.

#include <cstring>
#include <map>
#include <string>
#include <vector>

#ifdef PMEMCPY_HAVE_CEREAL
#include <cereal/types/map.hpp>
#include <cereal/types/string.hpp>
#include <cereal/types/utility.hpp>
#include <cereal/types/vector.hpp>
#include <pmemcpy/cereal.hpp>
#endif
#include <pmemcpy/codec.hpp>
#include <pmemcpy/serializer.hpp>

#include "base/crc32c.hpp"
#include "bytes.hpp"
#include "codec/blosc.hpp"
#include "codec/frames.hpp"
#include "packed_message.hpp"
#include "target.hpp"

namespace pmemcpy::fuzz {
namespace {

constexpr std::uint64_t largest_raw = 1 << 20;

template <class Call>
void attempt(Call&& call) {
    try {
        call();
    } catch (const Error& error) {
        expect(*error.what() != '\0', "an error without words");
    }
}

void unpack(const std::vector<std::byte>& block) {
    attempt([&] {
        const codec::CompressedInfo info = codec::inspect_compressed(block);
        if (info.raw_size_bytes > largest_raw) return;
        std::vector<std::byte> raw(info.raw_size_bytes);
        attempt([&] { codec::decompress(block, raw); });
        const std::uint64_t element = info.element_size_bytes;
        const std::uint64_t elements = info.raw_size_bytes / element;
        std::vector<std::byte> part(elements / 2 * element);
        attempt([&] { codec::decompress_range(block, elements / 3 * element, part); });
    });
}

/// A sound block in which some bytes are others, and its checksums right.
void unpack_changed(Bytes& input) {
    static const std::vector<std::vector<std::byte>> sound = [] {
        std::vector<std::byte> raw(600);
        for (std::size_t i = 0; i < raw.size(); ++i) raw[i] = static_cast<std::byte>(i * i >> 3);
        std::vector<std::vector<std::byte>> blocks;
        for (const char* codec :
             {"lz4:5:shuffle", "zstd:3:shuffle", "zlib:1:noshuffle", "blosclz:9", "lz4hc:0"}) {
            if (!is_available(parse_codec(codec).kind)) continue;
            std::vector<std::byte> block(codec::compressed_bound_bytes(raw.size(), 8, 256));
            block.resize(codec::compress(parse_codec(codec), 8, raw, block, 256));
            blocks.push_back(block);
        }
        return blocks;
    }();
    if (sound.empty()) return;
    std::vector<std::byte> block = sound[input.take<std::uint8_t>() % sound.size()];
    const auto how = input.take<std::uint8_t>();
    while (!input.empty()) {
        const std::size_t at = input.take<std::uint16_t>() % block.size();
        if (how % 2 == 0) {
            block[at] = input.take<std::byte>();
        } else {
            const std::uint64_t word = input.take_number();
            std::memcpy(block.data() + at, &word, std::min<std::size_t>(sizeof word, block.size() - at));
        }
    }
    if ((how & 2) != 0) block.resize(block.size() * (how / 4) / 64);
    codec::CompressedHeader header{};
    if (block.size() < sizeof header) return unpack(block);
    std::memcpy(&header, block.data(), sizeof header);
    if (header.frame_count <= (block.size() - sizeof header) / sizeof(codec::FrameEntry))
        codec::seal_header(header, block);
    unpack(block);
}

template <class T>
void decode(SerializerType serializer, std::span<const std::byte> bytes) {
    attempt([&] {
        T value{};
        decode_object(serializer, bytes, value);
    });
}

void decode_raw(std::span<const std::byte> bytes) {
    for (const SerializerType serializer : {SerializerType::bp4, SerializerType::none}) {
        decode<std::string>(serializer, bytes);
        decode<std::vector<double>>(serializer, bytes);
        decode<std::vector<bool>>(serializer, bytes);
        decode<bool>(serializer, bytes);
        decode<std::uint64_t>(serializer, bytes);
    }
}

#ifdef PMEMCPY_HAVE_CEREAL
void decode_cereal(std::span<const std::byte> bytes) {
    decode<std::string>(SerializerType::cereal, bytes);
    decode<std::vector<std::string>>(SerializerType::cereal, bytes);
    decode<std::vector<bool>>(SerializerType::cereal, bytes);
    decode<std::map<std::string, std::vector<double>>>(SerializerType::cereal, bytes);
    decode<std::vector<std::vector<std::pair<std::int8_t, std::vector<char>>>>>(SerializerType::cereal,
                                                                                bytes);
}
#else
void decode_cereal(std::span<const std::byte>) {}
#endif

}  // namespace

void read_packed(Input input) {
    Bytes bytes(input);
    const auto what = bytes.take<std::uint8_t>();
    if (what % 4 == 0) return unpack_changed(bytes);
    // Of exactly that size, so that the sanitizer sees a byte too many.
    const auto rest = as_bytes(bytes.rest());
    const std::vector<std::byte> exact(rest.begin(), rest.end());
    switch (what % 4) {
        case 1:
            unpack(exact);
            return decode_raw(exact);
        case 2:
            return decode_cereal(exact);
        default:
            return decode_message(exact);
    }
}

}  // namespace pmemcpy::fuzz
