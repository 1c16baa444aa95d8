// A run goes on from the last complete step, on as many ranks as there are this time: each loads its rows, whoever stored them.
#include <mpi.h>

#include <cstdio>
#include <pmemcpy/mpi.hpp>
#include <string>
#include <vector>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank = 0;
    int ranks = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const std::size_t n = 1200;
    const std::size_t first = n * static_cast<std::size_t>(rank) / static_cast<std::size_t>(ranks);
    const std::size_t end = n * static_cast<std::size_t>(rank + 1) / static_cast<std::size_t>(ranks);
    const pmemcpy::Box mine{{first}, {end - first}};
    std::vector<double> u(end - first, 0.0);

    pmemcpy::PMEM pmem;
    pmem.mmap(argc > 1 ? argv[1] : "/dev/shm/example.pool", MPI_COMM_WORLD);
    pmem.alloc<double>("u", {n});
    std::uint64_t step = pmem.info().committed_step;  // 0: a new run
    if (step != 0) pmem.load<double>("u", u.data(), mine);
    const std::uint64_t begun_at = step;
    MPI_Barrier(MPI_COMM_WORLD);  // all know where to go on, before one commits more
    while (step < begun_at + 3) {
        for (double& x : u) x += 1;
        pmem.begin(++step);
        pmem.store<double>("u", u.data(), mine);
        MPI_Barrier(MPI_COMM_WORLD);  // whoever is killed before the commit leaves the step before
        if (rank == 0) pmem.commit(step);
    }
    const bool is_right = u.front() == static_cast<double>(step) && u.back() == static_cast<double>(step);
    std::printf("rank %d of %d: steps %lu to %lu\n", rank, ranks, begun_at + 1, step);
    MPI_Finalize();
    return is_right ? 0 : 1;
}
