#pragma once

#include <string>

#include "exchange/hdf5/handle.hpp"

namespace pmemcpy::exchange {

/// How HDF5 writes a new file. After a failed write its own driver can neither flush nor close the file, and HDF5 crashes when
/// the program ends. This one remembers what the kernel said first and then lets all further writes pass, so that the file can be
/// closed, and thrown away.
class Hdf5Driver {
public:
    Hdf5Driver();
    /// For H5Fcreate; this object outlives the file.
    void set(hid_t access_list);
    /// Errors: what the kernel said of a write: no_space, io_error and so on.
    void check(const std::string& what) const;

private:
    Handle id_;
    int error_ = 0;
};

}  // namespace pmemcpy::exchange
