#pragma once

#include "heap/format.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace pmemcpy::heap {

inline void append_field(std::vector<std::byte>& fields, std::uint16_t id, std::span<const std::byte> value) {
    const FieldHeader header{id, static_cast<std::uint16_t>(value.size())};
    const auto* const bytes = reinterpret_cast<const std::byte*>(&header);
    fields.insert(fields.end(), bytes, bytes + sizeof header);
    fields.insert(fields.end(), value.begin(), value.end());
}

/// Of a copy of a record the value of its field `id`; empty where it has none. A record that makes no sense has none either.
inline std::span<const std::byte> field_of(std::span<const std::byte> record, std::uint16_t id) {
    RecordHeader header;
    if (record.size() < sizeof header) return {};
    std::memcpy(&header, record.data(), sizeof header);
    if (header.fields < sizeof header || header.fields > record.size()) return {};
    for (std::span<const std::byte> rest = record.subspan(header.fields);
         rest.size() >= sizeof(FieldHeader);) {
        FieldHeader field;
        std::memcpy(&field, rest.data(), sizeof field);
        rest = rest.subspan(sizeof field);
        if (field.length > rest.size()) return {};
        if (field.id == id) return rest.first(field.length);
        rest = rest.subspan(field.length);
    }
    return {};
}

}  // namespace pmemcpy::heap
