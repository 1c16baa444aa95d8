#include "exchange/zarr/attribute.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <set>
#include <span>

#include "exchange/in_order.hpp"
#include "exchange/utf8.hpp"
#include "exchange/zarr/base64.hpp"
#include "exchange/zarr/fill.hpp"

namespace pmemcpy::exchange {

namespace {

constexpr const char* fill_attribute = "_FillValue";
constexpr const char* large_integer = "an integer beyond 64 bits becomes the nearest float64";

bool is_float(const Type& type) { return type.kind() >= Kind::float16 && type.kind() <= Kind::float64; }

constexpr auto most_signed = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());

/// Of a number or a list of numbers of one kind.
std::optional<Type> type_of_numbers(std::span<const Json> items) {
    const auto all = [&](auto&& is_one) { return std::all_of(items.begin(), items.end(), is_one); };
    if (items.empty()) return {};
    if (all([](const Json& item) { return item.is_boolean(); })) return type_of<bool>();
    if (all([](const Json& item) { return item.is_number_float(); })) return type_of<double>();
    if (!all([](const Json& item) { return item.is_number_integer(); })) return {};
    if (all([](const Json& item) {
            return !item.is_number_unsigned() || item.get<std::uint64_t>() <= most_signed;
        }))
        return type_of<std::int64_t>();
    if (all([](const Json& item) { return item.is_number_unsigned(); })) return type_of<std::uint64_t>();
    return {};
}

void append(const Type& type, const Json& item, std::vector<std::byte>& bytes) {
    const auto add = [&](auto value) {
        const auto part = std::as_bytes(std::span(&value, 1));
        bytes.insert(bytes.end(), part.begin(), part.end());
    };
    switch (type.kind()) {
        case Kind::boolean:
            return add(item.get<bool>());
        case Kind::float64:
            return add(item.get<double>());
        case Kind::uint64:
            return add(item.get<std::uint64_t>());
        default:
            return add(item.get<std::int64_t>());
    }
}

bool has_number_of_no_json(const Json& json) {
    if (json.is_number_float()) return !std::isfinite(json.get<double>());
    return json.is_structured() && std::any_of(json.begin(), json.end(), [](const Json& inner) {
               return has_number_of_no_json(inner);
           });
}

void read_one(const std::string& path, const std::string& name, const Json& value, Intake& intake) {
    if (value.is_string())
        return intake.attribute(path, name, std::string_view(value.get_ref<const std::string&>()));
    const bool is_list = value.is_array();
    const std::span<const Json> items = is_list ? std::span<const Json>(value.get_ref<const Json::array_t&>())
                                                : std::span<const Json>(&value, 1);
    if (const auto type = type_of_numbers(items)) {
        std::vector<std::byte> bytes;
        for (const Json& item : items) append(*type, item, bytes);
        return intake.attribute(path, name, is_list ? Type::sequence(*type) : *type, bytes);
    }
    if (has_number_of_no_json(value))
        intake.warn(path + "@" + name, "a NaN or infinity inside of a structure of JSON becomes null");
    intake.attribute(path, name, value);
}

Json list_of(const Type& type, std::span<const std::byte> bytes, const Dimensions& shape, int d) {
    if (d == shape.size()) return number_of(type, bytes);
    Json list = Json::array();
    const std::size_t each = shape[d] == 0 ? 0 : bytes.size() / shape[d];
    for (Extent i = 0; i < shape[d]; ++i)
        list.push_back(list_of(type, bytes.subspan(i * each, each), shape, d + 1));
    return list;
}

Json value_of(const std::string& path, const Datum& datum, Holding& holding) {
    const std::string shown = path + "@" + datum.name;
    if (datum.is_text()) return datum.text();
    if (datum.is_json()) {
        Json json = Json::parse(datum.text(), nullptr, false);
        if (json.is_discarded()) throw Error(Code::unsupported, "a text that is said to be JSON and is none");
        if (has_large_integer(datum.text())) holding.warn(shown, large_integer);
        return json;
    }
    if (!datum.is_plain()) {
        throw Error(Code::unsupported, "a " + datum.type.name() + " stored by " +
                                           pmemcpy::name_of(datum.serializer) +
                                           ", which only a program that knows it can read");
    }
    const Type& type = datum.element();
    Json value = list_of(type, datum.bytes, datum.shape(), 0);
    if (type.kind() == Kind::complex64 || type.kind() == Kind::complex128)
        holding.warn(shown, "a complex number becomes a list of two");
    if (type.kind() == Kind::enumeration || type.kind() == Kind::datetime64)
        holding.warn(shown, "of a " + type.name() + " the number is exported");
    if (type.kind() == Kind::fixed_string && !is_utf8(datum.text()))
        holding.warn(shown, "its text is no UTF-8");
    if (datum.bytes.empty())
        holding.warn(shown, "of an empty list JSON keeps no type, and a shape only as lists in lists do");
    return value;
}

}  // namespace

void read_zarr_attributes(const std::string& path, const Json& attributes, const ZarrDocument& document,
                          Intake& intake) {
    std::set<std::string> seen;
    for (const std::string& name : document.attributes) {
        const auto value = attributes.find(name);
        if (value == attributes.end() || !seen.insert(name).second) continue;
        if (document.rounded.contains(name))
            intake.warn(std::string(path).append("@").append(name), large_integer);
        read_one(path, name, *value, intake);
    }
}

bool read_xarray_fill(const std::string& path, const Type& type, const Json& attributes, Intake& intake) {
    const auto found = attributes.find(fill_attribute);
    if (!is_float(type) || found == attributes.end() || !found->is_string()) return false;
    const auto bytes = bytes_of_base64(found->get_ref<const std::string&>());
    if (!bytes || bytes->size() != sizeof(double)) return false;
    double value = 0;
    std::memcpy(&value, bytes->data(), sizeof value);
    const auto narrow = static_cast<float>(value);
    const bool is_same =
        std::bit_cast<std::uint64_t>(static_cast<double>(narrow)) == std::bit_cast<std::uint64_t>(value);
    if (type.kind() == Kind::float32 && is_same) {
        intake.attribute(path, fill_attribute, type_of<float>(), std::as_bytes(std::span(&narrow, 1)));
    } else {
        intake.attribute(path, fill_attribute, type_of<double>(), std::as_bytes(std::span(&value, 1)));
    }
    return true;
}

nlohmann::ordered_json zarr_attributes(const std::string& path, const Json& order, const Variable* array,
                                       Holding& holding) {
    const Json origin = array != nullptr && array->origin.is_object() ? array->origin : Json::object();
    const bool is_fill_coded =
        array != nullptr && is_float(array->info.type) &&
        (origin.value("from", Json()) != "zarr" || origin.value("xarray_fill", Json()) == true);
    std::vector<Datum> all = holding.attributes(path);
    put_in_order(all, order, [](const Datum& datum) { return datum.name; });
    nlohmann::ordered_json attributes = nlohmann::ordered_json::object();
    for (const Datum& datum : all) {
        try {
            Json value = value_of(path, datum, holding);
            if (datum.name == fill_attribute && is_fill_coded && value.is_number()) {
                const auto number = value.get<double>();
                value = base64_of(std::as_bytes(std::span(&number, 1)));
            }
            attributes[datum.name] = value;
            holding.count_attribute();
        } catch (const Error& error) {
            if (error.kind() != Code::unsupported) throw;
            holding.warn(path + "@" + datum.name, std::string(error.what()) + "; not exported");
        }
    }
    return attributes;
}

}  // namespace pmemcpy::exchange
