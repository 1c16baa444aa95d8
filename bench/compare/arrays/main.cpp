// One library at one pattern, as every contender's program: prints one line of JSON.

#include <mpi.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "run.hpp"

namespace {

namespace arrays = compare::arrays;
using nlohmann::ordered_json;

ordered_json all_variants() {
    ordered_json all = ordered_json::array();
    for (const arrays::Variant& variant : arrays::variants)
        all.push_back({{"name", variant.name}, {"what", variant.what}});
    return all;
}

ordered_json measure(const arrays::Arguments& arguments, int ranks) {
    ordered_json result{
        {"variant", arguments.variant}, {"pattern", arguments.pattern.name}, {"ranks", ranks}};
    try {
        const arrays::Measured measured = run(arguments, MPI_COMM_WORLD);
        result["seconds"] = measured.seconds;
        result["bytes"] = measured.bytes;
        result["calls"] = measured.calls;
        result["page_faults"] = measured.page_faults;
        result["verified"] = arguments.verifies;
    } catch (const arrays::Unsupported& why) {  // thrown by all ranks alike
        result["unsupported"] = why.what();
    }
    return result;
}

int run(int argc, char** argv) {
    int rank = 0;
    int ranks = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int exit_status = 0;
    const auto arguments = arrays::parse_arguments(argc, argv, rank == 0, exit_status);
    if (!arguments) return exit_status;
    const ordered_json result = arguments->tells_variants ? all_variants() : measure(*arguments, ranks);
    if (rank == 0) std::puts(result.dump().c_str());
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int exit_status = 1;
    try {
        exit_status = run(argc, argv);
    } catch (const std::exception& error) {
        // The other ranks may wait for this one for ever.
        std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Finalize();
    return exit_status;
}
