// Figure 6 of the poster, word for word but for its typo: data[100] is printed there, of which it stores 500.
#include <pmap/pmap.h>
int main(int argc, char** argv) {
    int rank, nprocs;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nprocs);
    pmap::PMEM pmem;
    size_t count = 500;
    size_t off = count * rank;
    size_t dimsf = count * nprocs;
    char* path = argv[1];

    double data[500] = {0};
    pmem.mmap(path, MPI_COMM_WORLD);
    pmem.alloc<double>("A", 1, &dimsf);
    pmem.store<double>("A", data, 1, &off, &count);
    MPI_Finalize();
}
