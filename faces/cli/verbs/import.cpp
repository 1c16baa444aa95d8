#include <fmt/core.h>

#include <filesystem>
#include <memory>
#include <pmemcpy/exchange.hpp>

#include "cli/call/exit_code.hpp"
#include "cli/call/invocation.hpp"
#include "cli/copy/exchanged.hpp"
#include "cli/element/element.hpp"
#include "cli/terminal/progress.hpp"
#include "cli/terminal/size.hpp"

namespace pmemcpy::cli {

namespace {

struct Arguments {
    std::string file;
    std::string pool;
    std::string into;
    std::string format;
    std::string codec;
    std::optional<std::string> max_size;
    bool strict = false;
};

/// data/run7.nc -> run7.pmem, here.
std::string pool_named_after(const std::string& file) {
    const std::filesystem::path path(file.ends_with('/') ? file.substr(0, file.size() - 1) : file);
    return path.stem().string() + ".pmem";
}

int run_import(const Arguments& arguments, bool json) {
    ImportOptions options;
    if (!arguments.format.empty()) options.format = parse_format(arguments.format);
    if (!arguments.codec.empty()) options.codec = parse_codec(arguments.codec);
    if (arguments.max_size) options.max_bytes = parse_size(*arguments.max_size);
    options.into = arguments.into;
    options.strict = arguments.strict;
    Progress progress("import");
    options.progress = [&](std::uint64_t done, std::uint64_t all) { progress.show(done, all); };
    const std::string pool = arguments.pool.empty() ? pool_named_after(arguments.file) : arguments.pool;
    const ExchangeReport report = import_file(pool, arguments.file, options);
    print_exchanged(report, arguments.file, pool, json);
    return exit_ok;
}

}  // namespace

void add_import(CLI::App& command, Invocation& invocation) {
    const auto arguments = std::make_shared<Arguments>();
    Verb(command, invocation, "import",
         "Bring a file of HDF5, NetCDF, Zarr or NumPy into a pool, all of it or nothing")
        .needs("FILE", arguments->file, "The file, or the directory that is a Zarr")
        .takes("POOL", arguments->pool,
               "The pool, made if missing; without it the file's name with .pmem, in this directory")
        .takes("--into", arguments->into, "The group that all goes into")
        .takes("--format", arguments->format,
               "hdf5, netcdf, zarr, npy or npz, where the file does not say it itself")
        .takes("--codec", arguments->codec, "Compress the arrays, which then have no view: lz4, zstd:5, ...")
        .takes("--max-size", arguments->max_size, "Of a pool that is made: how large it may grow")
        .takes("--strict", arguments->strict, "What cannot come over exactly is an error, not a warning")
        .takes_json()
        .runs([arguments](bool json) { return run_import(*arguments, json); });
}

}  // namespace pmemcpy::cli
