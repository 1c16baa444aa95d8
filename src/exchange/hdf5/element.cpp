#include "exchange/hdf5/element.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include "exchange/hdf5/type.hpp"

namespace pmemcpy::exchange {

namespace {

constexpr std::size_t largest_element = 256U << 20;

std::string here(const std::string& name) {
    return name.empty() ? "its elements" : "its member '" + name + "'";
}

[[noreturn]] void refuse_element(const std::string& name, const std::string& what) {
    throw Error(Code::unsupported, here(name) + " " + (name.empty() ? "are " : "is ") + what);
}

/// An HDF5 string that its caller frees.
std::string taken(char* text) {
    std::string copy = text == nullptr ? "" : text;
    H5free_memory(text);
    return copy;
}

std::optional<Kind> integer_kind(std::size_t bytes, bool is_signed) {
    switch (bytes) {
        case 1:
            return is_signed ? Kind::int8 : Kind::uint8;
        case 2:
            return is_signed ? Kind::int16 : Kind::uint16;
        case 4:
            return is_signed ? Kind::int32 : Kind::uint32;
        case 8:
            return is_signed ? Kind::int64 : Kind::uint64;
        default:
            return {};
    }
}

ByteOrder order_of(hid_t type) {
    return H5Tget_order(type) == H5T_ORDER_BE ? ByteOrder::big : ByteOrder::little;
}

bool has_fields(hid_t type, const RealFields& wanted) {
    std::size_t sign = 0, exponent = 0, exponent_bits = 0, mantissa = 0, mantissa_bits = 0;
    if (H5Tget_size(type) != 2 ||
        H5Tget_fields(type, &sign, &exponent, &exponent_bits, &mantissa, &mantissa_bits) < 0)
        return false;
    return sign == 15 && exponent == wanted.exponent_at && exponent_bits == wanted.exponent_bits &&
           mantissa == 0 && mantissa_bits == wanted.mantissa_bits && H5Tget_ebias(type) == wanted.bias;
}

/// "NUMPY:<M8[us]" -> microseconds.
std::optional<Type> datetime_of(const std::string& tag) {
    if (!tag.starts_with(numpy_tag)) return {};
    const std::string dtype = tag.substr(std::strlen(numpy_tag));
    if (dtype.size() < 5 || dtype.substr(1, 3) != "M8[" || dtype.back() != ']') return {};
    for (std::size_t i = 0; i < numpy_units.size(); ++i) {
        if (dtype.substr(4, dtype.size() - 5) == numpy_units[i])
            return Type::datetime64(static_cast<TimeUnit>(i),
                                    dtype[0] == '>' ? ByteOrder::big : ByteOrder::little);
    }
    return {};
}

}  // namespace

Hdf5Element::Hdf5Element(hid_t file_type) : root_(node_of(file_type, "")) {
    memory_ = hdf5_copy_of(root_.memory);
    memory_bytes_ = bytes_of(root_);
    if (memory_bytes_ > largest_element) {
        throw Error(Code::unsupported, "each of its elements has " + std::to_string(memory_bytes_) +
                                           " bytes, and " + std::to_string(largest_element) +
                                           " are the most that can be imported");
    }
    has_text_ = find_text(root_);
    if (!has_text_) settle();
}

void Hdf5Element::note(const std::string& name, const std::string& what) {
    note_ += (note_.empty() ? "" : "; ") + here(name) + " " + what;
}

Hdf5Element::Node Hdf5Element::node_of(hid_t type, const std::string& name) {
    switch (H5Tget_class(type)) {
        case H5T_INTEGER:
            return integer(type, name, false);
        case H5T_BITFIELD:
            return integer(type, name, true);
        case H5T_FLOAT:
            return real(type, name);
        case H5T_STRING:
            return text(type);
        case H5T_OPAQUE: {
            const std::string tag = taken(H5Tget_tag(type));
            const auto time = datetime_of(tag);
            const bool is_time = time && H5Tget_size(type) == 8;
            return {.memory = hdf5_copy_of(type),
                    .type = is_time ? *time : Type::opaque(H5Tget_size(type), tag)};
        }
        case H5T_COMPOUND:
            return compound(type, name);
        case H5T_ENUM:
            return enumeration(type, name);
        case H5T_ARRAY:
            return array(type, name);
        case H5T_REFERENCE:
            refuse_element(name, "a reference to something in the file, which means nothing outside of it");
        case H5T_VLEN:
            refuse_element(name, "rows of any length inside something else");
        case H5T_TIME:
            refuse_element(name, "of HDF5's type for times, which was never finished");
        default:
            refuse_element(name, "of a type that this library does not know");
    }
}

Hdf5Element::Node Hdf5Element::integer(hid_t type, const std::string& name, bool is_bitfield) {
    const std::size_t bytes = H5Tget_size(type);
    const bool is_signed = !is_bitfield && H5Tget_sign(type) == H5T_SGN_2;
    const bool is_whole = H5Tget_precision(type) == 8 * bytes && H5Tget_offset(type) == 0;
    const std::optional<Kind> kind = integer_kind(bytes, is_signed);
    if (kind && is_whole) {
        if (is_bitfield) note(name, "are bits; they become unsigned integers");
        return {.memory = hdf5_copy_of(type), .type = Type::scalar(*kind, order_of(type))};
    }
    if (is_bitfield || bytes > 8)
        refuse_element(name, "integers of " + std::to_string(H5Tget_precision(type)) + " bits");
    std::size_t wide = 1;
    while (wide < bytes) wide *= 2;
    const Kind wider = *integer_kind(wide, is_signed);
    note(name, "have " + std::to_string(H5Tget_precision(type)) + " bits; they become integers of " +
                   std::to_string(8 * wide));
    return {.memory = hdf5_copy_of(hdf5_little_integer(wider)),
            .type = Type::scalar(wider, ByteOrder::little)};
}

Hdf5Element::Node Hdf5Element::real(hid_t type, const std::string& name) {
    const auto as = [&](Kind kind) {
        return Node{.memory = hdf5_copy_of(type), .type = Type::scalar(kind, order_of(type))};
    };
    if (H5Tequal(type, H5T_IEEE_F64LE) > 0 || H5Tequal(type, H5T_IEEE_F64BE) > 0) return as(Kind::float64);
    if (H5Tequal(type, H5T_IEEE_F32LE) > 0 || H5Tequal(type, H5T_IEEE_F32BE) > 0) return as(Kind::float32);
    if (has_fields(type, half_fields)) return as(Kind::float16);
    if (has_fields(type, brain_fields)) return as(Kind::bfloat16);
    note(name, "are floating-point numbers of " + std::to_string(H5Tget_precision(type)) +
                   " bits; they become float64");
    return {.memory = hdf5_copy_of(H5T_IEEE_F64LE), .type = Type::scalar(Kind::float64, ByteOrder::little)};
}

Hdf5Element::Node Hdf5Element::text(hid_t type) {
    const bool utf8 = H5Tget_cset(type) == H5T_CSET_UTF8;
    if (H5Tis_variable_str(type) > 0)
        return {.what = Node::What::text, .memory = hdf5_text(utf8), .utf8 = utf8};
    Handle padded = hdf5_copy_of(type);
    // What lies behind a NUL stays, as everything does in a pool; but in UTF-8 it may be remains of something that are none.
    if (utf8 || H5Tget_strpad(type) == H5T_STR_SPACEPAD) H5Tset_strpad(padded, H5T_STR_NULLPAD);
    return {.memory = std::move(padded), .type = Type::fixed_string(H5Tget_size(type), utf8)};
}

Hdf5Element::Node Hdf5Element::compound(hid_t type, const std::string& name) {
    Node node{.what = Node::What::structure};
    const auto members = static_cast<unsigned>(H5Tget_nmembers(type));
    bool as_in_file = true;  // every member is its bytes as they lie in the file
    const std::string prefix = name.empty() ? "" : name + ".";
    for (unsigned i = 0; i < members; ++i) {
        const std::string member = taken(H5Tget_member_name(type, i));
        const Handle inner(H5Tget_member_type(type, i), H5Tclose);
        node.inner.push_back(node_of(inner, std::string(prefix).append(member)));
        node.names.push_back(member);
        node.from.push_back(H5Tget_member_offset(type, i));
        as_in_file =
            as_in_file && bytes_of(node.inner.back()) == H5Tget_size(inner) && !find_text(node.inner.back());
    }
    std::size_t bytes = H5Tget_size(type);
    if (!as_in_file) {
        bytes = 0;
        for (unsigned i = 0; i < members; ++i) {
            node.from[i] = bytes;
            bytes += bytes_of(node.inner[i]);
        }
    }
    node.memory = {H5Tcreate(H5T_COMPOUND, std::max<std::size_t>(bytes, 1)), H5Tclose};
    for (unsigned i = 0; i < members; ++i)
        H5Tinsert(node.memory, node.names[i].c_str(), node.from[i], node.inner[i].memory);
    if (members == 2 && node.names[0] == "r" && node.names[1] == "i" &&
        node.inner[0].type == node.inner[1].type && node.from[0] == 0 &&
        node.from[1] * 2 == bytes) {  // as h5py writes complex numbers
        const Kind part = node.inner[0].type.kind();
        if (part == Kind::float32 || part == Kind::float64) {
            const Kind kind = part == Kind::float32 ? Kind::complex64 : Kind::complex128;
            return {.memory = std::move(node.memory),
                    .type = Type::scalar(kind, node.inner[0].type.byte_order())};
        }
    }
    return node;
}

Hdf5Element::Node Hdf5Element::enumeration(hid_t type, const std::string& name) {
    const Handle base(H5Tget_super(type), H5Tclose);
    const Node integers = integer(base, name, false);
    if (bytes_of(integers) != H5Tget_size(type))
        refuse_element(name, "an enumeration of integers of an unusual size");
    std::vector<EnumValue> values;
    const int members = H5Tget_nmembers(type);
    for (unsigned i = 0; i < static_cast<unsigned>(members); ++i) {
        std::array<std::byte, 8> value{};
        H5Tget_member_value(type, i, value.data());
        H5Tconvert(base, H5T_NATIVE_INT64, 1, value.data(), nullptr, H5P_DEFAULT);
        EnumValue named{taken(H5Tget_member_name(type, i)), 0};
        std::memcpy(&named.value, value.data(), sizeof named.value);
        values.push_back(std::move(named));
    }
    // As h5py writes booleans.
    if (values == std::vector<EnumValue>{{"FALSE", 0}, {"TRUE", 1}} && H5Tget_size(type) == 1)
        return {.memory = hdf5_copy_of(type), .type = Type::scalar(Kind::boolean)};
    return {.memory = hdf5_copy_of(type), .type = Type::enumeration(integers.type, std::move(values))};
}

Hdf5Element::Node Hdf5Element::array(hid_t type, const std::string& name) {
    std::array<hsize_t, H5S_MAX_RANK> extents{};
    const int n = H5Tget_array_dims2(type, extents.data());
    Node node{.what = Node::What::array};
    for (int d = 0; d < n; ++d) node.dims.push_back(extents[static_cast<std::size_t>(d)]);
    const Handle inner(H5Tget_super(type), H5Tclose);
    node.inner.push_back(node_of(inner, name));
    node.memory = {H5Tarray_create2(node.inner[0].memory, static_cast<unsigned>(n), extents.data()),
                   H5Tclose};
    return node;
}

bool Hdf5Element::find_text(Node& node) {
    node.has_text = node.what == Node::What::text;
    for (Node& inner : node.inner) node.has_text = find_text(inner) || node.has_text;
    return node.has_text;
}

void Hdf5Element::measure(std::span<const std::byte> elements) {
    for (std::size_t at = 0; at < elements.size(); at += memory_bytes_) measure(root_, elements.data() + at);
}

void Hdf5Element::measure(Node& node, const std::byte* from) {
    switch (node.what) {
        case Node::What::plain:
            return;
        case Node::What::text: {
            const char* text = nullptr;
            std::memcpy(&text, from, sizeof text);
            if (text != nullptr) node.width = std::max(node.width, std::strlen(text));
            return;
        }
        case Node::What::array:
            for (Extent i = 0; i < node.dims.elements(); ++i)
                measure(node.inner[0], from + i * bytes_of(node.inner[0]));
            return;
        case Node::What::structure:
            for (std::size_t i = 0; i < node.inner.size(); ++i) measure(node.inner[i], from + node.from[i]);
            return;
    }
}

void Hdf5Element::settle() { type_ = settled(root_); }

Type Hdf5Element::settled(const Node& node) {
    switch (node.what) {
        case Node::What::plain:
            return node.type;
        case Node::What::text:
            return Type::fixed_string(node.width, node.utf8);
        case Node::What::array:
            return Type::array(settled(node.inner[0]), node.dims);
        case Node::What::structure:
            break;
    }
    std::vector<Field> fields;
    std::uint64_t bytes = 0;
    for (std::size_t i = 0; i < node.inner.size(); ++i) {
        Field field{node.names[i], node.has_text ? bytes : node.from[i], settled(node.inner[i])};
        bytes += field.type.size();
        fields.push_back(std::move(field));
    }
    return Type::structure(std::move(fields), node.has_text ? bytes : bytes_of(node));
}

std::span<const std::byte> Hdf5Element::convert(std::span<const std::byte> elements,
                                                std::vector<std::byte>& room) const {
    if (!has_text_) return elements;
    const std::size_t n = elements.size() / memory_bytes_;
    room.assign(n * type_.size(), std::byte{0});
    for (std::size_t i = 0; i < n; ++i)
        convert(root_, type_, elements.data() + i * memory_bytes_, room.data() + i * type_.size());
    return room;
}

void Hdf5Element::convert(const Node& node, const Type& type, const std::byte* from, std::byte* to) {
    if (!node.has_text) {
        std::memcpy(to, from, type.size());
        return;
    }
    switch (node.what) {
        case Node::What::plain:
            return;
        case Node::What::text: {
            const char* text = nullptr;
            std::memcpy(&text, from, sizeof text);
            if (text != nullptr) std::memcpy(to, text, std::min<std::size_t>(std::strlen(text), type.size()));
            return;
        }
        case Node::What::array:
            for (Extent i = 0; i < node.dims.elements(); ++i)
                convert(node.inner[0], type.element(), from + i * bytes_of(node.inner[0]),
                        to + i * type.element().size());
            return;
        case Node::What::structure:
            break;
    }
    // The pool's fields are in the order of their offsets, which settled() has given them in the order of the members.
    for (std::size_t i = 0; i < node.inner.size(); ++i) {
        const Field& field = type.fields()[i];
        convert(node.inner[i], field.type, from + node.from[i], to + field.offset);
    }
}

}  // namespace pmemcpy::exchange
