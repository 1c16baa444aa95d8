// Array and block records, between their bytes on the medium and what the code above works with. Lengths are
// checked against the record, because a scribbled pool says anything.

#include "catalog/directory.hpp"

#include <pmemcpy/error.hpp>

#include <cstring>
#include <span>

namespace pmemcpy::catalog {

using heap::RecordKind;

namespace {

void append(std::vector<std::byte>& out, const void* bytes, std::size_t length) {
    const auto* first = static_cast<const std::byte*>(bytes);
    out.insert(out.end(), first, first + length);
}

void append(std::vector<std::byte>& out, const Dimensions& dims) {
    append(out, dims.data(), 8 * static_cast<std::size_t>(dims.size()));
}

/// Takes pieces from the front of a record's variable part.
class Reader {
public:
    explicit Reader(std::span<const std::byte> bytes) : rest_(bytes) {}
    std::span<const std::byte> take(std::size_t length) {
        if (length > rest_.size())
            throw Error(Code::corrupt, "a record is shorter than what it says it holds");
        const auto taken = rest_.first(length);
        rest_ = rest_.subspan(length);
        return taken;
    }
    Dimensions take_dimensions(int count) {
        Dimensions dims = Dimensions::filled(count, 0);
        const auto bytes = take(8 * static_cast<std::size_t>(count));
        if (count > 0) std::memcpy(dims.begin(), bytes.data(), bytes.size());
        return dims;
    }

private:
    std::span<const std::byte> rest_;
};

}  // namespace

std::optional<ArrayDefinition> read_array(const pool::Pool& pool, Link link) {
    std::vector<std::byte> copy;
    if (!heap::read_record(pool, link, RecordKind::array, copy) || copy.size() < sizeof(Array))
        return std::nullopt;
    Array record;
    std::memcpy(&record, copy.data(), sizeof record);
    if (record.dimensions > max_dimensions || record.order > 1) {
        throw Error(Code::corrupt,
                    "an array's record says " + std::to_string(record.dimensions) + " dimensions");
    }
    Reader reader(std::span<const std::byte>(copy).subspan(sizeof record));
    ArrayDefinition d;
    d.link = link;
    d.incarnation = record.header.incarnation;
    d.step = record.step;
    d.dims = reader.take_dimensions(record.dimensions);
    d.type = Type::decode(reader.take(record.type_bytes));
    const auto fill = reader.take(record.fill_bytes);
    d.fill.assign(fill.begin(), fill.end());
    d.order = static_cast<Order>(record.order);
    d.flags = record.flags;
    d.serializer = static_cast<SerializerType>(record.serializer);
    d.codec = {static_cast<Codec::Kind>(record.codec), record.codec_level, record.codec_shuffle != 0};
    return d;
}

std::vector<std::byte> write_array(const ArrayDefinition& d, std::uint64_t written_ns) {
    const std::vector<std::byte> type = d.type.encode();
    Array record{};
    record.step = d.step;
    record.written_ns = written_ns;
    record.dimensions = static_cast<std::uint8_t>(d.dims.size());
    record.order = static_cast<std::uint8_t>(d.order);
    record.flags = d.flags;
    record.serializer = static_cast<std::uint8_t>(d.serializer);
    record.codec = static_cast<std::uint8_t>(d.codec.kind);
    record.codec_level = static_cast<std::int8_t>(d.codec.level);
    record.codec_shuffle = d.codec.shuffle ? 1 : 0;
    record.type_bytes = static_cast<std::uint32_t>(type.size());
    record.fill_bytes = static_cast<std::uint32_t>(d.fill.size());
    std::vector<std::byte> out;
    append(out, &record.retirements, sizeof record - sizeof record.header);
    append(out, d.dims);
    append(out, type.data(), type.size());
    append(out, d.fill.data(), d.fill.size());
    return out;
}

std::optional<BlockRecord> read_block(const heap::Heap& heap, Link link, int dimensions) {
    std::vector<std::byte> copy;
    if (!heap::read_record(heap.pool(), link, RecordKind::block, copy) || copy.size() < sizeof(Block))
        return std::nullopt;
    BlockRecord r;
    r.link = link;
    std::memcpy(&r.block, copy.data(), sizeof r.block);
    r.version = r.block.header.version;
    if (r.block.dimensions != dimensions) {
        throw Error(Code::corrupt, "a block's record says " + std::to_string(r.block.dimensions) +
                                       " dimensions in an array of " + std::to_string(dimensions));
    }
    if (r.block.stored_bytes > r.block.extent.length || !heap.is_sane(r.block.extent)) {
        throw Error(Code::corrupt, "a block's record points outside the pool");
    }
    Reader reader(std::span<const std::byte>(copy).subspan(sizeof r.block));
    r.box.offset = reader.take_dimensions(dimensions);
    r.box.count = reader.take_dimensions(dimensions);
    const bool strided = (r.block.flags & block_strided) != 0;
    r.box.stride = strided ? reader.take_dimensions(dimensions) : Dimensions::filled(dimensions, 1);
    return r;
}

std::vector<std::byte> write_block(const Block& block, const Selection& box) {
    std::vector<std::byte> out;
    append(out, &block.extent, sizeof block - sizeof block.header);
    append(out, box.offset);
    append(out, box.count);
    if ((block.flags & block_strided) != 0) append(out, box.stride);
    return out;
}

}  // namespace pmemcpy::catalog
