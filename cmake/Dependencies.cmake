# What the library needs, and what it can use when it is there. Each optional one says in one line what is lost without it.

find_package(Threads REQUIRED)

function(pmemcpy_report name found lost)
    if(found)
        message(STATUS "${name}: found")
    else()
        message(STATUS "${name}: not found, ${lost}")
    endif()
endfunction()

# A library that comes as a header and a -l name: an imported target for our build, the bare name for the exported one,
# so that no path of the machine it was built on ends up in the installed package.
function(pmemcpy_find_plain name header library)
    find_path(PMEMCPY_${name}_INCLUDE ${header})
    find_library(PMEMCPY_${name}_LIBRARY ${library})
    mark_as_advanced(PMEMCPY_${name}_INCLUDE PMEMCPY_${name}_LIBRARY)
    if(PMEMCPY_${name}_INCLUDE AND PMEMCPY_${name}_LIBRARY)
        add_library(pmemcpy_plain_${name} UNKNOWN IMPORTED GLOBAL)
        set_target_properties(pmemcpy_plain_${name} PROPERTIES
            IMPORTED_LOCATION "${PMEMCPY_${name}_LIBRARY}"
            INTERFACE_INCLUDE_DIRECTORIES "${PMEMCPY_${name}_INCLUDE}")
    endif()
endfunction()

# The one library that the core needs, and of it a header alone: nothing of it is linked.
find_path(PMEMCPY_xxhash_INCLUDE xxhash.h)
mark_as_advanced(PMEMCPY_xxhash_INCLUDE)
if(NOT PMEMCPY_xxhash_INCLUDE)
    message(FATAL_ERROR "pMEMCPY needs xxhash.h of xxHash 0.8 or newer. On Debian: apt-get install libxxhash-dev; elsewhere set "
                        "PMEMCPY_xxhash_INCLUDE to the folder that holds it, which any copy of xxHash's sources does.")
endif()

pmemcpy_find_plain(blosc blosc.h blosc)
pmemcpy_report(blosc "${PMEMCPY_blosc_LIBRARY}" "codec blosc is unsupported")
pmemcpy_find_plain(yaml yaml-cpp/yaml.h yaml-cpp)
pmemcpy_report(yaml-cpp "${PMEMCPY_yaml_LIBRARY}" "pools can have no hierarchy of targets")
pmemcpy_find_plain(acl sys/acl.h acl)
pmemcpy_report(acl "${PMEMCPY_acl_LIBRARY}" "namespaces cannot be shared with others (grants)")

find_package(cereal CONFIG QUIET)
pmemcpy_report(cereal "${cereal_FOUND}" "serializer cereal is unsupported")
find_package(CapnProto CONFIG QUIET)
pmemcpy_report(capnproto "${CapnProto_FOUND}" "serializer capnproto is unsupported")

# For src/exchange, and for bench/apps, which reads its real input from NetCDF files.
pmemcpy_find_plain(netcdf netcdf.h netcdf)
pmemcpy_report(netcdf "${PMEMCPY_netcdf_LIBRARY}" "domain3d reads no --input files, and none can be imported")

# For src/exchange: the serial HDF5, also where one with MPI lies beside it. Debian gives each a folder.
find_path(PMEMCPY_hdf5_INCLUDE hdf5.h PATH_SUFFIXES hdf5/serial)
find_library(PMEMCPY_hdf5_LIBRARY NAMES hdf5_serial hdf5)
find_library(PMEMCPY_hdf5_hl_LIBRARY NAMES hdf5_serial_hl hdf5_hl)
mark_as_advanced(PMEMCPY_hdf5_INCLUDE PMEMCPY_hdf5_LIBRARY PMEMCPY_hdf5_hl_LIBRARY)
if(PMEMCPY_hdf5_INCLUDE AND PMEMCPY_hdf5_LIBRARY AND PMEMCPY_hdf5_hl_LIBRARY)
    set(PMEMCPY_HDF5_FOUND ON)
    add_library(pmemcpy_hdf5 INTERFACE IMPORTED GLOBAL)
    target_include_directories(pmemcpy_hdf5 SYSTEM INTERFACE "${PMEMCPY_hdf5_INCLUDE}")
    target_link_libraries(pmemcpy_hdf5 INTERFACE "${PMEMCPY_hdf5_hl_LIBRARY}" "${PMEMCPY_hdf5_LIBRARY}")
endif()
pmemcpy_report(hdf5 "${PMEMCPY_HDF5_FOUND}" "no HDF5 can be imported or exported")

# For src/exchange: what Zarr's chunks are compressed with.
pmemcpy_find_plain(zlib zlib.h z)
pmemcpy_find_plain(zstd zstd.h zstd)
if(TARGET pmemcpy_plain_zlib AND TARGET pmemcpy_plain_zstd AND TARGET pmemcpy_plain_blosc)
    set(PMEMCPY_ZARR_FOUND ON)
endif()
pmemcpy_report("zlib, zstd and blosc" "${PMEMCPY_ZARR_FOUND}" "no Zarr can be imported or exported")

# For src/exchange: a .npz is an archive of .npy files, which need no library.
pmemcpy_find_plain(zip zip.h zip)
pmemcpy_report(zip "${PMEMCPY_zip_LIBRARY}" "no .npz can be imported or exported")

# For faces/cli.
find_package(CLI11 CONFIG QUIET)
find_package(nlohmann_json CONFIG QUIET)
find_package(fmt CONFIG QUIET)
if(CLI11_FOUND AND nlohmann_json_FOUND AND fmt_FOUND)
    set(PMEMCPY_CLI_FOUND ON)
endif()
pmemcpy_report("CLI11, nlohmann_json and fmt" "${PMEMCPY_CLI_FOUND}" "the pmemcpy command is not built")

# For faces/python: what pip builds with, or the tools of `./run setup`. A build that is watched by a sanitizer has none, for Python
# itself is not.
if(SKBUILD)
    find_package(Python 3.10 REQUIRED COMPONENTS Interpreter Development.Module)
    find_package(nanobind CONFIG REQUIRED)
    set(PMEMCPY_NANOBIND_FOUND ON)
elseif(EXISTS "${PROJECT_SOURCE_DIR}/build/venv/bin/python" AND NOT PMEMCPY_SANITIZE AND NOT PMEMCPY_TRACE)
    set(Python_EXECUTABLE "${PROJECT_SOURCE_DIR}/build/venv/bin/python")
    find_package(Python 3.10 QUIET COMPONENTS Interpreter Development.Module)
    execute_process(COMMAND "${Python_EXECUTABLE}" -m nanobind --cmake_dir
                    OUTPUT_VARIABLE nanobind_ROOT OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    if(Python_Development.Module_FOUND AND nanobind_ROOT)
        find_package(nanobind CONFIG QUIET)
        set(PMEMCPY_NANOBIND_FOUND "${nanobind_FOUND}")
    endif()
endif()
pmemcpy_report("nanobind" "${PMEMCPY_NANOBIND_FOUND}" "the Python package is not built here")

# For tests, examples and bench/apps; the library links no MPI. Each flavour found is a target of its own, because one
# and the same libpmemcpy has to serve both, and FindMPI can find only one in a build.
find_package(PkgConfig QUIET)
set(PMEMCPY_MPI_FLAVOURS "")
if(PkgConfig_FOUND)
    pkg_check_modules(ompi-cxx QUIET IMPORTED_TARGET GLOBAL ompi-cxx)
    pkg_check_modules(mpich QUIET IMPORTED_TARGET GLOBAL mpich)
endif()
find_program(PMEMCPY_openmpi_RUN mpirun.openmpi)
find_program(PMEMCPY_mpich_RUN mpirun.mpich)
if(ompi-cxx_FOUND AND PMEMCPY_openmpi_RUN)
    list(APPEND PMEMCPY_MPI_FLAVOURS openmpi)
endif()
if(mpich_FOUND AND PMEMCPY_mpich_RUN)
    list(APPEND PMEMCPY_MPI_FLAVOURS mpich)
endif()
if(PMEMCPY_SANITIZE AND PMEMCPY_MPI_FLAVOURS)
    list(GET PMEMCPY_MPI_FLAVOURS 0 PMEMCPY_MPI_FLAVOURS)  # what is watched is our own code, which is the same in both
endif()
# For faces/cli, which draws with it.
if(PkgConfig_FOUND)
    pkg_check_modules(cairo QUIET IMPORTED_TARGET GLOBAL cairo-png)
endif()
pmemcpy_report("cairo" "${cairo_FOUND}" "pmemcpy plot writes no PNG files")

pmemcpy_report("Open MPI" "${ompi-cxx_FOUND}" "programs with MPI are not built and tested with it")
pmemcpy_report("MPICH" "${mpich_FOUND}" "programs with MPI are not built and tested with it")

if(PMEMCPY_TESTS)
    find_package(GTest CONFIG REQUIRED)
endif()
find_package(benchmark CONFIG QUIET)
pmemcpy_report("Google Benchmark" "${benchmark_FOUND}" "bench/micro is not built")
