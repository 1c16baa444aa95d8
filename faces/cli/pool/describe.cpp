#include "cli/pool/describe.hpp"

#include "cli/element/element.hpp"
#include "cli/terminal/printable.hpp"

namespace pmemcpy::cli {

using Json = nlohmann::ordered_json;

const char* name_of(VariableKind kind) noexcept {
    switch (kind) {
        case VariableKind::value:
            return "value";
        case VariableKind::array:
            return "array";
        case VariableKind::group:
            return "group";
    }
    return "unknown";
}

std::string short_type(const Type& type) {
    constexpr std::size_t longest = 28;
    const std::string name = type.name();
    return name.size() <= longest ? name : name.substr(0, longest - 3) + "...";
}

std::string shape_text(const Info& info) {
    if (info.kind != VariableKind::array) return "-";
    return to_string(info.dims) + (info.is_unlimited ? " (unlimited)" : "");
}

std::uint64_t used_bytes(const PoolInfo& pool) {
    return pool.allocated_bytes - std::min(pool.allocated_bytes, pool.free_bytes);
}

std::uint64_t table_bytes(const PoolInfo& pool) {
    return used_bytes(pool) - std::min(used_bytes(pool), pool.data_bytes + pool.metadata_bytes);
}

std::string damage_text(const Damage& damage) {
    const std::string box = damage.box.count.empty() ? "" : " " + to_string(damage.box);
    return (damage.id.empty() ? "the pool" : printable(damage.id)) + box + ": " + damage.what;
}

Json to_json(const Damage& damage) {
    return {{"id", damage.id},
            {"offset", to_json(damage.box.offset)},
            {"count", to_json(damage.box.count)},
            {"what", damage.what}};
}

Json to_json(const Dimensions& dims) {
    Json list = Json::array();
    for (const Extent extent : dims) list.push_back(extent);
    return list;
}

Json to_json(const Info& info) {
    Json json = {{"id", info.id}, {"kind", name_of(info.kind)}};
    if (info.kind != VariableKind::group) {
        json["type"] = info.type.name();
        json["serializer"] = pmemcpy::name_of(info.serializer);
        json["bytes"] = info.bytes;
        json["stored_bytes"] = info.stored_bytes;
        json["step"] = info.step;
    }
    if (info.kind == VariableKind::array) {
        json["dims"] = to_json(info.dims);
        json["is_unlimited"] = info.is_unlimited;
        json["order"] = info.order == Order::c ? "c" : "fortran";
        json["codec"] = to_string(info.codec);
        json["is_contiguous"] = info.is_contiguous;
        json["is_frozen"] = info.is_frozen;
        json["fill_value"] = info.fill_value.empty() ? Json() : to_json(info.type, info.fill_value);
        json["blocks"] = info.blocks;
    }
    json["written_ns"] = info.written_ns;
    json["attributes"] = info.attributes;
    return json;
}

Json to_json(const BlockInfo& block, const Type& type) {
    Json json = {{"offset", to_json(block.box.offset)},
                 {"count", to_json(block.box.count)},
                 {"stride", to_json(block.box.stride)},
                 {"version", block.version},
                 {"step", block.step},
                 {"written_ns", block.written_ns},
                 {"writer_pid", block.writer_pid},
                 {"writer_rank", block.writer_rank},
                 {"bytes", block.bytes},
                 {"stored_bytes", block.stored_bytes},
                 {"crc32c", block.crc},
                 {"codec", to_string(Codec{block.codec})},
                 {"is_frozen", block.is_frozen}};
    if (block.has_range && type.is_fixed_size() && type.size() <= block.minimum.size()) {
        json["minimum"] = to_json(type, std::span(block.minimum).first(type.size()));
        json["maximum"] = to_json(type, std::span(block.maximum).first(type.size()));
    }
    return json;
}

}  // namespace pmemcpy::cli
