#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <pmemcpy/pmemcpy.hpp>
#include <string>
#include <vector>

#include "cli/element/time_since.hpp"
#include "cli/stat/histogram.hpp"
#include "cli/stat/statistics.hpp"

namespace pmemcpy::cli {

/// What is known of the numbers of one field.
struct FieldSummary {
    std::string field;
    Type type;
    Statistics statistics;
    std::uint64_t masked = 0;  ///< elements that attributes say are missing
    std::optional<Histogram> histogram;
};

/// A block, and the ranges of its fields where none was stored with it.
struct BlockSummary {
    BlockInfo block;
    std::vector<FieldSummary> fields;
};

struct Summary {
    std::string unit;
    std::optional<TimeSince> times{};  ///< what the numbers count
    bool can_be_masked = false;
    std::optional<Selection> selection;  ///< of an array
    std::uint64_t missing = 0;           ///< elements that nobody has stored
    std::vector<FieldSummary> fields;
    std::vector<std::string> others;  ///< fields without numbers
    std::optional<std::vector<BlockSummary>> blocks;
};

std::string stat_text(const Info& info, const Summary& summary);
nlohmann::ordered_json stat_json(const Info& info, const Summary& summary);

}  // namespace pmemcpy::cli
