#include "bindings.hpp"
#include "dimensions.hpp"

#include <nanobind/operators.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <pmemcpy/type.hpp>
#include <tuple>

namespace nb = nanobind;

namespace pmemcpy::python {
namespace {

ByteOrder order_of(bool big_endian) { return big_endian ? ByteOrder::big : ByteOrder::little; }

using FieldTuple = std::tuple<std::string, std::uint64_t, Type>;

Type make_structure(const std::vector<FieldTuple>& fields, std::uint64_t bytes) {
    std::vector<Field> made;
    made.reserve(fields.size());
    for (const auto& [name, offset, type] : fields) made.push_back({name, offset, type});
    return Type::structure(std::move(made), bytes);
}

std::vector<FieldTuple> fields_of(const Type& type) {
    std::vector<FieldTuple> fields;
    for (const Field& field : type.fields()) fields.emplace_back(field.name, field.offset, field.type);
    return fields;
}

using ValueTuple = std::tuple<std::string, std::int64_t>;

Type make_enumeration(const Type& base, const std::vector<ValueTuple>& values) {
    std::vector<EnumValue> made;
    made.reserve(values.size());
    for (const auto& [name, value] : values) made.push_back({name, value});
    return Type::enumeration(base, std::move(made));
}

std::vector<ValueTuple> values_of(const Type& type) {
    std::vector<ValueTuple> values;
    for (const EnumValue& value : type.values()) values.emplace_back(value.name, value.value);
    return values;
}

nb::bytes encode(const Type& type) {
    const std::vector<std::byte> bytes = type.encode();
    return nb::bytes(bytes.data(), bytes.size());
}

}  // namespace

void bind_type(nb::module_& m) {
    nb::enum_<Kind>(m, "Kind")
        .value("none", Kind::none)
        .value("int8", Kind::int8)
        .value("int16", Kind::int16)
        .value("int32", Kind::int32)
        .value("int64", Kind::int64)
        .value("uint8", Kind::uint8)
        .value("uint16", Kind::uint16)
        .value("uint32", Kind::uint32)
        .value("uint64", Kind::uint64)
        .value("float16", Kind::float16)
        .value("bfloat16", Kind::bfloat16)
        .value("float32", Kind::float32)
        .value("float64", Kind::float64)
        .value("complex64", Kind::complex64)
        .value("complex128", Kind::complex128)
        .value("boolean", Kind::boolean)
        .value("enumeration", Kind::enumeration)
        .value("opaque", Kind::opaque)
        .value("datetime64", Kind::datetime64)
        .value("fixed_string", Kind::fixed_string)
        .value("string", Kind::string)
        .value("sequence", Kind::sequence)
        .value("array", Kind::array)
        .value("structure", Kind::structure);

    nb::enum_<TimeUnit>(m, "TimeUnit")
        .value("year", TimeUnit::year)
        .value("month", TimeUnit::month)
        .value("week", TimeUnit::week)
        .value("day", TimeUnit::day)
        .value("hour", TimeUnit::hour)
        .value("minute", TimeUnit::minute)
        .value("second", TimeUnit::second)
        .value("millisecond", TimeUnit::millisecond)
        .value("microsecond", TimeUnit::microsecond)
        .value("nanosecond", TimeUnit::nanosecond)
        .value("picosecond", TimeUnit::picosecond)
        .value("femtosecond", TimeUnit::femtosecond)
        .value("attosecond", TimeUnit::attosecond);

    nb::class_<Type>(m, "Type", "The type of an element.")
        .def_static(
            "scalar", [](Kind kind, bool big) { return Type::scalar(kind, order_of(big)); }, nb::arg("kind"),
            nb::arg("big_endian") = false)
        .def_static("enumeration", &make_enumeration, nb::arg("base"), nb::arg("values"))
        .def_static("opaque", &Type::opaque, nb::arg("bytes"), nb::arg("tag") = "")
        .def_static(
            "datetime64", [](TimeUnit unit, bool big) { return Type::datetime64(unit, order_of(big)); },
            nb::arg("unit"), nb::arg("big_endian") = false)
        .def_static("fixed_string", &Type::fixed_string, nb::arg("bytes"), nb::arg("utf8") = true)
        .def_static("string", &Type::string)
        .def_static("sequence", &Type::sequence, nb::arg("element"))
        .def_static("array", &Type::array, nb::arg("element"), nb::arg("dims"))
        .def_static("structure", &make_structure, nb::arg("fields"), nb::arg("bytes"))
        .def_prop_ro("kind", &Type::kind)
        .def_prop_ro("big_endian", [](const Type& type) { return type.byte_order() == ByteOrder::big; })
        .def_prop_ro("size", &Type::size)
        .def_prop_ro("is_fixed_size", &Type::is_fixed_size)
        .def_prop_ro("name", &Type::name)
        .def_prop_ro("element", &Type::element)
        .def_prop_ro("dimensions", &Type::dimensions)
        .def_prop_ro("fields", &fields_of)
        .def_prop_ro("values", &values_of)
        .def_prop_ro("tag", &Type::tag)
        .def_prop_ro("unit", &Type::unit)
        .def_prop_ro("is_utf8", &Type::is_utf8)
        .def("__repr__", &Type::name)
        .def("__hash__", [](const Type& type) { return nb::hash(encode(type)); })
        .def(nb::self == nb::self, nb::sig("def __eq__(self, other: object, /) -> bool"));
}

}  // namespace pmemcpy::python
