#include "exchange/zarr/metadata.hpp"

#include <algorithm>
#include <array>
#include <pmemcpy/error.hpp>

#include "exchange/zarr/fill.hpp"
#include "exchange/zarr/json.hpp"

namespace pmemcpy::exchange {

namespace {

constexpr std::array known = {"zarr_format",         "node_type",  "shape",  "data_type",  "chunk_grid",
                              "chunk_key_encoding",  "fill_value", "codecs", "attributes", "dimension_names",
                              "storage_transformers"};

Json member(const Json& document, const char* name) {
    const auto found = document.find(name);
    if (found == document.end()) refuse_zarr(std::string("it has no ") + name);
    return *found;
}

Dimensions extents(const Json& list, const char* what) {
    Dimensions dims;
    if (!list.is_array()) refuse_zarr(std::string("its ") + what + " is no list");
    if (list.size() > max_dimensions) {
        throw Error(Code::unsupported, "it has " + std::to_string(list.size()) + " dimensions, and " +
                                           std::to_string(max_dimensions) + " are the most");
    }
    for (const Json& item : list) {
        if (!item.is_number_unsigned() || item.get<Extent>() >= unlimited / 2)
            refuse_zarr(std::string("its ") + what + " is " + shown_json(list));
        dims.push_back(item.get<Extent>());
    }
    return dims;
}

// In a function, because members are initialised in an order, and each needs what is before it.
Dimensions shape_of(const Json& document) {
    if (document.value("zarr_format", Json()) != 3 || document.value("node_type", Json()) != "array")
        refuse_zarr("it is no array of zarr_format 3");
    for (const auto& [name, value] : document.items()) {
        const bool is_known = std::find(known.begin(), known.end(), name) != known.end();
        if (!is_known && !(value.is_object() && value.value("must_understand", Json()) == false))
            throw Error(Code::unsupported, "its metadata have " + name + ", which is not known here");
    }
    const Json transformers = document.value("storage_transformers", Json::array());
    if (!transformers.empty()) {
        throw Error(
            Code::unsupported,
            "it is stored by the transformer " +
                zarr_named(transformers.is_array() ? transformers[0] : transformers, "storage transformer")
                    .name);
    }
    const Dimensions shape = extents(member(document, "shape"), "shape");
    try {
        shape.elements();
    } catch (const Error&) {
        throw Error(Code::unsupported, "it has more than 2^64 elements: " + to_string(shape));
    }
    return shape;
}

Dimensions chunk_of(const Json& document, const Dimensions& shape) {
    const ZarrNamed grid = zarr_named(member(document, "chunk_grid"), "chunk grid");
    if (grid.name != "regular")
        throw Error(Code::unsupported, "its chunk grid is " + grid.name + ", which is not known here");
    Dimensions chunk = extents(member(grid.configuration, "chunk_shape"), "chunk_shape");
    if (chunk.size() != shape.size())
        refuse_zarr("its shape and its chunk_shape have not as many dimensions");
    for (int d = 0; d < shape.size(); ++d) {
        if (chunk[d] == 0 && shape[d] == 0) chunk[d] = 1;  // as some write an empty array
        if (chunk[d] == 0) refuse_zarr("its chunk_shape is " + to_string(chunk));
    }
    try {
        chunk.elements();
    } catch (const Error&) {
        refuse_zarr("its chunks have more than 2^64 elements: " + to_string(chunk));
    }
    return chunk;
}

}  // namespace

ZarrArray::ZarrArray(const Json& document)
    : shape(shape_of(document)),
      chunk(chunk_of(document, shape)),
      chain(member(document, "codecs"), chunk),
      element(zarr_element(member(document, "data_type"), chain.order())) {
    if (element.has_any_length() != chain.is_text())
        refuse_zarr("its data type and its codecs: only one of them is of text of any length");
    const Json value = member(document, "fill_value");
    has_no_fill = value.is_null();
    if (!has_no_fill) fill = bytes_of_fill(value, document["data_type"], element);
    const ZarrNamed encoding = zarr_named(member(document, "chunk_key_encoding"), "chunk key encoding");
    is_key_of_v2 = encoding.name == "v2";
    if (!is_key_of_v2 && encoding.name != "default")
        throw Error(Code::unsupported,
                    "its chunk key encoding is " + encoding.name + ", which is not known here");
    const Json with = encoding.configuration.value("separator", Json(is_key_of_v2 ? "." : "/"));
    if (with != "." && with != "/") refuse_zarr("the separator of its chunks' keys is " + shown_json(with));
    separator = with.get<std::string>()[0];
    const Json dimensions = document.value("dimension_names", Json());
    if (dimensions.is_null()) return;
    if (!dimensions.is_array() || static_cast<int>(dimensions.size()) != shape.size())
        refuse_zarr("its dimension_names are not as many as its dimensions");
    for (const Json& name : dimensions) {
        if (!name.is_null() && !name.is_string()) refuse_zarr("its dimension_names are no names");
        names.push_back(name.is_null() ? std::nullopt : std::optional(name.get<std::string>()));
    }
}

Dimensions ZarrArray::grid() const {
    Dimensions counts;
    for (int d = 0; d < shape.size(); ++d)
        counts.push_back(shape[d] / chunk[d] + (shape[d] % chunk[d] != 0 ? 1 : 0));
    return counts;
}

std::string ZarrArray::key(const Dimensions& place) const {
    std::string text = is_key_of_v2 ? "" : "c";
    for (const Extent extent : place) {
        if (!text.empty()) text += separator;
        text += std::to_string(extent);
    }
    return text.empty() ? "0" : text;
}

std::vector<std::string> ZarrArray::pool_names() const {
    std::vector<std::string> all;
    if (std::none_of(names.begin(), names.end(), [](const auto& name) { return name.has_value(); }))
        return all;
    for (std::size_t d = 0; d < names.size(); ++d)
        all.push_back(names[d].value_or("dim_" + std::to_string(d)));
    return all;
}

Json zarr_rest_of(Json document) {
    for (const char* name : {"zarr_format", "node_type", "shape", "attributes"}) document.erase(name);
    return document;
}

}  // namespace pmemcpy::exchange
