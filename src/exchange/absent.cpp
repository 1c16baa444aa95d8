// Formats whose libraries were not there when this was built.

#include "exchange/formats.hpp"

namespace pmemcpy::exchange {

namespace {

[[maybe_unused, noreturn]] void refuse_format(const char* format, const char* package) {
    throw Error(Code::unsupported,
                std::string("this build of pMEMCPY knows no ") + format +
                    ": its library was not there when it was made. On Debian: apt-get install " + package +
                    ", then build it again");
}

[[maybe_unused, noreturn]] void refuse_yet(const char* format) {
    throw Error(Code::unsupported,
                std::string("this version of pMEMCPY does not import and export ") + format + " yet");
}

}  // namespace

#if !defined(PMEMCPY_HAVE_HDF5)
void read_hdf5(const std::string&, Intake&) { refuse_format("HDF5", "libhdf5-dev"); }
void write_hdf5(const std::string&, Holding&) { refuse_format("HDF5", "libhdf5-dev"); }
#endif

#if !defined(PMEMCPY_HAVE_NETCDF)
void read_netcdf(const std::string&, Intake&) { refuse_format("NetCDF", "libnetcdf-dev"); }
void write_netcdf(const std::string&, Holding&, bool) { refuse_format("NetCDF", "libnetcdf-dev"); }
#endif

#if !defined(PMEMCPY_HAVE_ZARR)
void read_zarr(const std::string&, Intake&) { refuse_format("Zarr", "zlib1g-dev libzstd-dev libblosc-dev"); }
void write_zarr(const std::string&, Holding&) {
    refuse_format("Zarr", "zlib1g-dev libzstd-dev libblosc-dev");
}
#endif

#if !defined(PMEMCPY_HAVE_NPZ)
void read_npz(const std::string&, Intake&) { refuse_format(".npz", "libzip-dev"); }
void write_npz(const std::string&, Holding&) { refuse_format(".npz", "libzip-dev"); }
#endif

}  // namespace pmemcpy::exchange
