#include <hdf5.h>
int main(int, char** argv) {
    int rank, nprocs;
    MPI_Init(nullptr, nullptr);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nprocs);
    double data[100] = {0};
    hsize_t count = 100;
    hsize_t off = 100 * rank;
    hsize_t dimsf = 100 * nprocs;

    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL);
    hid_t file = H5Fcreate(argv[1], H5F_ACC_TRUNC, H5P_DEFAULT, access);
    H5Pclose(access);

    hid_t filespace = H5Screate_simple(1, &dimsf, nullptr);
    hid_t dataset = H5Dcreate(file, "A", H5T_NATIVE_DOUBLE, filespace, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    hid_t memspace = H5Screate_simple(1, &count, nullptr);
    H5Sselect_hyperslab(filespace, H5S_SELECT_SET, &off, nullptr, &count, nullptr);
    H5Dwrite(dataset, H5T_NATIVE_DOUBLE, memspace, filespace, H5P_DEFAULT, data);

    H5Sclose(memspace);
    H5Dclose(dataset);
    H5Sclose(filespace);
    H5Fclose(file);
    MPI_Finalize();
}
