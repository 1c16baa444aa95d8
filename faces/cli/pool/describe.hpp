#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <pmemcpy/pmemcpy.hpp>
#include <string>

namespace pmemcpy::cli {

const char* name_of(VariableKind kind) noexcept;

/// The type's name, cut where a table has no more room: a struct's tells all its members.
std::string short_type(const Type& type);

/// "scalar" is the shape of an array of one element; values and groups have none, "-".
std::string shape_text(const Info& info);

/// The shape of an unlimited array begins with its length so far.
nlohmann::ordered_json to_json(const Info& info);
nlohmann::ordered_json to_json(const Dimensions& dims);
nlohmann::ordered_json to_json(const BlockInfo& block, const Type& type);

/// Allocated, and not free.
std::uint64_t used_bytes(const PoolInfo& pool);
/// Of those what keeps account of the rest: allocated is free, data, metadata and this.
std::uint64_t table_bytes(const PoolInfo& pool);

/// What is damaged, and how, on one line.
std::string damage_text(const Damage& damage);
nlohmann::ordered_json to_json(const Damage& damage);

}  // namespace pmemcpy::cli
