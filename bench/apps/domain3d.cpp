// The main job: MPI ranks store and load their boxes of a 3-D domain in one shared pool, and are timed at it.

#include <mpi.h>

#include <cstdio>
#include <exception>

#include "arguments.hpp"
#include "job.hpp"
#include "ranks.hpp"
#include "report.hpp"

namespace {

int run(int argc, char** argv) {
    const domain3d::Ranks ranks(MPI_COMM_WORLD);
    int exit_status = 0;
    const auto arguments = domain3d::parse_arguments(argc, argv, ranks.is_first(), exit_status);
    if (!arguments) return exit_status;
    try {
        domain3d::Job job(*arguments, ranks);
        const domain3d::Report report = job.run();
        if (ranks.is_first()) {
            std::puts((arguments->json ? domain3d::to_json(report) : domain3d::to_line(report)).c_str());
        }
        return 0;
    } catch (const domain3d::Ranks::Failed&) {
        return 1;
    }
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    const int exit_status = run(argc, argv);
    MPI_Finalize();
    return exit_status;
}
