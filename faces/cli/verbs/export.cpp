#include <fmt/core.h>

#include <memory>
#include <pmemcpy/exchange.hpp>

#include "cli/call/exit_code.hpp"
#include "cli/call/invocation.hpp"
#include "cli/copy/exchanged.hpp"
#include "cli/pool/open.hpp"
#include "cli/pool/place.hpp"
#include "cli/terminal/progress.hpp"

namespace pmemcpy::cli {

namespace {

struct Arguments {
    std::string place;
    std::string file;
    std::string format;
    bool overwrite = false;
    bool strict = false;
    bool only_shared = false;
};

int run_export(const Arguments& arguments, bool json) {
    const Place place = parse_place(arguments.place);
    open_for_reading(place.pool);  // recovers it if it must be
    ExportOptions options;
    if (!arguments.format.empty()) options.format = parse_format(arguments.format);
    options.from = place.id;
    options.overwrite = arguments.overwrite;
    options.strict = arguments.strict;
    options.only_shared = arguments.only_shared;
    Progress progress("export");
    options.progress = [&](std::uint64_t done, std::uint64_t all) { progress.show(done, all); };
    const ExchangeReport report = export_file(place.pool, arguments.file, options);
    print_exchanged(report, arguments.place, arguments.file, json);
    return exit_ok;
}

}  // namespace

void add_export(CLI::App& command, Invocation& invocation) {
    const auto arguments = std::make_shared<Arguments>();
    Verb(command, invocation, "export",
         "Write a pool, a group or a variable to a new file of HDF5, NetCDF, Zarr or NumPy")
        .needs("PLACE", arguments->place, "POOL, or POOL:ID for a group or variable in it")
        .needs("FILE", arguments->file,
               "The file; its extension says the format: .h5 .hdf5 .he5 .nc .nc4 .cdf .zarr .npy .npz")
        .takes("--format", arguments->format, "hdf5, netcdf, netcdf3, zarr, npy or npz")
        .takes("--overwrite", arguments->overwrite, "Take the place of a file that is there")
        .takes("--strict", arguments->strict, "What the format cannot hold is an error, not a warning")
        .takes("--only-shared", arguments->only_shared, "Leave private objects out")
        .takes_json()
        .tells(
            "A file with private objects in it can be opened by its owner alone (mode 0600, a directory "
            "0700), "
            "and export says so.\n")
        .runs([arguments](bool json) { return run_export(*arguments, json); });
}

}  // namespace pmemcpy::cli
