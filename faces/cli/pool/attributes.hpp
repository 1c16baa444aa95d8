#pragma once

#include <nlohmann/json.hpp>
#include <pmemcpy/pmemcpy.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace pmemcpy::cli {

/// An attribute as people and scripts see it.
struct Attribute {
    std::string name;
    std::string type;
    std::string text;  ///< on one line; of what only a program that knows it can read, how much there is
    nlohmann::ordered_json json;
};

/// Whether an attribute is a note of an import's for an export's sake, which people rarely want to see: docs/exchange.md.
bool is_note_of_exchange(std::string_view attribute);
/// Those of a variable or group, sorted by name. What vanishes or appears meanwhile is none of them.
std::vector<Attribute> attributes_of(const PMEM& pmem, std::string_view id, bool with_notes = true);

}  // namespace pmemcpy::cli
