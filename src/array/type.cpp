#include <algorithm>
#include <pmemcpy/error.hpp>
#include <pmemcpy/type.hpp>
#include <set>
#include <string_view>

#include "array/type_details.hpp"
#include "array/utf8.hpp"

namespace pmemcpy {

namespace {

[[noreturn]] void refuse(const std::string& why) { throw Error(Code::invalid_argument, why); }

std::uint64_t scalar_size(Kind kind) noexcept {
    switch (kind) {
        case Kind::int8:
        case Kind::uint8:
        case Kind::boolean:
            return 1;
        case Kind::int16:
        case Kind::uint16:
        case Kind::float16:
        case Kind::bfloat16:
            return 2;
        case Kind::int32:
        case Kind::uint32:
        case Kind::float32:
            return 4;
        case Kind::complex128:
            return 16;
        default:
            return 8;
    }
}

std::uint64_t checked_size(std::uint64_t bytes, const char* what) {
    if (bytes == 0) refuse(std::string(what) + " of 0 bytes; the smallest has 1");
    if (bytes > array::max_type_bytes) {
        refuse(std::string(what) + " of " + std::to_string(bytes) + " bytes; an element has at most 2^40");
    }
    return bytes;
}

void check_name(std::string_view name, const char* of_what) {
    if (name.empty() || name.size() > array::max_type_name_bytes) {
        refuse(std::string(of_what) + " has a name of " + std::to_string(name.size()) +
               " bytes; it needs 1 to 255");
    }
    if (array::first_invalid_utf8(name) != std::string_view::npos ||
        name.find('\0') != std::string_view::npos) {
        refuse(std::string(of_what) + " has a name that is not UTF-8 without NUL");
    }
}

template <class Named>
void check_names(const std::vector<Named>& all, const char* of_what) {
    std::set<std::string_view> seen;
    for (const Named& one : all) {
        check_name(one.name, of_what);
        if (!seen.insert(one.name).second)
            refuse(std::string(of_what) + " `" + one.name + "` is there twice");
    }
}

void check_storable(const Type& type) {
    if (type.kind() == Kind::none) refuse("a type was used that was never set");
}

int checked_depth(int inner) {
    if (inner + 1 > array::max_type_depth) {
        refuse("a type is nested more than " + std::to_string(array::max_type_depth) + " deep");
    }
    return inner + 1;
}

bool fits(std::int64_t value, Kind integer) noexcept {
    if (integer == Kind::int64 || integer == Kind::uint64) return true;
    const int width = static_cast<int>(8 * scalar_size(integer));
    const bool is_signed = integer <= Kind::int64;
    const std::int64_t end = std::int64_t{1} << (is_signed ? width - 1 : width);
    return value < end && value >= (is_signed ? -end : 0);
}

}  // namespace

Type Type::scalar(Kind kind, ByteOrder order) {
    if (!array::is_scalar(kind)) {
        refuse("kind " + std::to_string(static_cast<int>(kind)) + " is not a scalar (int8 to boolean)");
    }
    const std::uint64_t bytes = scalar_size(kind);
    return {kind, bytes == 1 ? native_order : order, bytes};
}

Type Type::enumeration(const Type& base, std::vector<EnumValue> values) {
    if (!array::is_integer(base.kind())) refuse("an enumeration of " + base.name() + "; it needs an integer");
    check_names(values, "a value of an enumeration");
    for (const EnumValue& value : values) {
        if (!fits(value.value, base.kind())) {
            refuse("the value " + value.name + "=" + std::to_string(value.value) + " does not fit " +
                   base.name());
        }
    }
    Type type(Kind::enumeration, base.order_, base.size_);
    Details details;
    details.element = base;
    details.depth = 2;
    details.values = std::move(values);
    type.details_ = std::make_shared<const Details>(std::move(details));
    return type;
}

Type Type::opaque(std::uint64_t bytes, std::string tag) {
    Type type(Kind::opaque, native_order, checked_size(bytes, "an opaque type"));
    if (tag.empty()) return type;
    check_name(tag, "an opaque type");
    Details details;
    details.tag = std::move(tag);
    type.details_ = std::make_shared<const Details>(std::move(details));
    return type;
}

Type Type::datetime64(TimeUnit unit, ByteOrder order) {
    if (unit > TimeUnit::attosecond)
        refuse("there is no time unit " + std::to_string(static_cast<int>(unit)));
    Type type(Kind::datetime64, order, 8);
    type.unit_ = unit;
    return type;
}

Type Type::fixed_string(std::uint64_t bytes, bool utf8) {
    Type type(Kind::fixed_string, native_order, checked_size(bytes, "a fixed string"));
    type.utf8_ = utf8;
    return type;
}

Type Type::string() {
    Type type(Kind::string, native_order, 0);
    type.utf8_ = true;
    return type;
}

Type Type::sequence(const Type& element) {
    check_storable(element);
    Type type(Kind::sequence, native_order, 0);
    Details details;
    details.element = element;
    details.depth = checked_depth(element.details_ ? element.details_->depth : 1);
    type.details_ = std::make_shared<const Details>(std::move(details));
    return type;
}

Type Type::array(const Type& element, const Dimensions& dims) {
    check_storable(element);
    if (dims.empty()) return element;
    if (dims.elements() == 0) refuse("a fixed array of shape " + to_string(dims) + "; it needs an element");
    Details details;
    details.element = element;
    details.dims = dims;
    if (element.kind_ == Kind::array) {
        details.element = element.element();
        for (const Extent extent : element.dimensions()) details.dims.push_back(extent);
    }
    const Type& innermost = details.element;
    details.depth = checked_depth(innermost.details_ ? innermost.details_->depth : 1);
    std::uint64_t bytes = 0;
    if (__builtin_mul_overflow(innermost.size_, details.dims.elements(), &bytes)) bytes = UINT64_MAX;
    if (innermost.is_fixed_size()) checked_size(bytes, "a fixed array");
    Type type(Kind::array, native_order, bytes);
    type.details_ = std::make_shared<const Details>(std::move(details));
    return type;
}

Type Type::structure(std::vector<Field> fields, std::uint64_t bytes) {
    if (fields.empty()) refuse("a structure without fields");
    check_names(fields, "a field");
    bool fixed = true;
    int depth = 0;
    for (const Field& field : fields) {
        check_storable(field.type);
        fixed = fixed && field.type.is_fixed_size();
        depth = std::max(depth, field.type.details_ ? field.type.details_->depth : 1);
    }
    if (fixed) {
        checked_size(bytes, "a structure");
        std::stable_sort(fields.begin(), fields.end(),
                         [](const Field& a, const Field& b) { return a.offset < b.offset; });
        std::uint64_t end = 0;
        for (const Field& field : fields) {
            if (field.offset < end) refuse("the field `" + field.name + "` overlaps the one before it");
            if (field.offset > bytes || field.type.size() > bytes - field.offset) {
                refuse("the field `" + field.name + "` goes past the end of its structure of " +
                       std::to_string(bytes) + " bytes");
            }
            end = field.offset + field.type.size();
        }
    } else {
        bytes = 0;
        std::uint64_t position = 0;
        for (Field& field : fields) field.offset = position++;
    }
    Type type(Kind::structure, native_order, bytes);
    Details details;
    details.fields = std::move(fields);
    details.depth = checked_depth(depth);
    type.details_ = std::make_shared<const Details>(std::move(details));
    return type;
}

std::uint64_t Type::alignment() const noexcept {
    switch (kind_) {
        case Kind::complex64:
        case Kind::complex128:
            return size_ / 2;
        case Kind::array:
            return element().alignment();
        case Kind::structure: {
            std::uint64_t greatest = 1;
            for (const Field& field : fields()) greatest = std::max(greatest, field.type.alignment());
            return greatest;
        }
        case Kind::opaque:
            // The size of a C++ type is a multiple of its alignment, so this is never too little up to 64.
            return std::min<std::uint64_t>(size_ & (~size_ + 1), 64);
        case Kind::none:
        case Kind::fixed_string:
        case Kind::string:
        case Kind::sequence:
            return 1;
        default:
            return size_;
    }
}

bool Type::is_native() const noexcept {
    if (order_ != native_order) return false;
    if (kind_ == Kind::sequence || kind_ == Kind::array) return element().is_native();
    return std::all_of(fields().begin(), fields().end(),
                       [](const Field& field) { return field.type.is_native(); });
}

Type Type::with_byte_order(ByteOrder order) const {
    switch (kind_) {
        case Kind::enumeration:
            return enumeration(element().with_byte_order(order), details_->values);
        case Kind::datetime64:
            return datetime64(unit_, order);
        case Kind::sequence:
            return sequence(element().with_byte_order(order));
        case Kind::array:
            return array(element().with_byte_order(order), dimensions());
        case Kind::structure: {
            std::vector<Field> swapped = details_->fields;
            for (Field& field : swapped) field.type = field.type.with_byte_order(order);
            return structure(std::move(swapped), size_);
        }
        default:
            return array::is_scalar(kind_) ? scalar(kind_, order) : *this;
    }
}

const Type& Type::element() const {
    if (!details_ || details_->element.kind_ == Kind::none) refuse("the type " + name() + " has no elements");
    return details_->element;
}

const Dimensions& Type::dimensions() const noexcept {
    static const Dimensions none;
    return details_ ? details_->dims : none;
}

std::span<const Field> Type::fields() const noexcept {
    return details_ ? std::span<const Field>(details_->fields) : std::span<const Field>();
}

std::span<const EnumValue> Type::values() const noexcept {
    return details_ ? std::span<const EnumValue>(details_->values) : std::span<const EnumValue>();
}

const std::string& Type::tag() const noexcept {
    static const std::string none;
    return details_ ? details_->tag : none;
}

bool operator==(const Type& a, const Type& b) noexcept {
    if (a.kind_ != b.kind_ || a.order_ != b.order_ || a.unit_ != b.unit_ || a.utf8_ != b.utf8_ ||
        a.size_ != b.size_) {
        return false;
    }
    if (a.details_ == b.details_) return true;
    if (!a.details_ || !b.details_) return false;
    const Type::Details &x = *a.details_, &y = *b.details_;
    return x.tag == y.tag && x.dims == y.dims && x.element == y.element && x.fields == y.fields &&
           x.values == y.values;
}

bool compatible_for_load(const Type& stored, const Type& asked) noexcept {
    if (stored == asked) return stored.kind() != Kind::none;
    if (stored.size() != asked.size()) return false;
    if (stored.kind() == Kind::enumeration && array::is_integer(asked.kind()))
        return stored.element() == asked;
    if (stored.kind() == Kind::fixed_string && asked.kind() == Kind::fixed_string) return asked.is_utf8();
    const auto is_bytes = [](const Type& type) { return type.kind() == Kind::opaque && type.tag().empty(); };
    const auto is_record = [](const Type& type) {
        return type.kind() == Kind::opaque || (type.kind() == Kind::structure && type.is_fixed_size());
    };
    return (is_bytes(stored) && is_record(asked)) || (is_bytes(asked) && is_record(stored));
}

}  // namespace pmemcpy
