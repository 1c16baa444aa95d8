#include "cli/plot/plotter.hpp"

#include <fmt/core.h>

#include <charconv>
#include <utility>

#include "cli/array/selection.hpp"
#include "cli/element/element.hpp"
#include "cli/pool/describe.hpp"
#include "cli/terminal/progress.hpp"
#include "cli/terminal/screen.hpp"

namespace pmemcpy::cli {

namespace {

using Json = nlohmann::ordered_json;

constexpr double margin = 0.04;  // of the range of a line

/// The text of an attribute, as valid UTF-8; what is no text has none.
std::optional<Json> attribute(const PMEM& pmem, const std::string& id, const char* name) {
    std::optional<Json> found;
    try {
        pmem.get_attribute_encoded(
            id, name, [&](const Type& type, SerializerType serializer, std::span<const std::byte> bytes) {
                if (is_readable(type, serializer)) found = Json::parse(dump(value_json(type, bytes)));
            });
    } catch (const Error& error) {
        if (error.kind() != Code::not_found) throw;
    }
    return found;
}

Info array_of_that_id(const PMEM& pmem, const std::string& id) {
    Info info = pmem.info(id);
    if (info.kind == VariableKind::array) return info;
    throw Error(Code::invalid_argument,
                fmt::format("{} is a {}; only arrays can be plotted", id, name_of(info.kind)));
}

}  // namespace

Plotter::Limits Plotter::parse_limits(const std::string& text) {
    Limits limits;
    const std::size_t colon = text.find(':');
    const auto number = [&](std::size_t begin, std::size_t end) -> std::optional<double> {
        if (begin == end) return std::nullopt;
        double value = 0;
        const auto [last, problem] = std::from_chars(text.data() + begin, text.data() + end, value);
        if (problem != std::errc{} || last != text.data() + end || value - value != 0) {
            throw Error(Code::invalid_argument,
                        fmt::format("'{}' is no range; write LOW:HIGH, of which one may be left out", text));
        }
        return value;
    };
    if (colon == std::string::npos) {
        throw Error(Code::invalid_argument,
                    fmt::format("'{}' is no range; write LOW:HIGH, of which one may be left out", text));
    }
    limits.low = number(0, colon);
    limits.high = number(colon + 1, text.size());
    return limits;
}

Plotter::Plotter(const PMEM& pmem, const PlotRequest& request)
    : pmem_(pmem),
      request_(request),
      info_(array_of_that_id(pmem, request.id)),
      slice_(slice_of(info_, request.box ? parse_selection(*request.box, info_.dims)
                                         : Selection(Box::whole(info_.dims)))) {
    if (request.range) limits_ = parse_limits(*request.range);
}

HeatMap Plotter::heat_map(const Extents& room, double height) const {
    const Extents dots = fitted(slice_.rows(), slice_.columns(), room, height);
    Raster raster(slice_.rows(), slice_.columns(), dots.rows, dots.columns);
    read([&](Extent row, Extent column, double number) { raster.add(row, column, number); });
    const Scale scale = scale_for(raster.range(request_.is_log));
    return {title(), unit(), down(), side(slice_.column), dots, std::move(raster), scale};
}

LinePlot Plotter::line(std::size_t room, bool margins) const {
    Series series(slice_.columns(), room, request_.is_log);
    read([&](Extent, Extent column, double number) { series.add(column, number); });
    Scale scale = scale_for(series.range());
    if (margins) scale = scale.wider(limits_.low ? 0 : margin, limits_.high ? 0 : margin);
    return {title(), unit(), side(slice_.column), std::move(series), scale};
}

nlohmann::ordered_json Plotter::head() const {
    const Selection& s = slice_.selection;
    return {{"id", info_.id},
            {"offset", to_json(s.offset)},
            {"count", to_json(s.count)},
            {"stride", to_json(s.stride)},
            {"unit", unit()}};
}

void Plotter::read(const std::function<void(Extent, Extent, double)>& visit) const {
    Progress progress("read");
    const std::uint64_t size = info_.type.size();
    const std::uint64_t all = slice_.selection.elements();
    each_number(pmem_, info_, slice_, request_.step, visit,
                [&](std::uint64_t done) { progress.show(done * size, all * size); });
}

Scale Plotter::scale_for(Range range) const {
    if (request_.is_log && range.is_empty()) {
        throw Error(Code::invalid_argument,
                    fmt::format("--log wants numbers above 0, and {} has none there", info_.id));
    }
    const bool has_both = limits_.low && limits_.high;
    const bool can_tell = has_both || !range.is_empty();
    if (limits_.low) range.low = *limits_.low;
    if (limits_.high) range.high = *limits_.high;
    if (request_.range && can_tell && !(range.low < range.high)) {
        throw Error(Code::invalid_argument,
                    fmt::format("the range {} would be from {} to {}; its end must be above its "
                                "beginning",
                                *request_.range, range.low, range.high));
    }
    return {range, request_.is_log};
}

std::string Plotter::title() const {
    std::string text = printable(info_.id);
    if (request_.box) text += " " + to_string(slice_.selection);
    if (request_.step) text += fmt::format(" at step {}", *request_.step);
    return text;
}

std::string Plotter::unit() const {
    const auto units = attribute(pmem_, info_.id, "units");
    return units && units->is_string() ? printable(units->get<std::string>()) : "";
}

// The name is what xarray calls the dimension, or its number.
Side Plotter::side(int dimension) const {
    if (dimension < 0) return {"", {0, 0}, 1};
    const Selection& s = slice_.selection;
    const auto first = static_cast<double>(s.offset[dimension]);
    const auto steps = static_cast<double>(s.count[dimension] - 1);
    Side side{fmt::format("index {}", dimension),
              {first, first + steps * static_cast<double>(s.stride[dimension])},
              s.count[dimension]};
    const auto names = attribute(pmem_, info_.id, "_ARRAY_DIMENSIONS");
    const auto at = static_cast<std::size_t>(dimension);
    if (names && names->is_array() && names->size() == static_cast<std::size_t>(s.size()) &&
        names->at(at).is_string())
        side.name = printable(names->at(at).get<std::string>());
    return side;
}

}  // namespace pmemcpy::cli
