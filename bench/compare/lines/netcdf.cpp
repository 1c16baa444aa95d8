#include <mpi.h>
#include <netcdf.h>
#include <netcdf_par.h>
int main(int, char** argv) {
    int rank, nprocs;
    MPI_Init(nullptr, nullptr);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nprocs);
    double data[100] = {0};
    size_t count = 100;
    size_t off = 100 * rank;
    size_t dimsf = 100 * nprocs;
    int file, dimension, variable;
    nc_create_par(argv[1], NC_NETCDF4, MPI_COMM_WORLD, MPI_INFO_NULL, &file);
    nc_def_dim(file, "x", dimsf, &dimension);
    nc_def_var(file, "A", NC_DOUBLE, 1, &dimension, &variable);
    nc_def_var_fill(file, variable, NC_NOFILL, nullptr);
    nc_enddef(file);
    nc_put_vara_double(file, variable, &off, &count, data);
    nc_close(file);
    MPI_Finalize();
}
