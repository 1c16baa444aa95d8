#include <algorithm>
#include <array>
#include <cstring>
#include <pmemcpy/error.hpp>
#include <pmemcpy/type.hpp>

#include "array/type_details.hpp"

// A description is the version (1) and one node. A node is its kind, and then:
//   int8..boolean   order
//   enumeration     node of the integer, count, count x (name, zigzag value)
//   opaque          bytes, tag
//   datetime64      unit, order
//   fixed_string    bytes, 1 if UTF-8
//   string          nothing
//   sequence        node
//   array           number of dimensions, extents, node
//   structure       bytes, count, count x (name, offset, node)
// Kind, order, unit, flag and number of dimensions take a byte; other numbers are LEB128; names are a length
// and bytes. Each type has exactly one description: decode refuses any other.

namespace pmemcpy {

namespace {

constexpr std::uint8_t format_version = 1;

class Writer {
public:
    void byte(std::uint8_t value) { out.push_back(std::byte{value}); }
    void number(std::uint64_t value) {
        for (; value >= 0x80; value >>= 7) byte(static_cast<std::uint8_t>(value | 0x80));
        byte(static_cast<std::uint8_t>(value));
    }
    void text(const std::string& value) {
        number(value.size());
        for (const char c : value) byte(static_cast<std::uint8_t>(c));
    }

    void node(const Type& type) {
        byte(static_cast<std::uint8_t>(type.kind()));
        // A single byte has no order, and says little on every machine.
        const auto order = type.size() == 1 ? ByteOrder::little : type.byte_order();
        switch (type.kind()) {
            case Kind::none:
                throw Error(Code::invalid_argument, "a type was used that was never set");
            case Kind::enumeration:
                node(type.element());
                number(type.values().size());
                for (const EnumValue& value : type.values()) {
                    text(value.name);
                    number(static_cast<std::uint64_t>(value.value) << 1 ^
                           static_cast<std::uint64_t>(value.value >> 63));
                }
                break;
            case Kind::opaque:
                number(type.size());
                text(type.tag());
                break;
            case Kind::datetime64:
                byte(static_cast<std::uint8_t>(type.unit()));
                byte(static_cast<std::uint8_t>(order));
                break;
            case Kind::fixed_string:
                number(type.size());
                byte(type.is_utf8() ? 1 : 0);
                break;
            case Kind::string:
                break;
            case Kind::sequence:
                node(type.element());
                break;
            case Kind::array:
                byte(static_cast<std::uint8_t>(type.dimensions().size()));
                for (const Extent extent : type.dimensions()) number(extent);
                node(type.element());
                break;
            case Kind::structure:
                number(type.size());
                number(type.fields().size());
                for (const Field& field : type.fields()) {
                    text(field.name);
                    number(field.offset);
                    node(field.type);
                }
                break;
            default:
                byte(static_cast<std::uint8_t>(order));
        }
    }

    std::vector<std::byte> out;
};

[[noreturn]] void corrupt(const std::string& why) {
    throw Error(Code::corrupt, "the description of an element type is damaged: " + why);
}

class Reader {
public:
    explicit Reader(std::span<const std::byte> bytes) : rest_(bytes) {}

    bool at_end() const { return rest_.empty(); }

    std::uint8_t byte() {
        if (rest_.empty()) corrupt("it ends too early");
        const auto value = std::to_integer<std::uint8_t>(rest_.front());
        rest_ = rest_.subspan(1);
        return value;
    }
    std::uint64_t number() {
        std::uint64_t value = 0;
        for (int shift = 0; shift < 64; shift += 7) {
            const std::uint8_t next = byte();
            value |= std::uint64_t{next & 0x7Fu} << shift;
            if (next < 0x80) return value;
        }
        corrupt("a number has more than 64 bits");
    }
    std::string text() {
        const std::uint64_t length = number();
        if (length > rest_.size()) corrupt("a name goes past its end");
        std::string value(reinterpret_cast<const char*>(rest_.data()), static_cast<std::size_t>(length));
        rest_ = rest_.subspan(value.size());
        return value;
    }
    ByteOrder order() {
        const std::uint8_t value = byte();
        if (value > 1) corrupt("there is no byte order " + std::to_string(value));
        return static_cast<ByteOrder>(value);
    }

    Type node(int depth = 1) {
        if (depth > array::max_type_depth) corrupt("it is nested too deep");
        const auto kind = static_cast<Kind>(byte());
        switch (kind) {
            case Kind::enumeration: {
                const Type base = node(depth + 1);
                std::vector<EnumValue> values;
                for (std::uint64_t left = number(); left > 0; --left) {
                    EnumValue value{text(), 0};
                    const std::uint64_t zigzag = number();
                    value.value = static_cast<std::int64_t>(zigzag >> 1 ^ (~(zigzag & 1) + 1));
                    values.push_back(std::move(value));
                }
                return Type::enumeration(base, std::move(values));
            }
            case Kind::opaque: {
                const std::uint64_t bytes = number();
                return Type::opaque(bytes, text());
            }
            case Kind::datetime64: {
                const auto unit = static_cast<TimeUnit>(byte());
                return Type::datetime64(unit, order());
            }
            case Kind::fixed_string: {
                const std::uint64_t bytes = number();
                return Type::fixed_string(bytes, byte() != 0);
            }
            case Kind::string:
                return Type::string();
            case Kind::sequence:
                return Type::sequence(node(depth + 1));
            case Kind::array: {
                Dimensions dims;
                for (int left = byte(); left > 0; --left) dims.push_back(number());
                return Type::array(node(depth + 1), dims);
            }
            case Kind::structure: {
                const std::uint64_t bytes = number();
                std::vector<Field> fields;
                for (std::uint64_t left = number(); left > 0; --left) {
                    Field field{text(), 0, {}};
                    field.offset = number();
                    field.type = node(depth + 1);
                    fields.push_back(std::move(field));
                }
                return Type::structure(std::move(fields), bytes);
            }
            default:
                return Type::scalar(kind, order());
        }
    }

private:
    std::span<const std::byte> rest_;
};

}  // namespace

namespace {

/// The descriptions that a thread has made or decoded last, with their types: most objects of a pool are of a few types, and to put one together, to
/// take one apart, or to compare two that share nothing costs more than all the rest of storing or loading a small value.
class Known {
public:
    ~Known() { is_gone_ = true; }

    /// Null when the thread is at its end, where objects of the user's may still store something.
    static Known* of_this_thread() {
        thread_local Known known;
        return is_gone_ ? nullptr : &known;
    }

    /// Null when it is not among them.
    const Type* find(std::span<const std::byte> bytes) const {
        const One& one = all_[place_of(bytes)];
        const bool is_it = !bytes.empty() && one.bytes.size() == bytes.size() &&
                           std::memcmp(one.bytes.data(), bytes.data(), bytes.size()) == 0;
        return is_it ? &one.type : nullptr;
    }
    /// Of a type that shares `details` with the one that is remembered. Null when it is not among them.
    const std::vector<std::byte>* find(const Type& type, const void* details) const {
        for (const One& one : all_) {
            if (one.details == details && one.type == type) return &one.bytes;
        }
        return nullptr;
    }
    /// `details` are the type's, null if it has none; they stay where they are as long as it is remembered.
    void remember(std::span<const std::byte> bytes, const Type& type, const void* details) {
        if (bytes.size() > longest) return;
        One& one = all_[place_of(bytes)];
        one.bytes.assign(bytes.begin(), bytes.end());
        one.type = type;
        one.details = details;
    }

private:
    static constexpr std::size_t longest = 512;
    struct One {
        std::vector<std::byte> bytes;
        Type type;
        const void* details = nullptr;
    };
    std::size_t place_of(std::span<const std::byte> bytes) const {
        std::size_t sum = bytes.size();
        for (const std::byte byte : bytes.first(std::min<std::size_t>(bytes.size(), 16)))
            sum = sum * 31 + std::to_integer<std::size_t>(byte);
        return sum % all_.size();
    }
    std::array<One, 16> all_;
    static thread_local bool is_gone_;
};

thread_local bool Known::is_gone_ = false;

}  // namespace

std::vector<std::byte> Type::encode() const {
    Known* const known = details_ ? Known::of_this_thread() : nullptr;
    if (known != nullptr) {
        if (const auto* bytes = known->find(*this, details_.get())) return *bytes;
    }
    Writer writer;
    writer.out.reserve(64);
    writer.byte(format_version);
    writer.node(*this);
    if (writer.out.size() > array::max_type_encoded_bytes) {
        throw Error(Code::invalid_argument, "the description of an element type takes " +
                                                std::to_string(writer.out.size()) +
                                                " bytes; at most 65536 are possible");
    }
    if (known != nullptr) known->remember(writer.out, *this, details_.get());
    return std::move(writer.out);
}

Type Type::decode(std::span<const std::byte> bytes) {
    Known* const known = Known::of_this_thread();
    if (known != nullptr) {
        if (const Type* type = known->find(bytes)) return *type;
    }
    if (bytes.size() > array::max_type_encoded_bytes) corrupt("it is longer than 65536 bytes");
    Reader reader(bytes);
    if (const auto version = reader.byte(); version != format_version) {
        corrupt("it has version " + std::to_string(version) + ", this library knows 1");
    }
    try {
        Type type = reader.node();
        if (!reader.at_end()) corrupt("bytes follow its end");
        if (!std::ranges::equal(type.encode(), bytes)) corrupt("it is not written as this library writes it");
        if (known != nullptr) known->remember(bytes, type, type.details_.get());
        return type;
    } catch (const Error& error) {
        if (error.kind() == Code::corrupt) throw;
        corrupt(error.what());  // what the makers of Type refuse
    }
}

}  // namespace pmemcpy
