#include "cli/plot/plotter.hpp"

#include <fmt/core.h>

#include <charconv>
#include <cmath>
#include <pmemcpy/scope.hpp>
#include <utility>

#include "cli/array/selection.hpp"
#include "cli/plot/coordinate.hpp"
#include "cli/pool/attributes.hpp"
#include "cli/pool/describe.hpp"
#include "cli/terminal/printable.hpp"
#include "cli/terminal/progress.hpp"
#include "cli/terminal/screen.hpp"

namespace pmemcpy::cli {

namespace {

using Json = nlohmann::ordered_json;

constexpr double line_margin = 0.04;  // of the range of a line

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
    note_scope(info_.id);
    if (!request.is_raw) {
        packing_ = Packing(pmem, info_);
        unit_ = unit_of(pmem, info_.id);
    }
    down_ = side(slice_.row);
    across_ = side(slice_.column);
    across_.is_upwards = false;
    if (request.range) limits_ = parse_limits(*request.range);
}

Side Plotter::side(int dimension) const {
    Side side = side_of(pmem_, info_, slice_.selection, dimension);
    if (!side.coordinate.empty()) note_scope(side.coordinate);
    return side;
}

void Plotter::note_scope(const std::string& id) const {
    try {
        is_private_ = is_private_ || scope_of(pmem_, id) == Scope::own;
    } catch (const Error& error) {
        if (error.kind() != Code::not_found) throw;
        is_private_ = true;
    }
}

bool Plotter::is_private() const {
    note_scope(info_.id);
    return is_private_;
}

HeatMap Plotter::heat_map(const Extents& room, double height) const {
    const Extents dots = fitted(slice_.rows(), slice_.columns(), room, height);
    Raster raster(slice_.rows(), slice_.columns(), dots.rows, dots.columns);
    Range all;
    read([&](Extent row, Extent column, double number) {
        raster.add(row, column, number);
        if (std::isfinite(number)) all.add(number);
    });
    const bool is_whole = request_.range || request_.is_log;
    const Scale scale = scale_for(is_whole ? raster.range(request_.is_log) : raster.robust_range());
    return {title(), unit_, down_, across_, dots, std::move(raster), scale, all};
}

LinePlot Plotter::line(std::size_t room, bool margins) const {
    Series series(slice_.columns(), room, request_.is_log);
    read([&](Extent, Extent column, double number) { series.add(column, number); });
    Scale scale = scale_for(series.range());
    if (margins) scale = scale.wider(limits_.low ? 0 : line_margin, limits_.high ? 0 : line_margin);
    return {title(), unit_, across_, std::move(series), scale};
}

nlohmann::ordered_json Plotter::head() const {
    const Selection& s = slice_.selection;
    const auto about = [](const Side& side) {
        const Range range = side.range();
        Json told = {{"name", side.name}, {"unit", side.unit}, {"from", range.low}, {"to", range.high}};
        if (side.has_dates()) told.update({{"from", side.text(range.low)}, {"to", side.text(range.high)}});
        return told;
    };
    Json json = {{"id", info_.id},
                 {"offset", to_json(s.offset)},
                 {"count", to_json(s.count)},
                 {"stride", to_json(s.stride)},
                 {"unit", unit_},
                 {"across", about(across_)}};
    if (!is_line()) json["down"] = about(down_);
    return json;
}

void Plotter::read(const std::function<void(Extent, Extent, double)>& visit) const {
    Progress progress("read");
    const std::uint64_t size = info_.type.size();
    const std::uint64_t all = slice_.selection.elements();
    each_number(pmem_, info_, slice_, packing_, request_.step, visit,
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

// Of what is fixed the coordinate is said where it has one, and all else that is selected by indices.
std::string Plotter::title() const {
    std::string text = printable(info_.id);
    const Selection& s = slice_.selection;
    bool is_said = true;
    std::string fixed;
    for (int d = 0; d < s.size(); ++d) {
        if (s.count[d] == info_.dims[d]) continue;
        const Side at = d == slice_.row || d == slice_.column ? Side{} : side(d);
        is_said = is_said && at.places.size() == 1;
        if (is_said)
            fixed += fmt::format(", {} = {}{}{}", at.name, at.text(at.places[0]), at.unit.empty() ? "" : " ",
                                 at.unit);
    }
    text += is_said ? fixed : " " + to_string(s);
    if (request_.step) text += fmt::format(" at step {}", *request_.step);
    return text;
}

}  // namespace pmemcpy::cli
