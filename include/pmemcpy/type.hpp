#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <pmemcpy/box.hpp>
#include <span>
#include <string>
#include <vector>

namespace pmemcpy {

/// The kind of an element. The numbers are on media and never change.
enum class Kind : std::uint8_t {
    none = 0,  ///< a default-constructed Type; cannot be stored
    int8 = 1,
    int16 = 2,
    int32 = 3,
    int64 = 4,
    uint8 = 5,
    uint16 = 6,
    uint32 = 7,
    uint64 = 8,
    float16 = 9,
    bfloat16 = 10,
    float32 = 11,
    float64 = 12,
    complex64 = 13,   ///< two float32
    complex128 = 14,  ///< two float64
    boolean = 15,     ///< one byte, 0 or 1
    enumeration = 16,
    opaque = 17,
    datetime64 = 18,  ///< int64 ticks since 1970-01-01T00:00 UTC
    fixed_string = 19,
    string = 20,    ///< of any length
    sequence = 21,  ///< of any length
    array = 22,     ///< of fixed dimensions, inside an element
    structure = 23,
};

enum class ByteOrder : std::uint8_t { little = 0, big = 1 };

inline constexpr ByteOrder native_order =
    std::endian::native == std::endian::little ? ByteOrder::little : ByteOrder::big;

/// The unit of a datetime64, as in NumPy. The numbers are on media.
enum class TimeUnit : std::uint8_t {
    year = 0,
    month,
    week,
    day,
    hour,
    minute,
    second,
    millisecond,
    microsecond,
    nanosecond,
    picosecond,
    femtosecond,
    attosecond
};

struct Field;
struct EnumValue;

/// The type of an element. A value, cheap to copy: nested parts are shared and never change. Makers throw
/// invalid_argument for what makes no sense, such as overlapping fields.
class Type {
public:
    /// Makes a type of Kind::none, to be assigned to.
    Type() = default;

    /// Any kind from int8 to boolean.
    static Type scalar(Kind kind, ByteOrder order = native_order);
    /// Named values of an integer type.
    static Type enumeration(const Type& base, std::vector<EnumValue> values);
    /// Bytes whose meaning only their owner knows; the tag names the owner.
    static Type opaque(std::uint64_t bytes, std::string tag = {});
    static Type datetime64(TimeUnit unit, ByteOrder order = native_order);
    /// Text of at most `bytes`, padded with zeros.
    static Type fixed_string(std::uint64_t bytes, bool utf8 = true);
    /// UTF-8 text of any length.
    static Type string();
    /// Any number of `element`.
    static Type sequence(const Type& element);
    /// A fixed number of `element` inside one element. An array of arrays becomes one with more dimensions.
    static Type array(const Type& element, const Dimensions& dims);
    /// Fields within `bytes` of memory. They are sorted by offset and must not overlap. If a member has a
    /// variable length, there is no such memory: the fields keep their order, and offsets are 0, 1, 2, ...
    static Type structure(std::vector<Field> fields, std::uint64_t bytes);

    Kind kind() const noexcept { return kind_; }
    ByteOrder byte_order() const noexcept { return order_; }
    /// Bytes of one element in memory; 0 if its length varies.
    std::uint64_t size() const noexcept { return size_; }
    bool is_fixed_size() const noexcept { return size_ != 0; }
    /// The alignment of an element in memory, a power of two.
    std::uint64_t alignment() const noexcept;
    /// True if every number in the type has this machine's byte order.
    bool is_native() const noexcept;
    /// The same type with every number in the given byte order.
    Type with_byte_order(ByteOrder order) const;

    /// The name as printed in errors: "float64", "struct{x: float64, id: int32[3]}", "float64(big-endian)".
    std::string name() const;

    /// The integer type of an enumeration, or the element type of a sequence or array. Only for these kinds.
    const Type& element() const;
    /// The dimensions of an array. Empty for other kinds.
    const Dimensions& dimensions() const noexcept;
    /// The fields of a structure. Empty for other kinds.
    std::span<const Field> fields() const noexcept;
    /// The values of an enumeration. Empty for other kinds.
    std::span<const EnumValue> values() const noexcept;
    /// The tag of an opaque type. Empty for other kinds.
    const std::string& tag() const noexcept;
    /// The unit of a datetime64.
    TimeUnit unit() const noexcept { return unit_; }
    /// True for UTF-8 strings, false for ASCII.
    bool is_utf8() const noexcept { return utf8_; }

    /// The description on media, at most 64 KiB (see docs/format.md).
    std::vector<std::byte> encode() const;
    /// The type that a description on media gives. Errors: corrupt if the bytes are not exactly one
    /// description.
    static Type decode(std::span<const std::byte> bytes);

    friend bool operator==(const Type& a, const Type& b) noexcept;

private:
    struct Details;
    Type(Kind kind, ByteOrder order, std::uint64_t size) noexcept : kind_(kind), order_(order), size_(size) {}

    Kind kind_ = Kind::none;
    ByteOrder order_ = native_order;
    TimeUnit unit_ = TimeUnit::year;
    bool utf8_ = false;
    std::uint64_t size_ = 0;
    std::shared_ptr<const Details> details_;
};

/// A member of a structure. A fixed array is a field whose type is an array.
struct Field {
    std::string name;
    std::uint64_t offset = 0;
    Type type;

    friend bool operator==(const Field&, const Field&) noexcept = default;
};

struct EnumValue {
    std::string name;
    std::int64_t value = 0;

    friend bool operator==(const EnumValue&, const EnumValue&) noexcept = default;
};

/// True if elements stored as `stored` may be copied, byte by byte, to a caller that asks for `asked`: equal
/// types; an enumeration as its integer; ASCII text as UTF-8; untagged opaque bytes on either side of a
/// structure or opaque type of the same size.
bool compatible_for_load(const Type& stored, const Type& asked) noexcept;

}  // namespace pmemcpy

#include <pmemcpy/type_of.hpp>  // IWYU pragma: export
