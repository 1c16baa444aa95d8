#include "exchange/zarr/chain.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <pmemcpy/error.hpp>

#include "exchange/pieces.hpp"
#include "exchange/zarr/json.hpp"
#include "exchange/zarr/strided.hpp"
#include "exchange/zarr/type.hpp"
#include "exchange/zarr/vlen.hpp"

namespace pmemcpy::exchange {

namespace {

constexpr int most_nested_shards = 4;

ByteOrder order_of(const Json& configuration) {
    const std::string endian = configuration.value("endian", "little");
    if (endian != "little" && endian != "big") refuse_zarr("the codec bytes with endian " + endian);
    return endian == "big" ? ByteOrder::big : ByteOrder::little;
}

Dimensions permuted(const Dimensions& from, const std::vector<int>& order) {
    if (order.empty()) return from;
    Dimensions to;
    for (const int d : order) to.push_back(from[d]);
    return to;
}

std::vector<int> transposition(const Json& configuration, int n) {
    const Json list = configuration.value("order", Json());
    std::vector<int> order;
    std::vector<bool> seen(static_cast<std::size_t>(n));
    for (const Json& item : list.is_array() ? list : Json::array()) {
        const bool is_one = item.is_number_unsigned() && item.get<std::uint64_t>() < seen.size();
        if (!is_one || seen[item.get<std::size_t>()]) break;
        seen[item.get<std::size_t>()] = true;
        order.push_back(item.get<int>());
    }
    if (!list.is_array() || static_cast<int>(list.size()) != n || static_cast<int>(order.size()) != n)
        refuse_zarr("the codec transpose with the order " + shown_json(list));
    return order;
}

/// What all elements of a chunk are.
bool is_all(std::span<const std::byte> chunk, std::span<const std::byte> fill) {
    if (fill.empty() || chunk.size() < fill.size()) return false;
    return std::memcmp(chunk.data(), fill.data(), fill.size()) == 0 &&
           std::memcmp(chunk.data(), chunk.data() + fill.size(), chunk.size() - fill.size()) == 0;
}

ZarrShard shard_of(const Json& configuration, const Dimensions& shape, int depth) {
    ZarrShard shard;
    if (depth == most_nested_shards) refuse_zarr("shards in shards in shards");
    const Json chunk = configuration.value("chunk_shape", Json());
    if (!chunk.is_array() || static_cast<int>(chunk.size()) != shape.size())
        refuse_zarr("sharding_indexed with the chunk_shape " + shown_json(chunk));
    for (const Json& item : chunk) {
        const Extent whole = shape[shard.chunk.size()];
        const Extent extent = item.is_number_unsigned() ? item.get<Extent>() : 0;
        if (extent == 0 || whole % extent != 0)
            refuse_zarr("sharding_indexed: the inner chunks of " + shown_json(chunk) +
                        " do not part the shards");
        shard.chunk.push_back(extent);
    }
    shard.inner = std::make_unique<ZarrChain>(configuration.value("codecs", Json()), shard.chunk, depth + 1);
    const std::string location = configuration.value("index_location", "end");
    if (location != "start" && location != "end")
        refuse_zarr("sharding_indexed with the index at " + location);
    shard.is_index_first = location == "start";
    const Json codecs = configuration.value(
        "index_codecs",
        Json::array({{{"name", "bytes"}, {"configuration", {{"endian", "little"}}}}, "crc32c"}));
    bool has_bytes = false;
    for (const Json& item : codecs.is_array() ? codecs : Json::array()) {
        const ZarrNamed named = zarr_named(item, "codec");
        if (named.name == "bytes" && !has_bytes) {
            shard.index_order = order_of(named.configuration);
            has_bytes = true;
        } else if (named.name == "crc32c" && has_bytes && shard.index_checks < 4) {
            ++shard.index_checks;
        } else {
            throw Error(Code::unsupported, "the codec " + named.name + " of the index of a shard");
        }
    }
    if (!has_bytes) refuse_zarr("sharding_indexed without the codec bytes for its index");
    return shard;
}

}  // namespace

std::uint64_t chunk_bytes_of(const Dimensions& shape, std::uint64_t element_bytes) {
    std::uint64_t bytes = element_bytes;
    for (const Extent extent : shape) {
        if (extent != 0 && bytes > most_chunk_bytes / extent) {
            throw Error(Code::unsupported, "its chunks of " + to_string(shape) + " elements have more than " +
                                               std::to_string(most_chunk_bytes) + " bytes");
        }
        bytes *= extent;
    }
    return bytes;
}

void each_inner(const Dimensions& shape, const Dimensions& inner,
                const std::function<void(const Box&)>& visit) {
    each_piece(Box::whole(shape), inner, 1, 0, visit);
}

ZarrChain::ZarrChain(const Json& codecs, const Dimensions& shape, int depth) {
    if (!codecs.is_array()) refuse_zarr("it has no list of codecs");
    bool has_bytes = false;
    for (const Json& item : codecs) {
        const ZarrNamed named = zarr_named(item, "codec");
        const auto is_array_codec = [&] {
            if (has_bytes)
                refuse_zarr("the codec " + named.name + " behind another that has made bytes of the array");
            has_bytes = true;
            return true;
        };
        try {
            if (named.name == "transpose" && !has_bytes) {
                const std::vector<int> next = transposition(named.configuration, shape.size());
                std::vector<int> before(next.size());
                std::iota(before.begin(), before.end(), 0);
                if (!transposed_.empty()) before = transposed_;
                transposed_.clear();
                for (const int d : next) transposed_.push_back(before[static_cast<std::size_t>(d)]);
            } else if (named.name == "bytes" && is_array_codec()) {
                order_ = order_of(named.configuration);
            } else if ((named.name == "vlen-utf8" || named.name == "vlen-bytes") && is_array_codec()) {
                is_text_ = true;
            } else if (named.name == "sharding_indexed" && is_array_codec()) {
                shard_ = shard_of(named.configuration, coded_shape(shape), depth);
            } else if (auto codec = zarr_codec(named.name, named.configuration)) {
                if (!has_bytes)
                    refuse_zarr("the codec " + named.name + " before one that makes bytes of the array");
                codecs_.push_back(std::move(codec));
            } else {
                throw Error(Code::unsupported, "it is coded by " + named.name + ", which is not known here");
            }
        } catch (const Json::exception& error) {
            refuse_zarr("the codec " + named.name + ": " + error.what());
        }
    }
    if (!has_bytes) refuse_zarr("none of its codecs makes bytes of the array");
}

Dimensions ZarrChain::coded_shape(const Dimensions& shape) const { return permuted(shape, transposed_); }

Bytes ZarrChain::undo_codecs(const ZarrSource& coded, std::optional<std::uint64_t> bytes) const {
    std::vector<std::optional<std::uint64_t>> expected;  // of what is left when a codec is undone
    for (const auto& codec : codecs_) {
        expected.push_back(bytes);
        bytes = bytes ? codec->coded_bytes(*bytes) : std::nullopt;
    }
    if (bytes ? coded.size() != *bytes : coded.size() > most_chunk_bytes) {
        refuse_zarr("it has " + std::to_string(coded.size()) + " bytes, and " +
                    std::to_string(bytes.value_or(most_chunk_bytes)) +
                    (bytes ? " are right" : " are the most"));
    }
    Bytes all(coded.size());
    coded.read(0, all);
    for (std::size_t i = codecs_.size(); i-- > 0;) all = codecs_[i]->decode(std::move(all), expected[i]);
    return all;
}

void ZarrChain::decode(const ZarrSource& coded, const Dimensions& shape, const ZarrCell& cell,
                       std::span<std::byte> to) const {
    const Dimensions there = coded_shape(shape);
    Bytes room;
    std::span<std::byte> made = to;
    if (!transposed_.empty()) {
        room.resize(to.size());
        made = room;
    }
    if (shard_) {
        if (codecs_.empty()) {
            decode_shard(coded, there, cell, made);
        } else {
            const Bytes all = undo_codecs(coded, {});
            decode_shard(ZarrMemory(all), there, cell, made);
        }
    } else if (is_text_) {
        const Bytes all = undo_codecs(coded, {});
        read_vlen(all, shape.elements(), cell.bytes, made);
    } else {
        const Bytes all = undo_codecs(coded, made.size());
        std::copy(all.begin(), all.end(), made.begin());
    }
    if (transposed_.empty()) return;
    copy_strided(room.data(), steps_of(there), to.data(), permuted(steps_of(shape), transposed_), there,
                 cell.bytes);
}

VlenLook ZarrChain::look(const ZarrSource& coded, const Dimensions& shape) const {
    const Bytes all = shard_ && codecs_.empty() ? Bytes() : undo_codecs(coded, {});
    if (!shard_) return look_at_vlen(all, shape.elements());
    const ZarrMemory memory(all);
    const ZarrSource& shard = codecs_.empty() ? coded : memory;
    const Dimensions there = coded_shape(shape);
    Dimensions grid;
    for (int d = 0; d < there.size(); ++d) grid.push_back(there[d] / shard_->chunk[d]);
    VlenLook most;
    for (const ZarrShard::Place& place : shard_->read_index(shard, grid.elements())) {
        if (!place.is_there()) continue;
        const VlenLook one = shard_->inner->look(ZarrRange(shard, place.offset, place.bytes), shard_->chunk);
        most = {std::max(most.longest, one.longest), most.has_zeros_at_an_end || one.has_zeros_at_an_end};
    }
    return most;
}

void ZarrChain::decode_shard(const ZarrSource& shard, const Dimensions& shape, const ZarrCell& cell,
                             std::span<std::byte> to) const {
    const Dimensions& inner = shard_->chunk;
    const Extent chunks = shape.elements() / inner.elements();
    const std::vector<ZarrShard::Place> index = shard_->read_index(shard, chunks);
    const Dimensions steps = steps_of(shape), inner_steps = steps_of(inner),
                     nowhere = Dimensions::filled(shape.size(), 0);
    Bytes chunk(chunk_bytes_of(inner, cell.bytes));
    std::size_t i = 0;
    each_inner(shape, inner, [&](const Box& box) {
        const ZarrShard::Place place = index[i++];
        std::byte* first = to.data();
        for (int d = 0; d < shape.size(); ++d) first += box.offset[d] * steps[d] * cell.bytes;
        if (place.is_there()) {
            shard_->inner->decode(ZarrRange(shard, place.offset, place.bytes), inner, cell, chunk);
            copy_strided(chunk.data(), inner_steps, first, steps, inner, cell.bytes);
        } else {
            copy_strided(cell.fill.data(), nowhere, first, steps, inner, cell.bytes);
        }
    });
}

std::optional<Bytes> ZarrChain::encode(std::span<const std::byte> chunk, const Dimensions& shape,
                                       const ZarrCell& cell) const {
    if (is_all(chunk, cell.fill)) return {};
    const Dimensions there = coded_shape(shape);
    Bytes bytes(chunk.size());
    if (transposed_.empty()) {
        std::copy(chunk.begin(), chunk.end(), bytes.begin());
    } else {
        copy_strided(chunk.data(), permuted(steps_of(shape), transposed_), bytes.data(), steps_of(there),
                     there, cell.bytes);
    }
    if (shard_) {
        bytes = encode_shard(bytes, there, cell);
    } else if (is_text_) {
        bytes = vlen_of(bytes, cell.bytes);
    }
    for (const auto& codec : codecs_) bytes = codec->encode(std::move(bytes));
    return bytes;
}

Bytes ZarrChain::encode_shard(std::span<const std::byte> chunk, const Dimensions& shape,
                              const ZarrCell& cell) const {
    const Dimensions& inner = shard_->chunk;
    const Dimensions steps = steps_of(shape), inner_steps = steps_of(inner);
    const Extent chunks = shape.elements() / inner.elements();
    std::vector<ZarrShard::Place> index;
    Bytes all(shard_->is_index_first ? shard_->index_bytes(chunks) : 0),
        part(chunk_bytes_of(inner, cell.bytes));
    each_inner(shape, inner, [&](const Box& box) {
        const std::byte* first = chunk.data();
        for (int d = 0; d < shape.size(); ++d) first += box.offset[d] * steps[d] * cell.bytes;
        copy_strided(first, steps, part.data(), inner_steps, inner, cell.bytes);
        const std::optional<Bytes> coded = shard_->inner->encode(part, inner, cell);
        if (!coded) return index.push_back({UINT64_MAX, UINT64_MAX});
        index.push_back({all.size(), coded->size()});
        all.insert(all.end(), coded->begin(), coded->end());
    });
    const Bytes places = shard_->index(index);
    if (shard_->is_index_first) {
        std::copy(places.begin(), places.end(), all.begin());
    } else {
        all.insert(all.end(), places.begin(), places.end());
    }
    return all;
}

std::vector<ZarrShard::Place> ZarrShard::read_index(const ZarrSource& shard, Extent chunks) const {
    if (chunks > most_chunk_bytes / sizeof(Place))
        throw Error(Code::unsupported, "shards of " + std::to_string(chunks) + " chunks");
    if (index_bytes(chunks) > shard.size())
        refuse_zarr("a shard of " + std::to_string(shard.size()) + " bytes is too short for its index of " +
                    std::to_string(chunks) + " chunks");
    Bytes all(index_bytes(chunks));
    shard.read(is_index_first ? 0 : shard.size() - all.size(), all);
    for (int i = 0; i < index_checks; ++i)
        all = zarr_codec("crc32c", Json::object())->decode(std::move(all), {});
    std::vector<Place> places(chunks);
    std::memcpy(places.data(), all.data(), all.size());
    for (Place& place : places) {
        if (index_order != native_order) {
            place.offset = __builtin_bswap64(place.offset);
            place.bytes = __builtin_bswap64(place.bytes);
        }
        if (place.is_there() && (place.offset > shard.size() || place.bytes > shard.size() - place.offset))
            refuse_zarr("the index of a shard of " + std::to_string(shard.size()) + " bytes has a chunk at " +
                        std::to_string(place.offset) + " of " + std::to_string(place.bytes));
    }
    return places;
}

Bytes ZarrShard::index(std::span<const Place> places) const {
    Bytes all(places.size_bytes());
    std::memcpy(all.data(), places.data(), all.size());
    if (index_order != native_order) {
        for (std::size_t at = 0; at < all.size(); at += 8)
            std::reverse(all.begin() + static_cast<std::ptrdiff_t>(at),
                         all.begin() + static_cast<std::ptrdiff_t>(at + 8));
    }
    for (int i = 0; i < index_checks; ++i) all = zarr_codec("crc32c", Json::object())->encode(std::move(all));
    return all;
}

}  // namespace pmemcpy::exchange
