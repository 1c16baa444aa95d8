#include "exchange/hdf5/driver.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>

#include "exchange/kernel_error.hpp"

namespace pmemcpy::exchange {

namespace {

/// What is handed to the driver with the list of access properties, which copies it.
struct Settings {
    int* error;
};

struct DrivenFile {
    H5FD_t common;  // HDF5's, first
    int fd;
    int* error;
    haddr_t allocated;
    haddr_t end;
};

DrivenFile& driven(H5FD_t* file) { return *reinterpret_cast<DrivenFile*>(file); }
const DrivenFile& driven(const H5FD_t* file) { return *reinterpret_cast<const DrivenFile*>(file); }

void note(const DrivenFile& file, int error) {
    if (*file.error == 0) *file.error = error;
}

H5FD_t* open_file(const char* name, unsigned, hid_t list, haddr_t) {
    const auto* settings = static_cast<const Settings*>(H5Pget_driver_info(list));
    const int fd = settings == nullptr ? -1 : ::open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0) {
        if (settings != nullptr) *settings->error = errno;
        return nullptr;
    }
    return &(new DrivenFile{{}, fd, settings->error, 0, 0})->common;
}

herr_t close_file(H5FD_t* file) {
    if (::close(driven(file).fd) != 0) note(driven(file), errno);
    delete &driven(file);
    return 0;
}

herr_t query(const H5FD_t*, unsigned long* features) {
    *features = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA | H5FD_FEAT_DATA_SIEVE |
                H5FD_FEAT_AGGREGATE_SMALLDATA;
    return 0;
}

haddr_t get_allocated(const H5FD_t* file, H5FD_mem_t) { return driven(file).allocated; }
herr_t set_allocated(H5FD_t* file, H5FD_mem_t, haddr_t address) {
    driven(file).allocated = address;
    return 0;
}
haddr_t get_end(const H5FD_t* file, H5FD_mem_t) { return driven(file).end; }

herr_t read_file(H5FD_t* file, H5FD_mem_t, hid_t, haddr_t address, std::size_t bytes, void* into) {
    auto* to = static_cast<char*>(into);
    while (bytes > 0) {
        const ssize_t n = ::pread(driven(file).fd, to, bytes, static_cast<off_t>(address));
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) note(driven(file), errno);
        if (n <= 0) break;
        to += n;
        bytes -= static_cast<std::size_t>(n);
        address += static_cast<haddr_t>(n);
    }
    std::memset(to, 0, bytes);  // behind the end
    return 0;
}

herr_t write_file(H5FD_t* file, H5FD_mem_t, hid_t, haddr_t address, std::size_t bytes, const void* from) {
    DrivenFile& own = driven(file);
    const auto* next = static_cast<const char*>(from);
    own.end = std::max(own.end, address + bytes);
    while (bytes > 0 && *own.error == 0) {
        const ssize_t n = ::pwrite(own.fd, next, bytes, static_cast<off_t>(address));
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) {
            note(own, n == 0 ? ENOSPC : errno);
            break;
        }
        next += n;
        bytes -= static_cast<std::size_t>(n);
        address += static_cast<haddr_t>(n);
    }
    return 0;
}

herr_t truncate_file(H5FD_t* file, hid_t, hbool_t) {
    DrivenFile& own = driven(file);
    if (own.end == own.allocated || *own.error != 0) return 0;
    if (::ftruncate(own.fd, static_cast<off_t>(own.allocated)) != 0) note(own, errno);
    own.end = own.allocated;
    return 0;
}

H5FD_class_t driver_class() {
    H5FD_class_t driver{};
#if H5_VERSION_GE(1, 14, 0)
    driver.version = H5FD_CLASS_VERSION;
    driver.value = H5_VFD_RESERVED;
#endif
    driver.name = "pmemcpy export";
    driver.maxaddr = static_cast<haddr_t>(std::numeric_limits<off_t>::max());
    driver.fc_degree = H5F_CLOSE_WEAK;
    driver.fapl_size = sizeof(Settings);
    driver.open = open_file;
    driver.close = close_file;
    driver.query = query;
    driver.get_eoa = get_allocated;
    driver.set_eoa = set_allocated;
    driver.get_eof = get_end;
    driver.read = read_file;
    driver.write = write_file;
    driver.truncate = truncate_file;
    return driver;
}

}  // namespace

Hdf5Driver::Hdf5Driver() {
    static const H5FD_class_t driver = driver_class();
    id_ = {H5FDregister(&driver), H5FDunregister};
}

void Hdf5Driver::set(hid_t access_list) {
    const Settings settings{&error_};
    H5Pset_driver(access_list, id_, &settings);
}

void Hdf5Driver::check(const std::string& what) const {
    if (error_ != 0) fail_kernel(what, error_);
}

}  // namespace pmemcpy::exchange
