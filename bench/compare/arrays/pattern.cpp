#include "pattern.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <stdexcept>

#include "bench/apps/decomposition.hpp"

namespace compare::arrays {
namespace {

using domain3d::part_of;
using pmemcpy::Box;
using pmemcpy::Dimensions;
using pmemcpy::Extent;
using pmemcpy::Selection;

constexpr Extent small_side = 16;          // of the boxes of `boxes`
constexpr Extent particles_in_run = 1024;  // that `particles-random` takes or leaves together
constexpr Extent planes = 16;

domain3d::Grid grid_of(int ranks) {
    domain3d::Grid grid{};
    MPI_Dims_create(ranks, 3, grid.data());
    return grid;
}

std::string name_of(std::size_t array) { return std::string(1, 'v').append(std::to_string(array)); }

Pattern every_array_in_one_box(const PatternSize& size, const Dimensions& shape, const domain3d::Grid& grid,
                               int rank) {
    Pattern pattern;
    pattern.content.steps = size.steps;
    const Box mine = part_of(shape, grid, rank);
    for (std::size_t a = 0; a < static_cast<std::size_t>(size.arrays); ++a)
        pattern.content.arrays.push_back(
            {name_of(a), Element::float64, shape, part_of(shape, grid, 0).count});
    for (std::uint64_t step = 0; step < size.steps; ++step)
        for (std::size_t a = 0; a < pattern.content.arrays.size(); ++a)
            pattern.written.push_back({step, a, mine});
    return pattern;
}

Dimensions cube(const PatternSize& size) {
    const double gib = static_cast<double>(size.bytes) / static_cast<double>(1ULL << 30);
    return domain3d::near_cube(gib / static_cast<double>(size.steps), size.arrays);
}

Pattern domain(const PatternSize& size, int rank, int ranks) {
    Pattern pattern = every_array_in_one_box(size, cube(size), grid_of(ranks), rank);
    pattern.read = pattern.written;
    return pattern;
}

// Ranks store slabs and load panels, whose rows are so many bytes.
Pattern rows(const PatternSize& size, int rank, int ranks) {
    const Extent width = std::max<Extent>(size.row_bytes / sizeof(double), 1);
    const auto all = static_cast<Extent>(ranks);
    const Extent panels = (7 + all) / all * all;  // at least 8, and equally many for each rank
    const double others =
        static_cast<double>(size.bytes) / sizeof(double) / size.arrays / static_cast<double>(width * panels);
    const auto side = std::max(all, static_cast<Extent>(std::sqrt(others)));
    const Dimensions shape{side, side, width * panels};
    Pattern pattern = every_array_in_one_box(size, shape, {ranks, 1, 1}, rank);
    for (const Piece& written : pattern.written) {
        for (Extent n = 0; n < panels / all; ++n) {
            const Extent panel = n * all + static_cast<Extent>(rank);
            pattern.read.push_back(
                {written.step, written.array, Selection{{0, 0, panel * width}, {side, side, width}}});
        }
    }
    return pattern;
}

// Small cubes that fill a rank's own box, as an analysis that walks over the domain asks for.
Pattern boxes(const PatternSize& size, int rank, int ranks) {
    Pattern pattern = every_array_in_one_box(size, cube(size), grid_of(ranks), rank);
    // As many along each side for every rank, though some have an element more.
    const Dimensions least = [&] {
        Dimensions smallest = pattern.content.arrays[0].chunk;
        for (int r = 0; r < ranks; ++r) {
            const Box box = part_of(pattern.content.arrays[0].shape, grid_of(ranks), r);
            for (int d = 0; d < 3; ++d) smallest[d] = std::min(smallest[d], box.count[d]);
        }
        return smallest;
    }();
    for (const Piece& written : pattern.written) {
        const Dimensions& first = written.where.offset;
        for (Extent i = 0; i + small_side <= least[0]; i += small_side)
            for (Extent j = 0; j + small_side <= least[1]; j += small_side)
                for (Extent k = 0; k + small_side <= least[2]; k += small_side)
                    pattern.read.push_back({written.step, written.array,
                                            Selection{{first[0] + i, first[1] + j, first[2] + k},
                                                      {small_side, small_side, small_side}}});
    }
    return pattern;
}

// Every second element along each dimension, of a rank's own box.
Pattern strided(const PatternSize& size, int rank, int ranks) {
    Pattern pattern = every_array_in_one_box(size, cube(size), grid_of(ranks), rank);
    for (const Piece& written : pattern.written) {
        Dimensions half = written.where.count;
        for (Extent& extent : half) extent = (extent + 1) / 2;
        pattern.read.push_back(
            {written.step, written.array, Selection{written.where.offset, half, Dimensions::filled(3, 2)}});
    }
    return pattern;
}

// Planes across the fastest dimension: rows of one element, which lie in all the boxes that the plane cuts.
Pattern across(const PatternSize& size, int rank, int ranks) {
    Pattern pattern = every_array_in_one_box(size, cube(size), grid_of(ranks), rank);
    for (const Piece& written : pattern.written) {
        const Dimensions& shape = pattern.content.arrays[written.array].shape;
        for (Extent p = 0; p < planes; ++p) {
            const Extent at = (p * static_cast<Extent>(ranks) + static_cast<Extent>(rank)) * shape[2] /
                              (planes * static_cast<Extent>(ranks));
            pattern.read.push_back(
                {written.step, written.array, Selection{{0, 0, at}, {shape[0], shape[1], 1}}});
        }
    }
    return pattern;
}

// What VPIC-IO writes in each time step (Byna et al., SC 2012): eight variables of each particle, four bytes each.
Pattern particles(const PatternSize& size, int rank, int ranks) {
    constexpr const char* names[] = {"x", "y", "z", "px", "py", "pz", "id1", "id2"};
    const auto all = static_cast<Extent>(ranks);
    const Extent mine = std::max<Extent>(size.bytes / size.steps / 8 / 4 / all, particles_in_run * 10);
    Pattern pattern;
    pattern.content.steps = size.steps;
    for (const std::string name : names) {
        const Element element = name.starts_with("id") ? Element::int32 : Element::float32;
        pattern.content.arrays.push_back({name, element, {mine * all}, {mine}});
    }
    for (std::uint64_t step = 0; step < size.steps; ++step)
        for (std::size_t a = 0; a < 8; ++a)
            pattern.written.push_back({step, a, Selection{{mine * static_cast<Extent>(rank)}, {mine}}});
    pattern.read = pattern.written;  // BDCATS-IO reads what VPIC-IO has written, each rank an equal part
    return pattern;
}

// A tenth of the particles in one piece, divided among the ranks; not the part that a rank has written.
Pattern particles_slice(const PatternSize& size, int rank, int ranks) {
    Pattern pattern = particles(size, rank, ranks);
    for (Piece& piece : pattern.read) {
        const Extent all = pattern.content.arrays[piece.array].shape[0];
        const Extent mine = all / 10 / static_cast<Extent>(ranks);
        piece.where = Selection{{all * 45 / 100 + mine * static_cast<Extent>(rank)}, {mine}};
    }
    return pattern;
}

// A tenth of the particles, in runs drawn from the seed, none of them twice: in one call of many requests PnetCDF fills one of two that
// ask for the same elements, and leaves the other as it was.
Pattern particles_random(const PatternSize& size, int rank, int ranks) {
    Pattern pattern = particles(size, rank, ranks);
    const std::vector<Piece> whole = std::move(pattern.read);
    pattern.read.clear();
    std::mt19937_64 random(size.seed + static_cast<std::uint64_t>(rank));
    const Extent runs = pattern.content.arrays[0].shape[0] / particles_in_run;
    std::vector<Extent> drawn(runs);
    std::iota(drawn.begin(), drawn.end(), Extent{0});
    std::shuffle(drawn.begin(), drawn.end(), random);
    drawn.resize(runs / 10 / static_cast<Extent>(ranks));
    for (const Piece& piece : whole)
        for (const Extent run : drawn)
            pattern.read.push_back(
                {piece.step, piece.array, Selection{{run * particles_in_run}, {particles_in_run}}});
    return pattern;
}

// The traffic of the NAS benchmark BT-IO: vectors of five in each point of a cubic grid, which is divided so that each of
// q*q ranks has q cells along a diagonal; all is written after some time steps, and synced.
Pattern bt(const PatternSize& size, int rank, int ranks) {
    const auto q = static_cast<Extent>(std::lround(std::sqrt(ranks)));
    if (q * q != static_cast<Extent>(ranks))
        throw Unsupported("bt is for a square number of ranks, not for " + std::to_string(ranks));
    const double points =
        static_cast<double>(size.bytes) / static_cast<double>(size.steps) / 5 / sizeof(double);
    const Extent side = std::max<Extent>(1, static_cast<Extent>(std::cbrt(points)) / q) * q;
    const Extent cell = side / q;
    Pattern pattern;
    pattern.syncs_each_step = true;
    pattern.content.steps = size.steps;
    pattern.content.arrays.push_back({"u", Element::float64, {side, side, side, 5}, {cell, cell, cell, 5}});
    const Extent i = static_cast<Extent>(rank) / q, j = static_cast<Extent>(rank) % q;
    for (std::uint64_t step = 0; step < size.steps; ++step) {
        for (Extent c = 0; c < q; ++c) {
            const Dimensions offset{c * cell, (j + c) % q * cell, (i + q - c) % q * cell, 0};
            pattern.written.push_back({step, 0, Selection{offset, {cell, cell, cell, 5}}});
        }
    }
    pattern.read = pattern.written;
    return pattern;
}

using Make = Pattern (*)(const PatternSize&, int, int);
struct Known {
    const char* name;
    const char* what;
    Make make;
};
constexpr Known known[] = {
    {"domain", "boxes of 3-D arrays of doubles; each rank reads what it wrote", domain},
    {"rows", "slabs are written; panels of rows of --row-bytes are read", rows},
    {"boxes", "as domain; read in cubes of 16 elements a side", boxes},
    {"strided", "as domain; every second element along each dimension is read", strided},
    {"across", "as domain; planes across the fastest dimension are read", across},
    {"particles", "VPIC-IO: eight variables of each particle, every step; read whole, as BDCATS-IO does",
     particles},
    {"particles-slice", "the same; a tenth is read in one piece", particles_slice},
    {"particles-random", "the same; a tenth is read in random runs of 1,024 particles", particles_random},
    {"bt", "BT-IO: diagonal cells of 5-vectors, synced after every step", bt},
};

}  // namespace

const std::vector<std::pair<std::string, std::string>> pattern_names = [] {
    std::vector<std::pair<std::string, std::string>> names;
    for (const Known& each : known) names.emplace_back(each.name, each.what);
    return names;
}();

Pattern make_pattern(const PatternSize& size, int rank, int ranks) {
    for (const Known& each : known)
        if (size.name == each.name) return each.make(size, rank, ranks);
    throw std::invalid_argument("there is no pattern " + size.name);
}

}  // namespace compare::arrays
