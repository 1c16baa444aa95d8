#include <pmemcpy/pmemcpy.h>
int main(int, char** argv) {
    int rank, nprocs;
    MPI_Init(nullptr, nullptr);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nprocs);
    double data[100] = {0};
    pmemcpy::PMEM pmem;
    size_t count = 100;
    size_t off = 100 * rank;
    size_t dimsf = 100 * nprocs;
    pmem.mmap(argv[1], MPI_COMM_WORLD);
    pmem.alloc<double>("A", 1, &dimsf);
    pmem.store<double>("A", data, 1, &off, &count);
    MPI_Finalize();
}
