#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <pmemcpy/box.hpp>
#include <pmemcpy/type.hpp>
#include <span>
#include <vector>

#include "exchange/zarr/bytes.hpp"
#include "exchange/zarr/codec.hpp"
#include "exchange/zarr/vlen.hpp"

namespace pmemcpy::exchange {

/// What the elements of a chunk are to its codecs.
struct ZarrCell {
    std::uint64_t bytes = 0;            ///< in the decoded chunk; text of any length is padded to it
    bool has_any_length = false;        ///< in the coded chunk
    std::span<const std::byte> fill{};  ///< one element, for what is not there
};

class ZarrChain;

/// How a shard keeps its inner chunks.
struct ZarrShard {
    Dimensions chunk;  ///< the shape of the inner ones
    std::unique_ptr<ZarrChain> inner;
    ByteOrder index_order = ByteOrder::little;
    int index_checks = 0;  ///< the crc32c's behind each other
    bool is_index_first = false;

    struct Place {
        std::uint64_t offset;
        std::uint64_t bytes;
        bool is_there() const { return offset != UINT64_MAX || bytes != UINT64_MAX; }
    };
    std::uint64_t index_bytes(Extent chunks) const {
        return chunks * sizeof(Place) + 4 * static_cast<std::uint64_t>(index_checks);
    }
    /// Errors: corrupt, also for a place outside of the shard.
    std::vector<Place> read_index(const ZarrSource& shard, Extent chunks) const;
    Bytes index(std::span<const Place> places) const;
};

/// The list `codecs` of an array, or of a shard.
class ZarrChain {
public:
    /// Of an array or inner chunks of that shape. Errors: corrupt; unsupported for a codec that is not known, naming it.
    ZarrChain(const nlohmann::json& codecs, const Dimensions& shape, int depth = 0);

    /// The order of the numbers, as the innermost codec `bytes` says.
    ByteOrder order() const { return shard_ ? shard_->inner->order() : order_; }
    bool is_text() const { return shard_ ? shard_->inner->is_text() : is_text_; }
    /// Not null if an array's chunk is a file of inner chunks that can be read one by one.
    const ZarrShard* plain_shard() const {
        return shard_ && transposed_.empty() && codecs_.empty() ? &*shard_ : nullptr;
    }

    /// `to` is the chunk of that shape, densely in C order. Errors: corrupt, unsupported.
    void decode(const ZarrSource& coded, const Dimensions& shape, const ZarrCell& cell,
                std::span<std::byte> to) const;
    /// At text of any length in a chunk, before it is decoded.
    VlenLook look(const ZarrSource& coded, const Dimensions& shape) const;
    /// Nothing if all of it is the fill value.
    std::optional<Bytes> encode(std::span<const std::byte> chunk, const Dimensions& shape,
                                const ZarrCell& cell) const;

private:
    Bytes undo_codecs(const ZarrSource& coded, std::optional<std::uint64_t> bytes) const;
    Dimensions coded_shape(const Dimensions& shape) const;
    void decode_shard(const ZarrSource& shard, const Dimensions& shape, const ZarrCell& cell,
                      std::span<std::byte> to) const;
    Bytes encode_shard(std::span<const std::byte> chunk, const Dimensions& shape, const ZarrCell& cell) const;

    std::vector<int>
        transposed_;  // the dimensions of a chunk in the order of the coded one's; empty: as they are
    std::optional<ZarrShard> shard_;
    bool is_text_ = false;
    ByteOrder order_ = ByteOrder::little;
    std::vector<std::unique_ptr<ZarrCodec>> codecs_;
};

/// The bytes of a chunk. Errors: unsupported if there are more than most_chunk_bytes.
std::uint64_t chunk_bytes_of(const Dimensions& shape, std::uint64_t element_bytes);

/// Calls visit(box) for all inner chunks of a chunk, in C order.
void each_inner(const Dimensions& shape, const Dimensions& inner,
                const std::function<void(const Box&)>& visit);

}  // namespace pmemcpy::exchange
