#include "decomposition.hpp"

#include <cmath>
#include <cstdio>
#include <stdexcept>

namespace domain3d {

Grid parse_grid(const std::string& text) {
    Grid grid{};
    int end = 0;
    const int found = std::sscanf(text.c_str(), "%dx%dx%d%n", &grid[0], &grid[1], &grid[2], &end);
    if (found != 3 || static_cast<std::size_t>(end) != text.size() || grid[0] < 1 || grid[1] < 1 ||
        grid[2] < 1) {
        throw std::invalid_argument("a grid is written as 2x2x1, not as '" + text + "'");
    }
    return grid;
}

std::string to_string(const Grid& grid) {
    return std::to_string(grid[0]) + "x" + std::to_string(grid[1]) + "x" + std::to_string(grid[2]);
}

pmemcpy::Dimensions near_cube(double gib, int variables) {
    const double elements = gib * 1024 * 1024 * 1024 / sizeof(double) / variables;
    const auto whole = [](double x) { return static_cast<pmemcpy::Extent>(std::max(1.0, std::round(x))); };
    const auto side = whole(std::cbrt(elements));
    return {whole(elements / static_cast<double>(side * side)), side, side};
}

pmemcpy::Box part_of(const pmemcpy::Dimensions& domain, const Grid& grid, int rank) {
    const std::array<int, 3> place{rank / (grid[1] * grid[2]), rank / grid[2] % grid[1], rank % grid[2]};
    pmemcpy::Box box = pmemcpy::Box::whole(domain);
    const int first = domain.size() - 3;
    for (int d = 0; d < 3; ++d) {
        const auto at = static_cast<std::size_t>(d);
        const auto ranks = static_cast<pmemcpy::Extent>(grid[at]);
        const auto index = static_cast<pmemcpy::Extent>(place[at]);
        const pmemcpy::Extent extent = domain[first + d];
        if (extent < ranks) {
            throw std::invalid_argument("a domain of " + pmemcpy::to_string(domain) +
                                        " cannot be divided among " + to_string(grid) +
                                        " ranks: choose another --grid");
        }
        box.offset[first + d] = extent * index / ranks;
        box.count[first + d] = extent * (index + 1) / ranks - box.offset[first + d];
    }
    return box;
}

}  // namespace domain3d
