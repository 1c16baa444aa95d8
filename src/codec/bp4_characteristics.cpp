#include "codec/bp4_characteristics.hpp"

#include <cstring>
#include <limits>
#include <pmemcpy/error.hpp>

// A record is: how many characteristics (8 bits), how many bytes follow (32 bits), then each as a number of 8
// bits and its content. Dimensions come before values, because a reader must know them to read those.

namespace pmemcpy::codec::bp4 {

namespace {

enum Id : std::uint8_t {
    id_value = 0,
    id_offset = 3,
    id_dimensions = 4,
    id_payload_offset = 6,
    id_file_index = 7,
    id_time_index = 8,
    id_minmax = 12,
};

constexpr std::size_t head_bytes = 1 + 4;
constexpr std::size_t dimension_bytes = 3 * sizeof(std::uint64_t);

bool is_text(Type type) noexcept { return type == Type::string; }

/// Writes at the front of what is left of a span whose size was computed before.
class Cursor {
public:
    explicit Cursor(std::span<std::byte> out) noexcept : left_(out) {}

    template <typename T>
    void put(T number) noexcept {
        append(std::as_bytes(std::span(&number, 1)));
    }
    void append(std::span<const std::byte> bytes) noexcept {
        if (!bytes.empty()) std::memcpy(left_.data(), bytes.data(), bytes.size());
        left_ = left_.subspan(bytes.size());
    }

private:
    std::span<std::byte> left_;
};

void check(const Characteristics& block) {
    if (block.dimensions > max_dimensions)
        throw Error(Code::invalid_argument,
                    "BP4: a block of " + std::to_string(block.dimensions) + " dimensions; there can be 32");
    if (block.text.size() > std::numeric_limits<std::uint16_t>::max())
        throw Error(Code::invalid_argument, "BP4: a string of " + std::to_string(block.text.size()) +
                                                " bytes; the format holds 65,535");
    if (size_bytes(block.type) == 0 && !is_text(block.type))
        throw Error(Code::invalid_argument,
                    "BP4: there is no block of type number " + std::to_string(static_cast<int>(block.type)));
    if (block.min.has_value() != block.max.has_value())
        throw Error(Code::invalid_argument, "BP4: a block needs both min and max, or neither");
}

/// Reads from the front of a record; every step is checked against its end.
class Record {
public:
    explicit Record(std::span<const std::byte> bytes) noexcept : left_(bytes) {}

    bool empty() const noexcept { return left_.empty(); }
    std::span<const std::byte> take(std::size_t size) {
        if (size > left_.size()) fail("it ends early");
        const auto taken = left_.first(size);
        left_ = left_.subspan(size);
        return taken;
    }
    template <typename T>
    T number() {
        T value{};
        std::memcpy(&value, take(sizeof value).data(), sizeof value);
        return value;
    }
    [[noreturn]] static void fail(const std::string& why) {
        throw Error(Code::corrupt, "the metadata of a block is damaged: " + why);
    }

private:
    std::span<const std::byte> left_;
};

void read_dimensions(Record& record, Characteristics& block) {
    block.dimensions = record.number<std::uint8_t>();
    const auto length = record.number<std::uint16_t>();
    if (block.dimensions > max_dimensions || length != block.dimensions * dimension_bytes)
        Record::fail("it cannot have " + std::to_string(block.dimensions) + " dimensions in " +
                     std::to_string(length) + " bytes");
    for (std::size_t d = 0; d < block.dimensions; ++d) {
        block.count[d] = record.number<std::uint64_t>();
        block.shape[d] = record.number<std::uint64_t>();
        block.offset[d] = record.number<std::uint64_t>();
        if (block.count[d] > block.shape[d] || block.offset[d] > block.shape[d] - block.count[d])
            Record::fail("its box lies outside the array in dimension " + std::to_string(d));
    }
}

void read_one(Record& record, Characteristics& block) {
    const auto id = record.number<std::uint8_t>();
    switch (id) {
        case id_time_index:
            block.step = record.number<std::uint32_t>();
            return;
        case id_file_index:
            block.file_index = record.number<std::uint32_t>();
            return;
        case id_offset:
            block.record_offset = record.number<std::uint64_t>();
            return;
        case id_payload_offset:
            block.payload_offset = record.number<std::uint64_t>();
            return;
        case id_dimensions:
            read_dimensions(record, block);
            return;
        case id_value:
            if (is_text(block.type)) {
                const auto text = record.take(record.number<std::uint16_t>());
                block.text.assign(reinterpret_cast<const char*>(text.data()), text.size());
            } else {
                block.value = element_of(record.take(size_bytes(block.type)));
            }
            return;
        case id_minmax: {
            const auto parts = record.number<std::uint16_t>();
            if (parts != 1 || is_text(block.type)) Record::fail("it has min and max for parts of the block");
            block.min = element_of(record.take(size_bytes(block.type)));
            block.max = element_of(record.take(size_bytes(block.type)));
            return;
        }
        default:
            Record::fail("it has a characteristic with number " + std::to_string(id));
    }
}

}  // namespace

std::size_t size_bytes(Type type) noexcept {
    switch (type) {
        case Type::int8:
        case Type::uint8:
        case Type::character:
            return 1;
        case Type::int16:
        case Type::uint16:
            return 2;
        case Type::int32:
        case Type::uint32:
        case Type::float32:
            return 4;
        case Type::int64:
        case Type::uint64:
        case Type::float64:
        case Type::complex64:
            return 8;
        case Type::complex128:
            return 16;
        case Type::long_double:
            return sizeof(long double);
        case Type::string:
        case Type::string_array:
            return 0;
    }
    return 0;
}

Element element_of(std::span<const std::byte> bytes) {
    Element element{};
    if (bytes.size() > element.size())
        throw Error(Code::invalid_argument, "BP4: an element of " + std::to_string(bytes.size()) + " bytes");
    if (!bytes.empty()) std::memcpy(element.data(), bytes.data(), bytes.size());
    return element;
}

std::size_t characteristics_size_bytes(const Characteristics& block) {
    std::size_t size = head_bytes + 2 * (1 + sizeof(std::uint32_t)) + 2 * (1 + sizeof(std::uint64_t));
    size += 1 + 1 + 2 + block.dimensions * dimension_bytes;
    if (is_text(block.type)) size += 1 + 2 + block.text.size();
    if (block.value) size += 1 + size_bytes(block.type);
    if (block.min) size += 1 + 2 + 2 * size_bytes(block.type);
    return size;
}

void encode_characteristics(const Characteristics& block, std::span<std::byte> out) {
    check(block);
    if (out.size() != characteristics_size_bytes(block))
        throw Error(Code::invalid_argument, "BP4: the characteristics need " +
                                                std::to_string(characteristics_size_bytes(block)) +
                                                " bytes and were given " + std::to_string(out.size()));
    const std::size_t element_bytes = size_bytes(block.type);
    const int optional_ones = (is_text(block.type) ? 1 : 0) + (block.value ? 1 : 0) + (block.min ? 1 : 0);
    Cursor cursor(out);
    cursor.put(static_cast<std::uint8_t>(5 + optional_ones));
    cursor.put(static_cast<std::uint32_t>(out.size() - head_bytes));
    cursor.put(id_time_index);
    cursor.put(block.step);
    cursor.put(id_file_index);
    cursor.put(block.file_index);
    if (is_text(block.type)) {
        cursor.put(id_value);
        cursor.put(static_cast<std::uint16_t>(block.text.size()));
        cursor.append(std::as_bytes(std::span(block.text)));
    }
    cursor.put(id_dimensions);
    cursor.put(block.dimensions);
    cursor.put(static_cast<std::uint16_t>(block.dimensions * dimension_bytes));
    for (std::size_t d = 0; d < block.dimensions; ++d) {
        cursor.put(block.count[d]);
        cursor.put(block.shape[d]);
        cursor.put(block.offset[d]);
    }
    if (block.value) {
        cursor.put(id_value);
        cursor.append(std::span(*block.value).first(element_bytes));
    }
    if (block.min) {
        cursor.put(id_minmax);
        cursor.put(std::uint16_t{1});
        cursor.append(std::span(*block.min).first(element_bytes));
        cursor.append(std::span(*block.max).first(element_bytes));
    }
    cursor.put(id_offset);
    cursor.put(block.record_offset);
    cursor.put(id_payload_offset);
    cursor.put(block.payload_offset);
}

std::vector<std::byte> encode_characteristics(const Characteristics& block) {
    std::vector<std::byte> out(characteristics_size_bytes(block));
    encode_characteristics(block, out);
    return out;
}

Characteristics decode_characteristics(Type type, std::span<const std::byte> bytes) {
    if (size_bytes(type) == 0 && !is_text(type))
        Record::fail("there is no type with number " + std::to_string(static_cast<int>(type)));
    Characteristics block;
    block.type = type;
    Record record(bytes);
    const auto expected = record.number<std::uint8_t>();
    const auto length = record.number<std::uint32_t>();
    if (length != bytes.size() - head_bytes)
        Record::fail("it says " + std::to_string(length) + " bytes and has " +
                     std::to_string(bytes.size() - head_bytes));
    for (std::size_t i = 0; i < expected; ++i) read_one(record, block);
    if (!record.empty()) Record::fail("it has bytes left over");
    return block;
}

}  // namespace pmemcpy::codec::bp4
