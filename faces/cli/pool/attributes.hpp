#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <pmemcpy/pmemcpy.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "cli/element/time_since.hpp"

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

/// One of them as JSON, its texts valid UTF-8; nothing if there is none, or only a program that knows it can read it.
std::optional<nlohmann::ordered_json> attribute_of(const PMEM& pmem, const std::string& id,
                                                   std::string_view name);
/// The text of an attribute, printable; empty if it is none.
std::string text_attribute_of(const PMEM& pmem, const std::string& id, std::string_view name);
/// The unit of the numbers in a variable, by the attribute `units`; empty if nothing says it.
inline std::string unit_of(const PMEM& pmem, const std::string& id) {
    return text_attribute_of(pmem, id, "units");
}

/// What the numbers of a variable count, if they are times by its attributes `units` and `calendar`.
std::optional<TimeSince> times_of(const PMEM& pmem, const Info& variable);

}  // namespace pmemcpy::cli
