#include <fmt/core.h>

#include <filesystem>
#include <memory>
#include <pmemcpy/exchange.hpp>
#include <system_error>

#include "cli/call/exit_code.hpp"
#include "cli/call/invocation.hpp"
#include "cli/copy/exchanged.hpp"
#include "cli/element/element.hpp"
#include "cli/pool/pools.hpp"
#include "cli/terminal/progress.hpp"
#include "cli/terminal/size.hpp"

namespace pmemcpy::cli {

namespace {

struct Arguments {
    std::vector<std::string> places;
    std::string into;
    std::string format;
    std::string codec;
    std::optional<std::string> max_size;
    bool strict = false;
};

/// Of data/run7.nc that is run7.
std::string stem_of(const std::string& file) {
    const std::filesystem::path path(file.ends_with('/') ? file.substr(0, file.size() - 1) : file);
    return path.stem().string();
}

/// Something that could be imported lies there.
bool is_of_others(const std::string& place) {
    std::error_code ignored;
    const bool has_content =
        std::filesystem::is_directory(place, ignored) ||
        (std::filesystem::is_regular_file(place, ignored) && std::filesystem::file_size(place, ignored) != 0);
    return has_content && !is_pool(place) && !place.ends_with(".pmem");
}

/// The last place is the pool, unless it is another file to import. Then each goes into a pool of its own.
std::string take_pool(std::vector<std::string>& places) {
    if (places.size() < 2 || is_of_others(places.back())) return {};
    std::string pool = places.back();
    places.pop_back();
    return pool;
}

int run_import(const Arguments& arguments, bool json) {
    std::vector<std::string> files = arguments.places;
    const std::string pool_of_all = take_pool(files);
    ImportOptions options;
    if (!arguments.format.empty()) options.format = parse_format(arguments.format);
    if (!arguments.codec.empty()) options.codec = parse_codec(arguments.codec);
    if (arguments.max_size) options.max_bytes = parse_size(*arguments.max_size);
    options.strict = arguments.strict;
    for (const std::string& file : files) {
        options.into = arguments.into;
        // In one pool they would be in each other's way.
        if (!pool_of_all.empty() && files.size() > 1)
            options.into += (options.into.empty() ? "" : "/") + stem_of(file);
        Progress progress("import");
        options.progress = [&](std::uint64_t done, std::uint64_t all) { progress.show(done, all); };
        const std::string pool = pool_of_all.empty() ? stem_of(file) + ".pmem" : pool_of_all;
        print_exchanged(import_file(pool, file, options), file, pool, json);
    }
    return exit_ok;
}

}  // namespace

void add_import(CLI::App& command, Invocation& invocation) {
    const auto arguments = std::make_shared<Arguments>();
    Verb(command, invocation, "import",
         "Bring a file of HDF5, NetCDF, Zarr or NumPy into a pool, all of it or nothing")
        .needs("FILE", arguments->places,
               "Files, or directories that are a Zarr; and last the pool, made if missing. Without one each "
               "file "
               "goes into a pool of its name with .pmem, in this directory")
        .takes("--into", arguments->into,
               "The group that all goes into. Of several files in one pool each has a group of its name, in "
               "there")
        .takes("--format", arguments->format,
               "hdf5, netcdf, zarr, npy or npz, where the file does not say it itself")
        .takes("--codec", arguments->codec, "Compress the arrays, which then have no view: lz4, zstd:5, ...")
        .takes("--max-size", arguments->max_size, "Of a pool that is made: how large it may grow")
        .takes("--strict", arguments->strict, "What cannot come over exactly is an error, not a warning")
        .takes_json("Print JSON, a line for each file")
        .tells(
            "Each file is imported whole or not at all; the first that fails ends the call, and what was "
            "imported "
            "before stays.\n")
        .runs([arguments](bool json) { return run_import(*arguments, json); });
}

}  // namespace pmemcpy::cli
