// Array and block records, between their bytes on the medium and what the code above works with. Lengths are
// checked against the record, because a scribbled pool says anything.

#include "array/selection.hpp"
#include "base/checked.hpp"
#include "catalog/directory.hpp"
#include "heap/fields.hpp"

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

/// Whether somebody can have made such an array (store/array.cpp).
void check(const ArrayDefinition& d) {
    const bool grows = (d.flags & array_unlimited) != 0;
    if (grows && (d.dims.empty() || d.dims[0] != unlimited || d.order == Order::fortran))
        throw Error(Code::corrupt, "an array's record says that it grows, and its dimensions do not");
    std::uint64_t bytes = d.type.size();
    for (int i = grows ? 1 : 0; i < d.dims.size(); ++i) {
        if (d.dims[i] == 0) return;
        if (d.dims[i] == unlimited || !base::checked_mul(bytes, d.dims[i], bytes)) bytes = 0;
        if (bytes == 0)
            throw Error(Code::corrupt, "an array's record says that it is larger than 2^64 bytes");
    }
}

/// Whether a store into the array can have made such a block.
void check(const BlockRecord& r, const ArrayDefinition& array) {
    if (r.box.empty()) throw Error(Code::corrupt, "a block's record says that it has no elements");
    const Dimensions dims = array.order == Order::fortran ? array::reversed(array.dims) : array.dims;
    try {
        array::validate(r.box, dims);
    } catch (const Error& error) {
        throw Error(Code::corrupt, std::string("a block's record makes no sense: ") + error.what());
    }
    std::uint64_t bytes = 0;
    const bool fits =
        base::checked_mul(r.box.elements(), array.type.size(), bytes) && r.block.raw_bytes == bytes;
    if (!fits || r.block.stored_bytes == 0 || (r.block.codec == 0 && r.block.stored_bytes != bytes))
        throw Error(Code::corrupt, "block " + to_string(r.box) + " has a wrong size");
    // Stores go into it wherever the array's elements lie.
    const bool is_in_place = (array.flags & array_contiguous) != 0;
    if (is_in_place && (r.block.codec != 0 || r.box != Selection(Box::whole(dims))))
        throw Error(Code::corrupt, "block " + to_string(r.box) + " is not the whole of a contiguous array");
}

}  // namespace

std::optional<ArrayDefinition> read_array(const pool::Pool& pool, Link link) {
    heap::RecordCopy copy;
    if (!heap::read_record(pool, link, RecordKind::array, copy) || copy.size() < sizeof(Array))
        return std::nullopt;
    ArrayDefinition d = decode_array({copy.data(), copy.size()});
    d.link = link;
    d.version = reinterpret_cast<const heap::RecordHeader*>(copy.data())->version;
    return d;
}

ArrayDefinition decode_array(std::span<const std::byte> bytes) {
    Array record;
    Reader reader(bytes);
    std::memcpy(&record, reader.take(sizeof record).data(), sizeof record);
    if (record.dimensions > max_dimensions || record.order > 1) {
        throw Error(Code::corrupt,
                    "an array's record says " + std::to_string(record.dimensions) + " dimensions");
    }
    ArrayDefinition d;
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
    if (!d.type.is_fixed_size() || (!d.fill.empty() && d.fill.size() != d.type.size()))
        throw Error(Code::corrupt, "an array's record says that its elements are " + d.type.name() +
                                       ", and its fill value has " + std::to_string(d.fill.size()) +
                                       " bytes");
    check(d);
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

std::uint64_t version_of(const heap::RecordCopy& block) {
    heap::RecordHeader header;
    std::memcpy(&header, block.data(), sizeof header);
    const auto order = heap::field_of({block.data(), block.size()}, block_order);
    if (order.empty()) return header.version;
    std::uint64_t version = 0;
    if (order.size() != sizeof version)
        throw Error(Code::corrupt,
                    "a block's record has a version of " + std::to_string(order.size()) + " bytes");
    std::memcpy(&version, order.data(), sizeof version);
    if (version == 0 || version >= header.version)
        throw Error(Code::corrupt, "a block's record says that it is newer than it is");
    return version;
}

std::optional<BlockRecord> read_block(const heap::Heap& heap, Link link, const ArrayDefinition& array) {
    heap::RecordCopy copy;
    if (!heap::read_record(heap.pool(), link, RecordKind::block, copy) || copy.size() < sizeof(Block))
        return std::nullopt;
    BlockRecord r = decode_block({copy.data(), copy.size()}, array);
    r.link = link;
    r.version = version_of(copy);
    if (r.block.stored_bytes > r.block.extent.length || !heap.is_sane(r.block.extent)) {
        throw Error(Code::corrupt, "a block's record points outside the pool");
    }
    return r;
}

BlockRecord decode_block(std::span<const std::byte> bytes, const ArrayDefinition& array) {
    const int dimensions = array.dims.size();
    BlockRecord r;
    Reader reader(bytes);
    std::memcpy(&r.block, reader.take(sizeof r.block).data(), sizeof r.block);
    if (r.block.dimensions != dimensions) {
        throw Error(Code::corrupt, "a block's record says " + std::to_string(r.block.dimensions) +
                                       " dimensions in an array of " + std::to_string(dimensions));
    }
    r.box.offset = reader.take_dimensions(dimensions);
    r.box.count = reader.take_dimensions(dimensions);
    const bool strided = (r.block.flags & block_strided) != 0;
    r.box.stride = strided ? reader.take_dimensions(dimensions) : Dimensions::filled(dimensions, 1);
    check(r, array);
    return r;
}

BlockBytes write_block(const Block& block, const Selection& box, std::uint64_t moved) {
    BlockBytes out;
    append(out.bytes, &block.extent, sizeof block - sizeof block.header);
    append(out.bytes, box.offset);
    append(out.bytes, box.count);
    if ((block.flags & block_strided) != 0) append(out.bytes, box.stride);
    if (moved == 0) return out;
    out.fields = out.length();
    heap::append_field(out.bytes, block_order, std::as_bytes(std::span(&moved, 1)));
    return out;
}

}  // namespace pmemcpy::catalog
