#include <adios.h>
#include <mpi.h>
#include <string>
int main(int, char** argv) {
    int rank, nprocs;
    MPI_Init(nullptr, nullptr);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nprocs);
    double data[100] = {0};
    std::string count = std::to_string(100);
    std::string off = std::to_string(100 * rank);
    std::string dimsf = std::to_string(100 * nprocs);
    int64_t group, file;
    adios_init_noxml(MPI_COMM_WORLD);
    adios_declare_group(&group, "dataset", "", adios_stat_default);
    adios_select_method(group, "MPI", "", "");
    adios_define_var(group, "A", "", adios_double, count.c_str(), dimsf.c_str(), off.c_str());
    adios_open(&file, "dataset", argv[1], "w", MPI_COMM_WORLD);
    adios_write(file, "A", data);
    adios_close(file);
    adios_finalize(rank);
    MPI_Finalize();
}
