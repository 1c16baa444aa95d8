#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
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
    std::optional<std::string> range;  ///< "0:40", "0:", ":40"
    bool is_log = false;
};

/// Reads an array and makes pictures of it.
class Plotter {
public:
    /// Errors: not_found; invalid_argument and type_mismatch, for what cannot be plotted.
    Plotter(const PMEM& pmem, const PlotRequest& request);

    bool is_line() const noexcept { return slice_.row < 0; }
    Side down() const { return side(slice_.row); }
    /// As large as there is room, by dots that are `dot_height` times as high as wide.
    HeatMap heat_map(const Extents& room, double dot_height) const;
    /// With `margins`, some room above the greatest number and below the least, for them to be seen.
    LinePlot line(std::size_t room, bool margins) const;
    /// What is plotted: id, selection and unit.
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
    std::string unit() const;
    Side side(int dimension) const;

    const PMEM& pmem_;
    const PlotRequest& request_;
    Info info_;
    Slice slice_;
    Limits limits_;
};

}  // namespace pmemcpy::cli
