#include "exchange/zarr/array_write.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <pmemcpy/error.hpp>

#include "exchange/pieces.hpp"
#include "exchange/zarr/chunks.hpp"
#include "exchange/zarr/output.hpp"
#include "exchange/zarr/strided.hpp"

namespace pmemcpy::exchange {

namespace {

/// The file of a shard, whose inner chunks come one after another and are never in memory together.
class ShardFile {
public:
    ShardFile(std::string path, const ZarrShard& shard, Extent chunks)
        : path_(std::move(path)),
          shard_(shard),
          places_(chunks, {UINT64_MAX, UINT64_MAX}),
          end_(shard.is_index_first ? shard.index_bytes(chunks) : 0) {}

    void put(std::uint64_t inner, std::span<const std::byte> bytes) {
        if (!file_) file_ = std::make_unique<ZarrOutput>(path_);
        file_->write(end_, bytes);
        places_[inner] = {end_, bytes.size()};
        end_ += bytes.size();
    }
    /// If nothing was put there is no file.
    void close() {
        if (file_) file_->write(shard_.is_index_first ? 0 : end_, shard_.index(places_));
    }

private:
    std::string path_;
    const ZarrShard& shard_;
    std::vector<ZarrShard::Place> places_;
    std::uint64_t end_;
    std::unique_ptr<ZarrOutput> file_;
};

Dimensions place_in(const Dimensions& offset, const Dimensions& chunk) {
    Dimensions place;
    for (int d = 0; d < offset.size(); ++d) place.push_back(offset[d] / chunk[d]);
    return place;
}

Type type_of_text(std::uint64_t bytes) { return Type::fixed_string(std::max<std::uint64_t>(bytes, 1), true); }

}  // namespace

ZarrArrayWriter::ZarrArrayWriter(const Variable& variable, Holding& holding)
    : variable_(variable),
      holding_(holding),
      plan_(planned()),
      packing_(subject_.type, plan_.array.element),
      cell_{plan_.array.element.has_any_length() ? subject_.type.size() : plan_.array.element.type.size(),
            plan_.array.element.has_any_length(), plan_.fill} {}

ZarrPlan ZarrArrayWriter::planned() {
    const Info& info = variable_.info;
    if (info.kind == VariableKind::array) {
        subject_ = {info.type, info.dims, info.fill_value, info.codec, false};
        return zarr_plan(subject_, variable_);
    }
    value_ = holding_.value(variable_);
    Datum& datum = *value_;
    if (datum.is_json()) holding_.warn(variable_.path, "a structure of JSON; it becomes text");
    if (datum.is_text() || datum.is_json()) {
        subject_ = {type_of_text(datum.bytes.size()), {}, {}, {}, true};
        datum.bytes.resize(subject_.type.size());
    } else if (datum.is_plain()) {
        subject_ = {datum.element(), datum.shape(), {}, {}, false};
    } else {
        throw Error(Code::unsupported, "a " + datum.type.name() + " stored by " +
                                           pmemcpy::name_of(datum.serializer) +
                                           ", which only a program that knows it can read");
    }
    return zarr_plan(subject_, variable_);
}

void ZarrArrayWriter::write(const std::string& folder) {
    folder_ = folder;
    const ZarrArray& array = plan_.array;
    if (Box::whole(array.shape).empty()) return;
    const bool is_sharded = array.chain.plain_shard() != nullptr;
    const auto one = [&](const Box& box) { is_sharded ? write_shard(box) : write_chunks(box); };
    if (!value_) {
        const std::vector<Selection> stored = holding_.stored(variable_);
        Extent elements = 0;
        for (const Selection& part : stored) elements += part.elements();
        if (elements < array.shape.elements()) {
            if (subject_.fill.empty()) holding_.note_hole(variable_);
            const Dimensions grid = array.grid();
            for (const std::uint64_t number : touched())
                one(box_of_chunk(place_of_number(number, grid), array));
            return;
        }
    }
    if (!is_sharded) return write_chunks(Box::whole(array.shape));
    exchange::each_piece(Box::whole(array.shape), array.chunk, cell_.bytes, 0, one);
}

// The chunks that something was stored in: of an array that is mostly empty nobody looks at the rest.
std::vector<std::uint64_t> ZarrArrayWriter::touched() const {
    const ZarrArray& array = plan_.array;
    const Dimensions grid = array.grid();
    std::vector<std::uint64_t> all;
    for (const Selection& part : holding_.stored(variable_)) {
        if (part.empty()) continue;
        Box chunks{place_in(part.offset, array.chunk), grid};
        for (int d = 0; d < grid.size(); ++d)
            chunks.count[d] = (part.offset[d] + (part.count[d] - 1) * part.stride[d]) / array.chunk[d] + 1 -
                              chunks.offset[d];
        exchange::each_piece(chunks, {}, 1, 0,
                             [&](const Box& one) { all.push_back(number_of_place(one.offset, grid)); });
    }
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
}

void ZarrArrayWriter::each_piece(const Box& box, const Dimensions& chunk, const Visit& visit) const {
    std::vector<std::byte> room, part;
    const auto packed = [&](const Box& piece, std::span<const std::byte> elements) {
        visit(piece, plan_.array.element.has_any_length() ? elements : packing_(elements, room));
    };
    if (!value_) return holding_.each_piece(variable_, box, chunk, packed);
    const std::uint64_t width = subject_.type.size();
    const Dimensions steps = steps_of(subject_.dims);
    exchange::each_piece(box, chunk, width, holding_.piece_bytes(), [&](const Box& piece) {
        const std::byte* from = value_->bytes.data();
        for (int d = 0; d < piece.size(); ++d) from += piece.offset[d] * steps[d] * width;
        part.resize(piece.elements() * width);
        copy_strided(from, steps, part.data(), steps_of(piece.count), piece.count, width);
        packed(piece, part);
    });
}

std::span<const std::byte> ZarrArrayWriter::filled(const Box& part, const Box& piece,
                                                   std::span<const std::byte> elements,
                                                   const Dimensions& shape) {
    if (part == piece && part.count == shape) return elements;
    const std::uint64_t width = cell_.bytes;
    chunk_.resize(chunk_bytes_of(shape, width));
    const Dimensions steps = steps_of(piece.count), to_steps = steps_of(shape);
    if (part.count != shape)
        copy_strided(cell_.fill.data(), Dimensions::filled(shape.size(), 0), chunk_.data(), to_steps, shape,
                     width);
    const std::byte* from = elements.data();
    for (int d = 0; d < part.size(); ++d) from += (part.offset[d] - piece.offset[d]) * steps[d] * width;
    copy_strided(from, steps, chunk_.data(), to_steps, part.count, width);
    return chunk_;
}

std::string ZarrArrayWriter::file_of(const Box& box) const {
    return folder_ + "/" + plan_.array.key(place_in(box.offset, plan_.array.chunk));
}

void ZarrArrayWriter::write_chunks(const Box& box) {
    const Dimensions& shape = plan_.array.chunk;
    each_piece(box, shape, [&](const Box& piece, std::span<const std::byte> elements) {
        exchange::each_piece(piece, shape, 1, 0, [&](const Box& part) {
            const auto coded = plan_.array.chain.encode(filled(part, piece, elements, shape), shape, cell_);
            if (coded) ZarrOutput(file_of(part)).write(0, *coded);
        });
    });
}

void ZarrArrayWriter::write_shard(const Box& box) {
    const ZarrShard& shard = *plan_.array.chain.plain_shard();
    const Dimensions grid = place_in(plan_.array.chunk, shard.chunk);
    ShardFile file(file_of(box), shard, grid.elements());
    each_piece(box, shard.chunk, [&](const Box& piece, std::span<const std::byte> elements) {
        exchange::each_piece(piece, shard.chunk, 1, 0, [&](const Box& part) {
            const auto coded =
                shard.inner->encode(filled(part, piece, elements, shard.chunk), shard.chunk, cell_);
            if (!coded) return;
            Dimensions place;
            for (int d = 0; d < part.size(); ++d)
                place.push_back((part.offset[d] - box.offset[d]) / shard.chunk[d]);
            file.put(number_of_place(place, grid), *coded);
        });
    });
    file.close();
}

}  // namespace pmemcpy::exchange
