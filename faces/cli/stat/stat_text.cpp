#include "cli/stat/stat_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <pmemcpy/number.hpp>

#include "cli/element/datetime.hpp"
#include "cli/element/element.hpp"
#include "cli/pool/describe.hpp"
#include "cli/terminal/printable.hpp"
#include "cli/terminal/table.hpp"

namespace pmemcpy::cli {

namespace {

using Json = nlohmann::ordered_json;
using Align = Table::Align;

constexpr std::size_t widest_bar = 40;

bool is_time(const Type& type) { return type.kind() == Kind::datetime64; }

/// The numbers of a field as people read them: times are dates.
struct Words {
    const Type& type;
    const std::optional<TimeSince>& times;

    std::string bound(const std::optional<Number>& bound) const {
        if (!bound) return "-";
        if (!times) return number_text(type, *bound);
        return std::visit([&](auto number) { return times->text(static_cast<double>(number)); }, *bound);
    }

    /// A number between those of the type, such as their mean: a datetime64 is rounded to a tick.
    std::string between(long double number, int digits) const {
        if (std::isnan(number)) return "-";
        if (times) return times->text(static_cast<double>(number));
        if (is_time(type)) return datetime_text(static_cast<std::int64_t>(std::llround(number)), type.unit());
        if (number == std::round(number) && std::abs(number) < 1e15L)
            return fmt::format("{}", static_cast<std::int64_t>(number));
        return fmt::format("{:.{}g}", static_cast<double>(number), digits);
    }

    std::string deviation(double deviation) const {
        if (std::isnan(deviation)) return "-";
        const std::string unit = times ? times->unit() : is_time(type) ? name_of(type.unit()) : "";
        return fmt::format("{:.9g}", deviation) + (unit.empty() ? "" : " " + unit);
    }

    std::string stored(const std::array<std::byte, 8>& bound) const {
        const auto bytes = std::span(bound).first(type.size());
        std::string text;
        const auto as_date = [&](auto number) { text = times->text(static_cast<double>(number)); };
        if (times && visit_number(type.kind(), type.byte_order(), bytes, as_date)) return text;
        append_text(text, type, bytes);
        return text;
    }
};

std::string fields_text(const Summary& summary) {
    std::vector<Table::Column> columns = {{"field"}, {"count", Align::right}};
    if (summary.can_be_masked) columns.push_back({"masked", Align::right});
    for (const char* name : {"nan", "infinite", "zeros", "min", "max", "mean", "deviation"})
        columns.push_back({name, Align::right});
    Table table(columns);
    for (const FieldSummary& field : summary.fields) {
        const Statistics& s = field.statistics;
        std::vector<std::string> cells = {field.field, std::to_string(s.count())};
        if (summary.can_be_masked) cells.push_back(std::to_string(field.masked));
        for (const std::uint64_t count : {s.nan(), s.infinite(), s.zeros()})
            cells.push_back(std::to_string(count));
        const Words words{field.type, summary.times};
        cells.push_back(words.bound(s.minimum()));
        cells.push_back(words.bound(s.maximum()));
        cells.push_back(words.between(s.mean(), 9));
        cells.push_back(words.deviation(s.deviation()));
        table.add(cells);
    }
    return table.text();
}

std::string histogram_text(const FieldSummary& field, const Words& words) {
    const std::vector<std::uint64_t>& counts = field.histogram->counts();
    const std::vector<long double> edges = field.histogram->edges();
    const std::uint64_t most = std::max(std::uint64_t{1}, *std::max_element(counts.begin(), counts.end()));
    Table table({{}, {"", Align::right}, {}});
    for (std::size_t i = 0; i < counts.size(); ++i) {
        const bool is_closed = i + 1 == counts.size() && field.histogram->is_closed();
        const double part = static_cast<double>(counts[i]) / static_cast<double>(most);
        const auto full = static_cast<std::size_t>(std::ceil(part * static_cast<double>(widest_bar)));
        table.add({fmt::format("[{}, {}{}", words.between(edges[i], 6), words.between(edges[i + 1], 6),
                               is_closed ? ']' : ')'),
                   std::to_string(counts[i]), std::string(full, '#')});
    }
    return table.text(2);
}

std::string blocks_text(const std::vector<BlockSummary>& blocks, const Type& type,
                        const std::optional<TimeSince>& times) {
    Table table({{"box"}, {"field"}, {"min", Align::right}, {"max", Align::right}, {"range"}});
    const Words stored{type, times};
    for (const BlockSummary& summary : blocks) {
        const BlockInfo& block = summary.block;
        const std::string box = to_string(block.box);
        if (block.has_range)
            table.add({box, "value", stored.stored(block.minimum), stored.stored(block.maximum), "stored"});
        for (const FieldSummary& field : summary.fields) {
            const Words words{field.type, times};
            table.add({box, field.field, words.bound(field.statistics.minimum()),
                       words.bound(field.statistics.maximum()), "as it is now"});
        }
    }
    return table.text(2);
}

Json bound_json(const Type& type, const std::optional<Number>& bound) {
    if (!bound) return nullptr;
    if (is_time(type)) return number_text(type, *bound);
    return std::visit([](auto n) { return to_json(type_of<decltype(n)>(), std::as_bytes(std::span(&n, 1))); },
                      *bound);
}

/// Null where there is none; of times the ticks.
Json double_json(long double number) {
    const auto rounded = static_cast<double>(number);
    if (std::isnan(rounded)) return nullptr;
    return to_json(type_of<double>(), std::as_bytes(std::span(&rounded, 1)));
}

Json field_json(const FieldSummary& field) {
    const Statistics& s = field.statistics;
    Json json = {{"field", field.field},
                 {"type", field.type.name()},
                 {"count", s.count()},
                 {"masked", field.masked},
                 {"nan", s.nan()},
                 {"infinite", s.infinite()},
                 {"zeros", s.zeros()},
                 {"min", bound_json(field.type, s.minimum())},
                 {"max", bound_json(field.type, s.maximum())},
                 {"mean", double_json(s.mean())},
                 {"deviation", double_json(s.deviation())}};
    if (field.histogram) {
        Json edges = Json::array();
        for (const long double edge : field.histogram->edges()) edges.push_back(double_json(edge));
        json["histogram"]["edges"] = edges;
        json["histogram"]["counts"] = field.histogram->counts();
    }
    return json;
}

Json block_json(const BlockSummary& summary, const Type& type) {
    Json json = to_json(summary.block, type);
    if (summary.block.has_range) return json;
    json["fields"] = Json::array();
    for (const FieldSummary& field : summary.fields) {
        json["fields"].push_back({{"field", field.field},
                                  {"min", bound_json(field.type, field.statistics.minimum())},
                                  {"max", bound_json(field.type, field.statistics.maximum())}});
    }
    return json;
}

}  // namespace

std::string stat_text(const Info& info, const Summary& summary) {
    std::string text = printable(info.id) + ": " + info.type.name();
    if (summary.selection) {
        text += ", " + to_string(info.dims);
        if (!(*summary.selection == Selection(Box::whole(info.dims))))
            text += ", of it " + to_string(*summary.selection);
    }
    if (!summary.unit.empty()) text += " [" + summary.unit + "]";
    text += "\n" + fields_text(summary);
    if (summary.missing > 0)
        text += fmt::format("{} elements are left out: nobody has stored them\n", summary.missing);
    if (!summary.others.empty()) text += fmt::format("no numbers: {}\n", fmt::join(summary.others, ", "));
    for (const FieldSummary& field : summary.fields) {
        if (field.histogram)
            text += fmt::format("histogram of {}\n{}", field.field,
                                histogram_text(field, {field.type, summary.times}));
    }
    if (summary.blocks) {
        text += fmt::format("blocks ({})\n", summary.blocks->size());
        if (!summary.blocks->empty()) text += blocks_text(*summary.blocks, info.type, summary.times);
    }
    return text;
}

nlohmann::ordered_json stat_json(const Info& info, const Summary& summary) {
    Json json = {{"id", info.id}, {"type", info.type.name()}, {"unit", summary.unit}};
    if (summary.selection) {
        json["dims"] = to_json(info.dims);
        json["offset"] = to_json(summary.selection->offset);
        json["count"] = to_json(summary.selection->count);
        json["stride"] = to_json(summary.selection->stride);
        json["missing"] = summary.missing;
    }
    json["fields"] = Json::array();
    for (const FieldSummary& field : summary.fields) json["fields"].push_back(field_json(field));
    json["others"] = summary.others;
    if (summary.blocks) {
        json["blocks"] = Json::array();
        for (const BlockSummary& block : *summary.blocks)
            json["blocks"].push_back(block_json(block, info.type));
    }
    return json;
}

}  // namespace pmemcpy::cli
