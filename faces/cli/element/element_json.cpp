#include <fmt/format.h>

#include <cmath>
#include <pmemcpy/number.hpp>
#include <type_traits>

#include "cli/element/element.hpp"

namespace pmemcpy::cli {

namespace {

using Json = nlohmann::ordered_json;

Json number_json(auto number) {
    if constexpr (std::is_floating_point_v<decltype(number)>) {
        if (!std::isfinite(number)) return fmt::format("{}", number);
    }
    if constexpr (std::is_same_v<decltype(number), float>) {
        // The shortest decimal that is this float, and not the longer one that is its double.
        return Json::parse(fmt::format("{}", number));
    }
    return number;
}

Json nested(const Type& type, std::span<const std::byte> bytes, int dimension) {
    Json list = Json::array();
    const Dimensions& dims = type.dimensions();
    if (dims[dimension] == 0) return list;
    const std::size_t part = bytes.size() / dims[dimension];
    for (Extent i = 0; i < dims[dimension]; ++i) {
        const auto inner = bytes.subspan(i * part, part);
        list.push_back(dimension + 1 == dims.size() ? to_json(type.element(), inner)
                                                    : nested(type, inner, dimension + 1));
    }
    return list;
}

}  // namespace

Json to_json(const Type& type, std::span<const std::byte> bytes) {
    Json json;
    if (visit_number(type.kind(), type.byte_order(), bytes, [&](auto number) { json = number_json(number); }))
        return json;
    switch (type.kind()) {
        case Kind::complex64:
        case Kind::complex128: {
            const Type part = Type::scalar(part_of(type.kind()), type.byte_order());
            const std::size_t half = bytes.size() / 2;
            return Json::array({to_json(part, bytes.first(half)), to_json(part, bytes.subspan(half))});
        }
        case Kind::array:
            return nested(type, bytes, 0);
        case Kind::structure:
            json = Json::object();
            for (const Field& field : type.fields()) {
                json[field.name] = to_json(field.type, bytes.subspan(field.offset, field.type.size()));
            }
            return json;
        default: {
            std::string text;
            append_text(text, type, bytes);
            return text;
        }
    }
}

Json value_json(const Type& type, std::span<const std::byte> bytes) {
    if (is_text(type)) {
        std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
        Json json =
            type.kind() == Kind::string ? Json(Json::value_t::discarded) : Json::parse(text, nullptr, false);
        return json.is_discarded() ? Json(std::move(text)) : json;
    }
    const bool is_sequence = type.kind() == Kind::sequence;
    const Type& element = is_sequence ? type.element() : type;
    check_whole(element, bytes, is_sequence);
    if (!is_sequence) return to_json(element, bytes);
    Json list = Json::array();
    for (std::size_t at = 0; at < bytes.size(); at += element.size()) {
        list.push_back(to_json(element, bytes.subspan(at, element.size())));
    }
    return list;
}

std::string dump(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

}  // namespace pmemcpy::cli
