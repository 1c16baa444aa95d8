#include <pnetcdf.h>
int main(int, char** argv) {
    int rank, nprocs;
    MPI_Init(nullptr, nullptr);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nprocs);
    double data[100] = {0};
    MPI_Offset count = 100;
    MPI_Offset off = 100 * rank;
    MPI_Offset dimsf = 100 * nprocs;
    int file, dimension, variable;
    ncmpi_create(MPI_COMM_WORLD, argv[1], NC_64BIT_DATA, MPI_INFO_NULL, &file);
    ncmpi_def_dim(file, "x", dimsf, &dimension);
    ncmpi_def_var(file, "A", NC_DOUBLE, 1, &dimension, &variable);
    ncmpi_enddef(file);
    ncmpi_put_vara_double_all(file, variable, &off, &count, data);
    ncmpi_close(file);
    MPI_Finalize();
}
