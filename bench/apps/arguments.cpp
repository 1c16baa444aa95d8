#include "arguments.hpp"

#include <CLI/CLI.hpp>
#include <iostream>
#include <map>
#include <sstream>

namespace domain3d {

namespace {

const std::map<std::string, pmemcpy::MapSync> map_sync_words{
    {"auto", pmemcpy::MapSync::automatic}, {"on", pmemcpy::MapSync::on}, {"off", pmemcpy::MapSync::off}};

void add_common(CLI::App& command, Arguments& arguments) {
    command
        .add_option("--pool", arguments.pool,
                    "the pool; a path that ends in / is a pool in the directory layout")
        ->required();
    command.add_option_function<std::string>(
        "--grid",
        [&arguments](const std::string& text) {
            try {
                arguments.grid = parse_grid(text);
            } catch (const std::invalid_argument& wrong) {
                throw CLI::ValidationError("--grid", wrong.what());
            }
        },
        "ranks along each dimension, as 2x2x1; else chosen by MPI_Dims_create");
    auto* variables = command
                          .add_option("--variables", arguments.variables,
                                      "how many generated variables; else 10 to write, all there are to read")
                          ->check(CLI::Range(1, 1'000'000));
    auto* input = command.add_option("--input", arguments.input, "a NetCDF file with the real values")
                      ->check(CLI::ExistingFile)
                      ->excludes(variables);
    auto* names =
        command
            .add_option("--variable", arguments.names, "a 3-D or 4-D field of it; may be given several times")
            ->needs(input);
    input->needs(names);
    command.add_flag("--verify", arguments.verify, "compare every bit afterwards, outside the timed part");
    command.add_flag("--memcpy", arguments.memcpy,
                     "measure in the same run what memcpy to or from a warm mapping reaches");
    command.add_option("--repeat", arguments.repeat, "how many times; the median counts")
        ->check(CLI::Range(1, 1000));
    command.add_flag("--json", arguments.json, "the result as JSON");
    command.add_option("--map-sync", arguments.map_sync, "on, off or auto; the paper's PMCPY-B is on")
        ->transform(CLI::CheckedTransformer(map_sync_words));
    command.add_option("--progress", arguments.progress, "always, never or auto, which is on a terminal")
        ->check(CLI::IsMember({"always", "never", "auto"}));
}

void add_write(CLI::App& command, Arguments& arguments) {
    command
        .add_option("--gib", arguments.gib,
                    "how many GiB to generate, of all variables and ranks together; else 1")
        ->check(CLI::Range(1e-6, 1e6))
        ->excludes("--input");
    command.add_flag("--reuse", arguments.reuse,
                     "overwrite the values in a pool, filled and compacted before the timed part");
    command.add_flag("--prepare", arguments.prepare,
                     "allocate the pool's space and its huge pages before the timed part");
    command.add_flag("!--no-checksums", arguments.checksums, "store no CRC-32C and no minimum and maximum");
}

}  // namespace

std::optional<Arguments> parse_arguments(int argc, char** argv, bool loud, int& exit_status) {
    Arguments arguments;
    CLI::App app{
        "domain3d: MPI ranks store and load the boxes of a 3-D domain, double precision, and are timed from "
        "opening the\n"
        "pool to closing it (Logan et al., pMEMCPY, section 4.1)",
        "domain3d"};
    app.require_subcommand(1);
    CLI::App* write = app.add_subcommand("write", "each rank stores its box of each variable");
    CLI::App* read =
        app.add_subcommand("read", "each rank loads its box, on any number of ranks and any grid");
    for (CLI::App* command : {write, read}) add_common(*command, arguments);
    add_write(*write, arguments);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        std::ostringstream quiet;
        const int status = loud ? app.exit(error) : app.exit(error, quiet, quiet);
        exit_status = status == 0 ? 0 : 2;
        return {};
    }
    arguments.is_write = write->parsed();
    return arguments;
}

}  // namespace domain3d
