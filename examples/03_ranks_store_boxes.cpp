// MPI ranks share one pool: each stores its rows of a matrix, and then loads a column of all rows.
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
    const std::string path = argc > 1 ? argv[1] : "/dev/shm/example.pool";
    const auto me = static_cast<std::size_t>(rank);
    const std::size_t rows = 10;  // of each rank
    const std::size_t all_rows = rows * static_cast<std::size_t>(ranks);
    const std::size_t columns = 8;

    pmemcpy::PMEM pmem;
    pmem.mmap(path, MPI_COMM_WORLD);  // collective; nothing else is

    // Every rank says what the matrix is like, and stores its box of it. No rank waits for another.
    pmem.alloc<int>("matrix", {all_rows, columns});
    const std::vector<int> mine(rows * columns, rank);
    pmem.store<int>("matrix", mine.data(), pmemcpy::Box{{rows * me, 0}, {rows, columns}});

    // Who wants to read what others store waits for them: that is the program's own business.
    MPI_Barrier(MPI_COMM_WORLD);
    std::vector<int> column(all_rows);
    pmem.load<int>("matrix", column.data(), pmemcpy::Box{{0, me % columns}, {all_rows, 1}});
    bool is_right = true;
    for (std::size_t i = 0; i < all_rows; ++i) is_right = is_right && column[i] == static_cast<int>(i / rows);
    std::printf("rank %d found %s in column %zu\n", rank, is_right ? "all ranks" : "an error", me % columns);

    MPI_Finalize();
    return is_right ? 0 : 1;
}
