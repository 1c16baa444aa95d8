#include "exchange/zarr/codec.hpp"

#include "base/crc32c.hpp"
#include "exchange/zarr/json.hpp"

#include <blosc.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstring>
#include <pmemcpy/error.hpp>

namespace pmemcpy::exchange {

namespace {

using Json = nlohmann::json;
using Expected = std::optional<std::uint64_t>;

[[noreturn]] void refuse_size(const char* codec, const Expected& expected) {
    refuse_zarr(std::string(codec) + ": it has not the " +
                (expected ? std::to_string(*expected) + " bytes that its shape and type make"
                          : "bytes of any text: more than " + std::to_string(most_chunk_bytes)));
}

std::int64_t integer(const Json& configuration, const char* key, std::int64_t otherwise, std::int64_t least,
                     std::int64_t most) {
    const Json found = configuration.value(key, Json(otherwise));
    if (!found.is_number_integer() || found.get<std::int64_t>() < least || found.get<std::int64_t>() > most)
        refuse_zarr(std::string("a codec's ") + key + " is " + shown_json(found));
    return found.get<std::int64_t>();
}

/// Room for what is decompressed: all of it if that is known, else twice as much each time.
class Growing {
public:
    Growing(const Expected& expected, std::size_t coded)
        : most_(expected.value_or(most_chunk_bytes)),
          bytes_(expected ? *expected : std::min<std::uint64_t>(4 * coded + 1024, most_chunk_bytes)) {}

    /// The free room; none when there is as much as there may be.
    std::span<std::byte> room() {
        if (used_ == bytes_.size() && used_ < most_) bytes_.resize(std::min(most_, 2 * used_));
        return std::span(bytes_).subspan(used_);
    }
    void use(std::size_t count) { used_ += count; }
    Bytes taken(const char* codec, const Expected& expected) {
        if (expected && used_ != *expected) refuse_size(codec, expected);
        bytes_.resize(used_);
        return std::move(bytes_);
    }

private:
    std::uint64_t most_;
    Bytes bytes_;
    std::size_t used_ = 0;
};

class Gzip final : public ZarrCodec {
public:
    /// `header`: what zlib calls the form of the stream, 16 for gzip's and 0 for its own.
    Gzip(int level, int header) : level_(level), header_(header) {}

    Bytes decode(Bytes coded, Expected expected) const override {
        z_stream stream{};
        if (inflateInit2(&stream, MAX_WBITS + header_) != Z_OK) throw std::bad_alloc();
        const std::unique_ptr<z_stream, int (*)(z_stream*)> ended(&stream, inflateEnd);
        Growing growing(expected, coded.size());
        std::size_t at = 0;
        for (bool is_open = true; is_open || at < coded.size();) {
            if (!is_open) inflateReset(&stream);  // gzip's files may follow one another
            const std::span<std::byte> room = growing.room();
            std::byte none{};
            stream.next_in = reinterpret_cast<Bytef*>(coded.data() + at);
            stream.avail_in = static_cast<uInt>(std::min<std::size_t>(coded.size() - at, UINT_MAX));
            stream.next_out = reinterpret_cast<Bytef*>(room.empty() ? &none : room.data());
            stream.avail_out =
                room.empty() ? 1 : static_cast<uInt>(std::min<std::size_t>(room.size(), UINT_MAX));
            const uInt in = stream.avail_in, out = stream.avail_out;
            const int said = inflate(&stream, Z_NO_FLUSH);
            at += in - stream.avail_in;
            const std::size_t made = out - stream.avail_out;
            if (room.empty() && made > 0) refuse_size("gzip", expected);
            growing.use(made);
            is_open = said != Z_STREAM_END;
            const bool is_stuck = said == Z_BUF_ERROR || (made == 0 && in == stream.avail_in);
            if (is_open && (said != Z_OK || is_stuck))
                refuse_zarr(std::string("gzip: it does not decompress: ") +
                            (stream.msg != nullptr ? stream.msg : "it ends too early"));
        }
        return growing.taken("gzip", expected);
    }

    Bytes encode(Bytes bytes) const override {
        z_stream stream{};
        if (deflateInit2(&stream, level_, Z_DEFLATED, MAX_WBITS + header_, 8, Z_DEFAULT_STRATEGY) != Z_OK)
            throw std::bad_alloc();
        const std::unique_ptr<z_stream, int (*)(z_stream*)> ended(&stream, deflateEnd);
        Bytes coded(deflateBound(&stream, bytes.size()));
        stream.next_in = reinterpret_cast<Bytef*>(bytes.data());
        stream.avail_in = static_cast<uInt>(bytes.size());  // most_chunk_bytes fit
        stream.next_out = reinterpret_cast<Bytef*>(coded.data());
        stream.avail_out = static_cast<uInt>(coded.size());
        if (deflate(&stream, Z_FINISH) != Z_STREAM_END) throw Error(Code::unsupported, "gzip gave up");
        coded.resize(coded.size() - stream.avail_out);
        return coded;
    }

private:
    int level_;
    int header_;
};

class Zstd final : public ZarrCodec {
public:
    Zstd(int level, bool has_checksum) : level_(level), has_checksum_(has_checksum) {}

    Bytes decode(Bytes coded, Expected expected) const override {
        const std::unique_ptr<ZSTD_DCtx, std::size_t (*)(ZSTD_DCtx*)> context(ZSTD_createDCtx(),
                                                                              ZSTD_freeDCtx);
        if (!context) throw std::bad_alloc();
        const auto claimed = ZSTD_getFrameContentSize(coded.data(), coded.size());
        const auto is_known = claimed != ZSTD_CONTENTSIZE_UNKNOWN && claimed != ZSTD_CONTENTSIZE_ERROR;
        if (is_known && claimed > expected.value_or(most_chunk_bytes)) refuse_size("zstd", expected);
        Growing growing(expected, coded.size());
        ZSTD_inBuffer in{coded.data(), coded.size(), 0};
        std::byte none{};
        for (std::size_t said = 1; said != 0 || in.pos < in.size;) {
            const std::span<std::byte> room = growing.room();
            ZSTD_outBuffer out{room.empty() ? &none : room.data(), room.empty() ? 1 : room.size(), 0};
            const std::size_t before = in.pos;
            said = ZSTD_decompressStream(context.get(), &out, &in);
            if (ZSTD_isError(said) != 0)
                refuse_zarr(std::string("zstd: it does not decompress: ") + ZSTD_getErrorName(said));
            if (room.empty() && out.pos > 0) refuse_size("zstd", expected);
            growing.use(out.pos);
            if (said != 0 && out.pos == 0 && in.pos == before) refuse_zarr("zstd: it ends too early");
        }
        return growing.taken("zstd", expected);
    }

    Bytes encode(Bytes bytes) const override {
        const std::unique_ptr<ZSTD_CCtx, std::size_t (*)(ZSTD_CCtx*)> context(ZSTD_createCCtx(),
                                                                              ZSTD_freeCCtx);
        if (!context) throw std::bad_alloc();
        ZSTD_CCtx_setParameter(context.get(), ZSTD_c_compressionLevel, level_);
        ZSTD_CCtx_setParameter(context.get(), ZSTD_c_checksumFlag, has_checksum_ ? 1 : 0);
        Bytes coded(ZSTD_compressBound(bytes.size()));
        const std::size_t made =
            ZSTD_compress2(context.get(), coded.data(), coded.size(), bytes.data(), bytes.size());
        if (ZSTD_isError(made) != 0)
            throw Error(Code::unsupported, std::string("zstd gave up: ") + ZSTD_getErrorName(made));
        coded.resize(made);
        return coded;
    }

private:
    int level_;
    bool has_checksum_;
};

class Blosc final : public ZarrCodec {
public:
    explicit Blosc(const Json& configuration)
        : compressor_(configuration.value("cname", "zstd")),
          level_(static_cast<int>(integer(configuration, "clevel", 5, 0, 9))),
          type_bytes_(static_cast<std::size_t>(integer(configuration, "typesize", 1, 1, INT_MAX))),
          block_bytes_(static_cast<std::size_t>(integer(configuration, "blocksize", 0, 0, INT_MAX))) {
        const std::string shuffle = configuration.value("shuffle", "noshuffle");
        shuffle_ = shuffle == "shuffle"      ? BLOSC_SHUFFLE
                   : shuffle == "bitshuffle" ? BLOSC_BITSHUFFLE
                                             : BLOSC_NOSHUFFLE;
        if (shuffle_ == BLOSC_NOSHUFFLE && shuffle != "noshuffle")
            refuse_zarr("blosc's shuffle is " + shuffle);
        if (blosc_compname_to_compcode(compressor_.c_str()) < 0) {
            throw Error(Code::unsupported, "the codec blosc with " + compressor_ +
                                               ", which the Blosc library here was built without; it has " +
                                               blosc_list_compressors());
        }
    }

    Bytes decode(Bytes coded, Expected expected) const override {
        std::size_t claimed = 0;
        if (coded.size() < BLOSC_MIN_HEADER_LENGTH ||
            blosc_cbuffer_validate(coded.data(), coded.size(), &claimed) != 0)
            refuse_zarr("blosc: its header is wrong");
        if (expected ? claimed != *expected : claimed > most_chunk_bytes) refuse_size("blosc", expected);
        Bytes bytes(claimed);
        const int made = blosc_decompress_ctx(coded.data(), bytes.data(), bytes.size(), 1);
        if (made < 0 || static_cast<std::size_t>(made) != claimed)
            refuse_zarr("blosc: it does not decompress (Blosc says " + std::to_string(made) + ")");
        return bytes;
    }

    Bytes encode(Bytes bytes) const override {
        Bytes coded(bytes.size() + BLOSC_MAX_OVERHEAD);
        const std::size_t type_bytes = type_bytes_ <= BLOSC_MAX_TYPESIZE ? type_bytes_ : 1;
        const int made = blosc_compress_ctx(level_, shuffle_, type_bytes, bytes.size(), bytes.data(),
                                            coded.data(), coded.size(), compressor_.c_str(), block_bytes_, 1);
        if (made <= 0) {
            throw Error(Code::unsupported, "Blosc gave up on a chunk of " + std::to_string(bytes.size()) +
                                               " bytes (it says " + std::to_string(made) + ")");
        }
        coded.resize(static_cast<std::size_t>(made));
        return coded;
    }

private:
    std::string compressor_;
    int level_;
    std::size_t type_bytes_;
    std::size_t block_bytes_;
    int shuffle_ = BLOSC_NOSHUFFLE;
};

class Crc32c final : public ZarrCodec {
public:
    Bytes decode(Bytes coded, Expected) const override {
        if (coded.size() < check_bytes) refuse_zarr("crc32c: it is too short for one");
        const std::size_t size = coded.size() - check_bytes;
        std::uint32_t found = 0;
        std::memcpy(&found, coded.data() + size, check_bytes);
        coded.resize(size);
        if (found != checksum(coded)) refuse_zarr("crc32c: the checksum is not that of the bytes");
        return coded;
    }

    Bytes encode(Bytes bytes) const override {
        const std::uint32_t check = checksum(bytes);
        bytes.resize(bytes.size() + check_bytes);
        std::memcpy(bytes.data() + bytes.size() - check_bytes, &check, check_bytes);
        return bytes;
    }

    std::optional<std::uint64_t> coded_bytes(std::uint64_t bytes) const override {
        return bytes + check_bytes;
    }

private:
    static constexpr std::size_t check_bytes = 4;  // little-endian

    static std::uint32_t checksum(const Bytes& bytes) { return base::crc32c(0, bytes.data(), bytes.size()); }
};

}  // namespace

std::unique_ptr<ZarrCodec> zarr_codec(const std::string& name, const Json& configuration) {
    if (name == "gzip")
        return std::make_unique<Gzip>(static_cast<int>(integer(configuration, "level", 5, -1, 9)), 16);
    if (name == "numcodecs.zlib")
        return std::make_unique<Gzip>(static_cast<int>(integer(configuration, "level", 1, -1, 9)), 0);
    if (name == "zstd") {
        const Json checksum = configuration.value("checksum", Json(false));
        if (!checksum.is_boolean()) refuse_zarr("zstd's checksum is " + shown_json(checksum));
        return std::make_unique<Zstd>(
            static_cast<int>(integer(configuration, "level", 0, ZSTD_minCLevel(), ZSTD_maxCLevel())),
            checksum.get<bool>());
    }
    if (name == "blosc") return std::make_unique<Blosc>(configuration);
    if (name == "crc32c") return std::make_unique<Crc32c>();
    return nullptr;
}

}  // namespace pmemcpy::exchange
