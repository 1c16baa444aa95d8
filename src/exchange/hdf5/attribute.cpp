#include "exchange/hdf5/attribute.hpp"

#include <hdf5_hl.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <nlohmann/json.hpp>

#include "exchange/hdf5/element.hpp"
#include "exchange/hdf5/type.hpp"
#include "exchange/utf8.hpp"

namespace pmemcpy::exchange {

namespace {

/// Of the elements of a shape, lists in lists.
nlohmann::json nested(const Dimensions& dims, int d, std::vector<nlohmann::json>::iterator& next) {
    if (d == dims.size()) return std::move(*next++);
    auto list = nlohmann::json::array();
    for (Extent i = 0; i < dims[d]; ++i) list.push_back(nested(dims, d + 1, next));
    return list;
}

std::string name_of(hid_t attribute) {
    const ssize_t length = H5Aget_name(attribute, 0, nullptr);
    std::string name(length < 0 ? 0 : static_cast<std::size_t>(length), '\0');
    if (!name.empty()) H5Aget_name(attribute, name.size() + 1, name.data());
    return name;
}

/// Text of any length: one is text, more are a list of JSON.
void read_texts(const std::string& path, const std::string& name, std::span<const std::byte> bytes,
                const Dimensions& dims, Intake& intake) {
    const std::string shown = path + "@" + name;
    std::vector<nlohmann::json> texts;
    for (std::size_t at = 0; at < bytes.size(); at += sizeof(char*)) {
        const char* text = nullptr;
        std::memcpy(&text, bytes.data() + at, sizeof text);
        texts.emplace_back(text == nullptr ? "" : text);
        if (!dims.empty() && text != nullptr && !is_utf8(text))
            intake.warn(shown, "text that is no UTF-8; its strange bytes are replaced");
    }
    if (dims.empty())
        return intake.attribute(path, name, std::string_view(texts[0].get_ref<const std::string&>()));
    auto next = texts.begin();
    intake.attribute(path, name, nested(dims, 0, next));
}

/// How a list of such a shape is kept: one without elements as no rows, as far as there is a type of its rows.
Type type_of_shape(const Type& element, const Dimensions& dims) {
    if (dims.empty()) return element;
    if (dims.elements() != 0 && dims.size() > 1) return Type::array(element, dims);
    Dimensions row;
    for (int d = 1; d < dims.size(); ++d) row.push_back(dims[d]);
    return Type::sequence(row.elements() == 0 ? element : Type::array(element, row));
}

/// Lists in lists have a shape up to the first extent of 0; rows of no elements have no type.
bool keeps_shape(const Dimensions& dims, bool is_text) {
    const auto empty = std::find(dims.begin(), dims.end(), Extent{0});
    if (empty == dims.end()) return true;
    if (is_text) return std::next(empty) == dims.end();
    return empty == dims.begin() && std::find(std::next(empty), dims.end(), Extent{0}) == dims.end();
}

/// Whether H5DS has written it, so that it is told by the names of dimensions.
bool is_of_scales(const std::string& name, hid_t object) {
    if (H5Iget_type(object) != H5I_DATASET) return false;
    if (name == "DIMENSION_LIST" || name == "DIMENSION_LABELS") return true;
    return (name == "CLASS" || name == "NAME" || name == "REFERENCE_LIST") && H5DSis_scale(object) > 0;
}

void read_attribute(const std::string& file, const std::string& path, const std::string& name,
                    hid_t attribute, Intake& intake) {
    const std::string shown = path + "@" + name;
    const Hdf5Check check(Code::corrupt, file + ": " + shown);
    const Handle type = check(H5Aget_type(attribute), H5Tclose);
    const Handle space = check(H5Aget_space(attribute), H5Sclose);
    try {
        if (H5Sget_simple_extent_type(space) == H5S_NULL) {
            intake.attribute(path, name, nlohmann::json());
            return intake.warn(shown, "has a type and no value; it becomes null");
        }
        Hdf5Element element(type);
        if (!element.note().empty()) intake.warn(shown, element.note());
        std::array<hsize_t, H5S_MAX_RANK> extents{};
        const int n = check(H5Sget_simple_extent_dims(space, extents.data(), nullptr));
        const Dimensions dims(
            std::span<const Extent>(std::vector<Extent>(extents.begin(), extents.begin() + n)));
        std::vector<std::byte> bytes(dims.elements() * element.memory_bytes()), room;
        if (!bytes.empty()) check(H5Aread(attribute, element.memory_type(), bytes.data()));
        if (!keeps_shape(dims, element.is_text()))
            intake.warn(shown, "no elements in the shape " + to_string(dims) + "; it becomes an empty list");
        if (element.is_text()) {
            read_texts(path, name, bytes, dims, intake);
        } else {
            if (element.has_text()) {
                element.measure(bytes);
                element.settle();
            }
            const std::span<const std::byte> kept = element.convert(bytes, room);
            intake.attribute(path, name, type_of_shape(element.type(), dims), kept);
        }
        if (element.has_text() && !bytes.empty())
            H5Dvlen_reclaim(element.memory_type(), space, H5P_DEFAULT, bytes.data());
    } catch (const Error& error) {
        if (error.kind() != Code::unsupported) throw;
        intake.warn(shown, std::string(error.what()) + "; not imported");
    }
}

/// The shape of lists in lists that all have the same length, and the text in them; false if it is anything else.
bool flatten(const nlohmann::json& json, std::size_t depth, std::vector<hsize_t>& shape,
             std::vector<std::string>& texts) {
    if (json.is_string()) {
        texts.push_back(json.get<std::string>());
        return depth == shape.size();
    }
    if (!json.is_array() || depth >= H5S_MAX_RANK) return false;
    if (depth == shape.size()) {
        if (!texts.empty()) return false;
        shape.push_back(json.size());
    }
    if (shape[depth] != json.size()) return false;
    return std::all_of(json.begin(), json.end(),
                       [&](const auto& inner) { return flatten(inner, depth + 1, shape, texts); });
}

void write_texts(hid_t object, const std::string& name, const std::vector<std::string>& texts, hid_t space,
                 const Hdf5Check& check) {
    std::vector<const char*> pointers;
    pointers.reserve(texts.size());
    for (const std::string& text : texts) pointers.push_back(text.c_str());
    const Handle type = hdf5_text();
    const Handle attribute =
        check(H5Acreate2(object, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
    if (!pointers.empty()) check(H5Awrite(attribute, type, pointers.data()));
}

}  // namespace

void read_hdf5_attributes(const std::string& file, const std::string& path, hid_t object, Intake& intake) {
    const Hdf5Check check(Code::corrupt, file + ": the attributes of " + (path.empty() ? "/" : path));
    const int n = check(H5Aget_num_attrs(object));
    for (int i = 0; i < n; ++i) {
        const Handle attribute = check(H5Aopen_by_idx(object, ".", H5_INDEX_NAME, H5_ITER_INC,
                                                      static_cast<hsize_t>(i), H5P_DEFAULT, H5P_DEFAULT),
                                       H5Aclose);
        const std::string name = name_of(attribute);
        if (!is_of_scales(name, object)) read_attribute(file, path, name, attribute, intake);
    }
}

bool write_hdf5_attribute(hid_t object, const Datum& datum, const Hdf5Check& check) {
    const Handle scalar(H5Screate(H5S_SCALAR), H5Sclose);
    if (datum.is_text()) {
        write_texts(object, datum.name, {datum.text()}, scalar, check);
        return true;
    }
    if (datum.is_json()) {
        const nlohmann::json json = nlohmann::json::parse(datum.text(), nullptr, false);
        std::vector<hsize_t> shape;
        std::vector<std::string> texts;
        if (json.is_array() && flatten(json, 0, shape, texts)) {
            const Handle space(H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr),
                               H5Sclose);
            write_texts(object, datum.name, texts, space, check);
            return true;
        }
        if (json.is_null()) {
            const Handle none(H5Screate(H5S_NULL), H5Sclose);
            const Handle attribute =
                check(H5Acreate2(object, datum.name.c_str(), H5T_STD_I32LE, none, H5P_DEFAULT, H5P_DEFAULT),
                      H5Aclose);
            return true;
        }
        write_texts(object, datum.name, {datum.text()}, scalar, check);
        return false;
    }
    if (!datum.is_plain()) {
        throw Error(Code::unsupported, "a " + datum.type.name() + " stored by " +
                                           pmemcpy::name_of(datum.serializer) +
                                           ", which only a program that knows it can read");
    }
    const Handle type = hdf5_type_of(datum.element());
    const Handle space = hdf5_space_of(datum.shape());
    const Handle attribute =
        check(H5Acreate2(object, datum.name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
    if (!datum.bytes.empty()) check(H5Awrite(attribute, type, datum.bytes.data()));
    return true;
}

}  // namespace pmemcpy::exchange
