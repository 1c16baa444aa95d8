// Zarr 2: its metadata say with other words what those of Zarr 3 say.

#include <array>
#include <charconv>
#include <pmemcpy/error.hpp>
#include <string>
#include <utility>

#include "exchange/zarr/json.hpp"
#include "exchange/zarr/metadata.hpp"

namespace pmemcpy::exchange {

namespace {

struct Descr {  // a dtype of NumPy, as its `str` says it
    Json type;
    char order = '|';
};

std::uint64_t number(const std::string& text, std::size_t at, const std::string& descr) {
    std::uint64_t value = 0;
    const char* end = text.data() + text.size();
    if (std::from_chars(text.data() + at, end, value) != std::from_chars_result{end, std::errc()})
        throw Error(Code::corrupt, "its dtype is " + descr);
    return value;
}

Json sized(const char* name, std::uint64_t bytes) {
    return {{"name", name}, {"configuration", {{"length_bytes", bytes}}}};
}

Json time_of(const std::string& descr, const char* name) {
    const std::size_t open = descr.find('[');
    if (!descr.ends_with(']') || open == std::string::npos)
        return {{"name", name}, {"configuration", {{"unit", "generic"}, {"scale_factor", 1}}}};
    std::string unit = descr.substr(open + 1, descr.size() - open - 2);
    std::uint64_t scale = 1;
    const std::size_t letters = unit.find_first_not_of("0123456789");
    if (letters != 0 && letters != std::string::npos) scale = number(unit.substr(0, letters), 0, descr);
    if (letters != std::string::npos) unit = unit.substr(letters);
    return {{"name", name}, {"configuration", {{"unit", unit}, {"scale_factor", scale}}}};
}

Descr type_of(const Json& dtype, int depth);

Descr structure_of(const Json& dtype, int depth) {
    Json fields = Json::array();
    char order = '|';
    for (const Json& field : dtype) {
        if (!field.is_array() || field.size() < 2 || depth > 16)
            throw Error(Code::corrupt, "its dtype has a field " + shown_json(field));
        if (field.size() > 2) throw Error(Code::unsupported, "its dtype has arrays inside of elements");
        const Descr inner = type_of(field[1], depth + 1);
        if (order != '|' && inner.order != '|' && inner.order != order)
            throw Error(Code::unsupported, "its dtype has numbers of both byte orders");
        if (inner.order != '|') order = inner.order;
        fields.push_back(Json::array({field[0], inner.type}));
    }
    return {{{"name", "structured"}, {"configuration", {{"fields", std::move(fields)}}}}, order};
}

Descr type_of(const Json& dtype, int depth) {
    if (dtype.is_array()) return structure_of(dtype, depth);
    const std::string descr = dtype.is_string() ? dtype.get<std::string>() : "";
    if (descr.size() < 2) throw Error(Code::corrupt, "its dtype is " + shown_json(dtype));
    const char order = descr[0] == '=' ? '<' : descr[0];
    const std::string shown = descr.substr(1);
    constexpr std::array<std::pair<const char*, const char*>, 14> plain = {{{"b1", "bool"},
                                                                            {"i1", "int8"},
                                                                            {"i2", "int16"},
                                                                            {"i4", "int32"},
                                                                            {"i8", "int64"},
                                                                            {"u1", "uint8"},
                                                                            {"u2", "uint16"},
                                                                            {"u4", "uint32"},
                                                                            {"u8", "uint64"},
                                                                            {"f2", "float16"},
                                                                            {"f4", "float32"},
                                                                            {"f8", "float64"},
                                                                            {"c8", "complex64"},
                                                                            {"c16", "complex128"}}};
    for (const auto& [theirs, name] : plain) {
        if (shown == theirs) return {name, order};
    }
    switch (shown[0]) {
        case 'S':
            return {sized("null_terminated_bytes", number(shown, 1, descr))};
        case 'V':
            return {sized("raw_bytes", number(shown, 1, descr))};
        case 'U':
            return {sized("fixed_length_utf32", 4 * number(shown, 1, descr)), order};
        case 'M':
            return {time_of(shown, "numpy.datetime64"), order};
        case 'm':
            return {time_of(shown, "numpy.timedelta64"), order};
        default:
            throw Error(Code::unsupported, "its dtype is " + descr + ", which is not known here");
    }
}

Json codec_of(const Json& compressor) {
    const std::string id = compressor.is_object() ? compressor.value("id", "") : "";
    Json with = compressor.is_object() ? compressor : Json::object();
    with.erase("id");
    if (id == "blosc") {
        constexpr std::array shuffles = {"noshuffle", "shuffle", "bitshuffle"};
        const auto shuffle = with.value("shuffle", Json(1));
        const bool is_known = shuffle.is_number_unsigned() && shuffle.get<std::size_t>() < shuffles.size();
        with["shuffle"] = is_known ? shuffles.at(shuffle.get<std::size_t>()) : "shuffle";
        if (!with.contains("typesize")) with["typesize"] = 1;  // only an encoder needs it
        return {{"name", "blosc"}, {"configuration", with}};
    }
    if (id == "gzip" || id == "zstd") return {{"name", id}, {"configuration", with}};
    if (id == "zlib") return {{"name", "numcodecs.zlib"}, {"configuration", with}};
    throw Error(Code::unsupported,
                "it is coded by " + (id.empty() ? shown_json(compressor) : id) + ", which is not known here");
}

}  // namespace

Json zarr_document_of_v2(const Json& zarray) {
    if (zarray.value("zarr_format", Json()) != 2)
        throw Error(Code::corrupt, "it is no array of zarr_format 2");
    const Json shape = zarray.value("shape", Json::array());
    Json codecs = Json::array();
    if (zarray.value("order", Json("C")) == "F" && shape.size() > 1) {
        Json order = Json::array();
        for (std::size_t d = shape.size(); d-- > 0;) order.push_back(d);
        codecs.push_back({{"name", "transpose"}, {"configuration", {{"order", order}}}});
    }
    const Json filters = zarray.value("filters", Json());
    const Json dtype = zarray.value("dtype", Json());
    Json type;
    const std::string filter =
        filters.is_array() && filters.size() == 1 && filters[0].is_object() ? filters[0].value("id", "") : "";
    if (dtype == "|O" && (filter == "vlen-utf8" || filter == "vlen-bytes")) {
        type = filter == "vlen-utf8" ? "string" : "variable_length_bytes";
        codecs.push_back({{"name", filter}, {"configuration", Json::object()}});
    } else {
        if (filters.is_array() && !filters.empty())
            throw Error(Code::unsupported,
                        "it is filtered by " + shown_json(filters) + ", which is not known here");
        const Descr descr = type_of(dtype, 0);
        type = descr.type;
        Json bytes = {{"name", "bytes"}};
        if (descr.order != '|') bytes["configuration"]["endian"] = descr.order == '>' ? "big" : "little";
        codecs.push_back(std::move(bytes));
    }
    if (const Json compressor = zarray.value("compressor", Json()); !compressor.is_null())
        codecs.push_back(codec_of(compressor));
    return {{"zarr_format", 3},
            {"node_type", "array"},
            {"shape", shape},
            {"data_type", type},
            {"chunk_grid",
             {{"name", "regular"}, {"configuration", {{"chunk_shape", zarray.value("chunks", Json())}}}}},
            {"chunk_key_encoding",
             {{"name", "v2"},
              {"configuration", {{"separator", zarray.value("dimension_separator", Json("."))}}}}},
            {"fill_value", zarray.value("fill_value", Json())},
            {"codecs", codecs}};
}

}  // namespace pmemcpy::exchange
