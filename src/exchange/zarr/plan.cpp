#include "exchange/zarr/plan.hpp"

#include <algorithm>

#include "exchange/zarr/fill.hpp"

namespace pmemcpy::exchange {

namespace {

// Of an array of which no more is known. A chunk is the least that is read, and one file: 4 MiB take milliseconds, and a TiB of
// them is a quarter of a million files.
constexpr std::uint64_t chunk_bytes = 4U << 20;
constexpr std::size_t most_type_bytes = 255;  // of Blosc

/// Whole rows, planes, ..., as many as fit.
Json chunk_shape_of(const Dimensions& dims, std::uint64_t element_bytes) {
    std::vector<Extent> chunk(static_cast<std::size_t>(dims.size()), 1);
    Extent room = std::max<Extent>(chunk_bytes / std::max<std::uint64_t>(element_bytes, 1), 1);
    for (int d = dims.size(); d-- > 0;) {
        const Extent extent = std::clamp<Extent>(dims[d], 1, room);
        chunk[static_cast<std::size_t>(d)] = extent;
        room = std::max<Extent>(room / extent, 1);
    }
    return chunk;
}

/// The pool's own codec, which is Blosc's.
Json blosc_of(const Codec& codec, bool is_text, std::uint64_t element_bytes) {
    const std::string text = to_string(codec);
    const bool is_shuffled = codec.shuffle && !is_text;
    return {{"name", "blosc"},
            {"configuration",
             {{"typesize", is_text || element_bytes > most_type_bytes ? 1 : element_bytes},
              {"cname", text.substr(0, text.find(':'))},
              {"clevel", codec.level},
              {"shuffle", is_shuffled ? "shuffle" : "noshuffle"},
              {"blocksize", 0}}}};
}

Json new_document(const ZarrSubject& subject, std::string& note) {
    const Json type = subject.is_any_length ? Json("string") : zarr_data_type(subject.type, note);
    const bool is_text = type == "string";
    Json bytes = {{"name", is_text ? "vlen-utf8" : "bytes"}};
    if (is_text) {
        bytes["configuration"] = Json::object();
    } else if (!has_no_order(subject.type)) {
        // Of structures zarr-python 3.1 takes no order, and expects this one.
        const bool is_big =
            subject.type.kind() != Kind::structure && subject.type.byte_order() == ByteOrder::big;
        bytes["configuration"]["endian"] = is_big ? "big" : "little";
    }
    Json codecs = Json::array({bytes});
    if (subject.codec.kind != Codec::Kind::none)
        codecs.push_back(blosc_of(subject.codec, is_text, subject.type.size()));
    return {{"data_type", type},
            {"chunk_grid",
             {{"name", "regular"},
              {"configuration", {{"chunk_shape", chunk_shape_of(subject.dims, subject.type.size())}}}}},
            {"chunk_key_encoding", {{"name", "default"}, {"configuration", {{"separator", "/"}}}}},
            {"fill_value", nullptr},
            {"codecs", codecs},
            {"storage_transformers", Json::array()}};
}

Json whole(Json document, const ZarrSubject& subject) {
    document["zarr_format"] = 3;
    document["node_type"] = "array";
    document["shape"] = std::vector<Extent>(subject.dims.begin(), subject.dims.end());
    return document;
}

std::vector<std::byte> trimmed(std::vector<std::byte> text) {
    while (!text.empty() && text.back() == std::byte{0}) text.pop_back();
    return text;
}

bool holds(const ZarrArray& array, const ZarrSubject& subject) {
    if (array.element.has_any_length())
        return subject.is_any_length || subject.type.kind() == Kind::fixed_string;
    return !subject.is_any_length && array.element.type == subject.type;
}

std::optional<Json> old_document(const ZarrSubject& subject, const Json& origin) {
    if (!origin.is_object() || origin.value("from", Json()) != "zarr" || !origin.contains("array")) return {};
    try {
        Json document = origin["array"];
        if (!holds(ZarrArray(whole(document, subject)), subject)) return {};
        return document;
    } catch (const Error&) {  // somebody has changed it, or the array: then it is as any other
        return {};
    } catch (const Json::exception&) {
        return {};
    }
}

}  // namespace

ZarrPlan zarr_plan(const ZarrSubject& subject, const Variable& variable) {
    std::string note;
    const std::optional<Json> old = old_document(subject, variable.origin);
    Json document = whole(old ? *old : new_document(subject, note), subject);
    std::vector<std::byte> fill =
        subject.fill.empty() ? std::vector<std::byte>(subject.type.size()) : subject.fill;
    const ZarrArray before(document);
    const bool is_text = before.element.has_any_length();
    // As it was spelled, if it is still the same.
    const std::vector<std::byte> known = is_text ? before.fill : trimmed(before.fill);
    const bool is_same = known == trimmed(fill) && (is_text || before.fill.size() == fill.size());
    // A value has none, and nothing of it is missing.
    const bool is_value = variable.info.kind == VariableKind::value && old;
    const bool is_known = !before.has_no_fill && (is_same || is_value);
    if (is_known && is_value) {
        fill = before.fill;
        fill.resize(subject.type.size());
    }
    std::vector<std::byte> room;
    const auto packed = [&] { return ZarrPacking(subject.type, before.element)(fill, room); };
    if (!is_known) {
        const std::vector<std::byte> text = trimmed(fill);
        const bool is_as_in_pool = before.element.type.kind() == Kind::fixed_string;
        document["fill_value"] =
            fill_of_bytes(before.element, is_text         ? std::span<const std::byte>(text)
                                          : is_as_in_pool ? std::span<const std::byte>(fill)
                                                          : packed());
    }
    if (!is_text) {
        const std::span<const std::byte> bytes = packed();
        fill = std::vector<std::byte>(bytes.begin(), bytes.end());
    }
    if (before.pool_names() != variable.dimensions) {
        document.erase("dimension_names");
        if (!variable.dimensions.empty()) document["dimension_names"] = variable.dimensions;
    }
    ZarrArray array(document);
    return {std::move(document), std::move(array), std::move(fill), std::move(note)};
}

}  // namespace pmemcpy::exchange
