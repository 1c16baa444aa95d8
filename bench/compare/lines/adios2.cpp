#include <adios2.h>
#include <mpi.h>
int main(int, char** argv) {
    int rank, nprocs;
    MPI_Init(nullptr, nullptr);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nprocs);
    double data[100] = {0};
    size_t count = 100;
    size_t off = 100 * rank;
    size_t dimsf = 100 * nprocs;
    adios2::ADIOS adios;
    adios2::IO io = adios.DeclareIO("dataset");
    auto variable = io.DefineVariable<double>("A", {dimsf}, {off}, {count});
    adios2::Engine engine = io.Open(argv[1] + std::to_string(rank), adios2::Mode::Write);
    engine.BeginStep();
    engine.Put(variable, data);
    engine.EndStep();
    engine.Close();
    MPI_Finalize();
}
