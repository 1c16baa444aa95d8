# Debian's cross compiler for 64-bit Arm, the libraries that tools/arm_root has unpacked, and QEMU, which runs what is built.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)

# The second root has what comes with the compiler: the C and C++ libraries.
get_filename_component(root "${CMAKE_CURRENT_LIST_DIR}/../build/aarch64-root" ABSOLUTE)
set(CMAKE_FIND_ROOT_PATH "${root}" /usr/aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(ENV{PKG_CONFIG_LIBDIR} "${root}/usr/lib/aarch64-linux-gnu/pkgconfig")

# Libraries need others of that root, of which no program knows the place.
set(libraries "${root}/usr/lib/aarch64-linux-gnu:${root}/lib/aarch64-linux-gnu")
set(CMAKE_EXE_LINKER_FLAGS_INIT "-Wl,-rpath-link,${libraries}")
# A processor that is, for the "max" of QEMU 7.2 announces dc cvap, which no program can execute there. Less address space for an index, for
# QEMU keeps a note of each page. All of it is in the environment, so that a test can start itself again (tests/processes/worker.hpp).
set(emulator qemu-aarch64-static)
set(CMAKE_CROSSCOMPILING_EMULATOR env QEMU_CPU=cortex-a72 QEMU_LD_PREFIX=/usr/aarch64-linux-gnu "LD_LIBRARY_PATH=${libraries}"
                                      PMEMCPY_INDEX_BYTES=1073741824 PMEMCPY_EMULATOR=${emulator} ${emulator})
