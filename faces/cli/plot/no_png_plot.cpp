// What stands in for png_plot.cpp in a build without cairo.

#include <pmemcpy/error.hpp>

#include "cli/plot/png_plot.hpp"

namespace pmemcpy::cli {

namespace {

[[noreturn]] void refuse() {
    throw Error(Code::unsupported,
                "this pmemcpy was built without cairo, so it plots in the terminal only; build it with "
                "libcairo2-dev to "
                "have PNG files");
}

}  // namespace

void check_png() { refuse(); }
Extents room_for_heat_map(const PngSize&) { refuse(); }
std::size_t room_for_line(const PngSize&) { refuse(); }
std::vector<std::byte> png_of(const HeatMap&, const PngSize&) { refuse(); }
std::vector<std::byte> png_of(const LinePlot&, const PngSize&) { refuse(); }

}  // namespace pmemcpy::cli
