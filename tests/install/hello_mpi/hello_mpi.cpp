// Two ranks store a half each of an array of 42 ones; the first adds up what both stored.
#include <mpi.h>

#include <cstddef>
#include <iostream>
#include <numeric>
#include <pmemcpy/pmemcpy.hpp>
#include <string>
#include <vector>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank = 0;
    int ranks = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);

    std::size_t count = 42 / static_cast<std::size_t>(ranks);
    std::size_t total = 42;
    std::size_t offset = count * static_cast<std::size_t>(rank);
    std::vector<int> ones(total, 1);

    pmemcpy::PMEM pmem;
    pmem.mmap(argv[1], MPI_COMM_WORLD);
    pmem.alloc<int>("ones", 1, &total);
    pmem.store<int>("ones", ones.data(), 1, &offset, &count);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        std::vector<int> all(total);
        std::size_t start = 0;
        pmem.load<int>("ones", all.data(), 1, &start, &total);
        std::cout << "the answer is " << std::accumulate(all.begin(), all.end(), 0) << std::endl;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    pmem.munmap();
    MPI_Finalize();
}
