#include "cli/plot/coordinate.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <optional>
#include <pmemcpy/packing.hpp>
#include <vector>

#include "cli/element/letters.hpp"
#include "cli/pool/attributes.hpp"
#include "cli/pool/describe.hpp"
#include "cli/terminal/printable.hpp"

namespace pmemcpy::cli {

namespace {

constexpr Extent most_coordinates = Extent{1} << 20;  // which are kept in memory

/// As stored; empty for a dimension without a name.
std::string name_of_dimension(const PMEM& pmem, const Info& info, int dimension) {
    const auto names = attribute_of(pmem, info.id, "_ARRAY_DIMENSIONS");
    const auto at = static_cast<std::size_t>(dimension);
    const bool is_named = names && names->is_array() &&
                          names->size() == static_cast<std::size_t>(info.dims.size()) &&
                          names->at(at).is_string();
    return is_named ? names->at(at).get<std::string>() : "";
}

std::optional<Info> coordinate_of(const PMEM& pmem, const Info& info, int dimension,
                                  const std::string& name) {
    std::string group = info.id;
    while (!group.empty() && !name.empty()) {
        const std::size_t slash = group.rfind('/');
        group.resize(slash == std::string::npos ? 0 : slash);
        std::string id = group;
        if (!id.empty()) id += '/';
        id += name;
        if (!pmem.exists(id)) continue;
        Info found = pmem.info(id);
        const bool is_meant = found.kind == VariableKind::array && found.dims.size() == 1 &&
                              found.dims[0] == info.dims[dimension];
        return is_meant ? std::optional(std::move(found)) : std::nullopt;
    }
    return {};
}

bool is_one_way(const std::vector<double>& places) {
    const bool is_rising = places.size() < 2 || places[1] > places[0];
    for (std::size_t i = 0; i < places.size(); ++i) {
        if (!std::isfinite(places[i])) return false;
        if (i > 0 && (places[i] > places[i - 1]) != is_rising) return false;
        if (i > 0 && places[i] == places[i - 1]) return false;
    }
    return true;
}

/// Nothing of what are no numbers, or not all there.
std::vector<double> places_of(const PMEM& pmem, const Info& coordinate, const Selection& along) {
    const std::uint64_t size = coordinate.type.is_fixed_size() ? coordinate.type.size() : 0;
    if (size == 0 || along.elements() > most_coordinates) return {};
    std::vector<std::byte> bytes(along.elements() * size);
    try {
        pmem.load(coordinate.id, coordinate.type, bytes.data(), along);
    } catch (const Error& error) {
        if (error.kind() != Code::not_found) throw;
        return {};
    }
    const Packing packing(pmem, coordinate);
    std::vector<double> places;
    for (std::size_t at = 0; at < bytes.size(); at += size) {
        const auto element = std::span<const std::byte>(bytes).subspan(at, size);
        const auto take = [&](auto number) { places.push_back(static_cast<double>(number)); };
        if (coordinate.type.kind() == Kind::datetime64)
            take(read_number<std::int64_t>(element, coordinate.type.byte_order()));
        else if (packing.is_plain())
            visit_number(coordinate.type.kind(), coordinate.type.byte_order(), element, take);
        else
            packing.visit(element, take);
    }
    return places.size() == along.elements() && is_one_way(places) ? places : std::vector<double>{};
}

template <std::size_t N>
bool is_one_of(const std::string& text, const std::array<const char*, N>& words) {
    return std::find(words.begin(), words.end(), text) != words.end();
}

/// Whether larger coordinates belong above smaller ones, if anything says so.
std::optional<bool> goes_up(const PMEM& pmem, const std::string& id, const std::string& name,
                            const std::string& unit) {
    static constexpr std::array north = {"degrees_north", "degree_north", "degrees_n",
                                         "degree_n",      "degreesn",     "degreen"};
    static constexpr std::array upwards = {"latitude", "grid_latitude", "projection_y_coordinate"};
    static constexpr std::array names = {"lat", "latitude"};
    const std::string positive = in_small_letters(text_attribute_of(pmem, id, "positive"));
    if (positive == "up" || positive == "down") return positive == "up";
    if (is_one_of(in_small_letters(unit), north) || is_one_of(in_small_letters(name), names) ||
        is_one_of(text_attribute_of(pmem, id, "standard_name"), upwards) ||
        in_small_letters(text_attribute_of(pmem, id, "axis")) == "y")
        return true;
    return {};
}

}  // namespace

Side side_of(const PMEM& pmem, const Info& info, const Selection& selection, int dimension) {
    Side side;
    if (dimension < 0) return side;
    const auto first = static_cast<double>(selection.offset[dimension]);
    const auto steps = static_cast<double>(selection.count[dimension] - 1);
    side.indices = {first, first + steps * static_cast<double>(selection.stride[dimension])};
    side.numbers = selection.count[dimension];
    const std::string name = name_of_dimension(pmem, info, dimension);
    side.name = name.empty() ? fmt::format("index {}", dimension) : printable(name);
    const auto coordinate = coordinate_of(pmem, info, dimension, name);
    if (!coordinate) return side;
    side.places = places_of(
        pmem, *coordinate,
        {{selection.offset[dimension]}, {selection.count[dimension]}, {selection.stride[dimension]}});
    if (side.places.empty()) return side;
    side.coordinate = coordinate->id;
    side.unit = unit_of(pmem, coordinate->id);
    side.times = times_of(pmem, *coordinate);
    if (side.times) side.unit = side.times->calendar();
    if (coordinate->type.kind() == Kind::datetime64) side.ticks = coordinate->type.unit();
    const bool is_rising = side.places.front() <= side.places.back();
    const auto up = goes_up(pmem, coordinate->id, name, side.unit);
    side.is_upwards = up && *up == is_rising;
    return side;
}

}  // namespace pmemcpy::cli
