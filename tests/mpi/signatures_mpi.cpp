// The signatures of both figures with a communicator: every rank calls each of them.
#include <filesystem>
#include <pmemcpy/pmemcpy.hpp>
#include <string>

#include "check.hpp"
#include "signatures.hpp"

int main(int argc, char** argv) {
    return mpi_test::main_with(argc, argv, [&] {
        // pmem.mmap(std::string filename, int comm): the communicator is an int in MPICH only.
        std::string filename = argv[1];
        MPI_Comm comm = MPI_COMM_WORLD;
        pmap::PMEM pmem;
        pmem.mmap(filename, comm);
        const auto equal = [](const auto& found, const auto& expected) { EXPECT_EQUAL(found, expected); };
        signatures::call_all(pmem, "rank " + std::to_string(mpi_test::rank()) + "/", equal);
        // All ranks on the same ids: each stores the same, so that each finds what it has stored.
        signatures::call_all(pmem, "all/", equal);
        pmem.munmap();
    });
}
