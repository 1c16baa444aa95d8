#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <pmemcpy/packing.hpp>
#include <pmemcpy/pmemcpy.hpp>
#include <string>

#include "cli/plot/numbers.hpp"
#include "cli/plot/picture.hpp"

namespace pmemcpy::cli {

/// What is to be seen of an array, and how.
struct PlotRequest {
    std::string id;
    std::optional<std::string> box;
    std::optional<std::uint64_t> step;
    std::optional<std::string> range;  ///< "0:40", "0:", ":40", ":" for all
    bool is_log = false;
    bool is_raw = false;  ///< the numbers that are stored, whatever attributes say
};

/// Reads an array and makes pictures of it.
class Plotter {
public:
    /// Errors: not_found; invalid_argument and type_mismatch, for what cannot be plotted.
    Plotter(const PMEM& pmem, const PlotRequest& request);

    bool is_line() const noexcept { return slice_.row < 0; }
    const Side& down() const noexcept { return down_; }
    /// Whether something of what was read, the array or a coordinate, is private, or was, or is not there any more to be asked.
    bool is_private() const;
    /// As large as there is room, by dots that are `dot_height` times as high as wide.
    HeatMap heat_map(const Extents& room, double dot_height) const;
    /// With `margins`, some room above the greatest number and below the least, for them to be seen.
    LinePlot line(std::size_t room, bool margins) const;
    /// What is plotted: id, selection, unit and sides.
    nlohmann::ordered_json head() const;

private:
    struct Limits {
        std::optional<double> low;
        std::optional<double> high;
    };
    static Limits parse_limits(const std::string& text);
    void read(const std::function<void(Extent, Extent, double)>& visit) const;
    Scale scale_for(Range range) const;
    std::string title() const;
    Side side(int dimension) const;
    void note_scope(const std::string& id) const;

    const PMEM& pmem_;
    const PlotRequest& request_;
    Info info_;
    Slice slice_;
    Packing packing_;
    std::string unit_;
    Side down_;
    Side across_;
    Limits limits_;
    mutable bool is_private_ = false;
};

}  // namespace pmemcpy::cli
