// Parallel HDF5 as The HDF Group's "Parallel I/O with HDF5 and Performance Tuning Techniques" (2020) and h5bench's
// h5bench_write use it.

#include <hdf5.h>

#include <utility>

#include "library.hpp"

namespace compare::arrays {
namespace {

constexpr hsize_t alignment_bytes = 1 << 20;

[[noreturn]] void fail() {
    std::string message = "HDF5";
    const auto append = [](unsigned, const H5E_error2_t* error, void* to) -> herr_t {
        *static_cast<std::string*>(to) += std::string(": ") + error->desc;
        return 0;
    };
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_DOWNWARD, append, &message);
    throw std::runtime_error(message);
}

/// What a call gave, an identifier or a status. Errors: runtime_error with HDF5's messages.
template <class T>
T check(T result) {
    if (result < 0) fail();
    return result;
}

/// An identifier of HDF5, closed at the end of its scope.
class Handle {
public:
    Handle() = default;
    Handle(hid_t id, herr_t (*closes)(hid_t)) : id_(check(id)), close_(closes) {}
    Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, H5I_INVALID_HID)), close_(other.close_) {}
    Handle& operator=(Handle&& other) noexcept {
        std::swap(id_, other.id_);
        std::swap(close_, other.close_);
        return *this;
    }
    ~Handle() {
        if (id_ >= 0) close_(id_);
    }

    operator hid_t() const { return id_; }
    void close() {
        if (id_ >= 0) check(close_(std::exchange(id_, H5I_INVALID_HID)));
    }

private:
    hid_t id_ = H5I_INVALID_HID;
    herr_t (*close_)(hid_t) = nullptr;
};

using Extents = std::vector<hsize_t>;

Extents extents_of(const pmemcpy::Dimensions& dims) { return {dims.begin(), dims.end()}; }

hid_t type_of(Element element) {
    switch (element) {
        case Element::float64:
            return H5T_NATIVE_DOUBLE;
        case Element::float32:
            return H5T_NATIVE_FLOAT;
        case Element::int32:
            return H5T_NATIVE_INT32;
    }
    throw std::invalid_argument("no such element");
}

/// The largest chunk up to the one asked for: HDF5's are smaller than 4 GiB (H5Pset_chunk).
Extents chunk_of(const Array& array) {
    Extents chunk = extents_of(array.chunk);
    const std::uint64_t most = (std::uint64_t{1} << 32) - 1;
    std::uint64_t bytes = array.chunk.elements() * size_of(array.element);
    for (hsize_t& extent : chunk) {
        while (bytes > most && extent > 1) {
            bytes /= extent;
            extent = (extent + 1) / 2;
            bytes *= extent;
        }
    }
    return chunk;
}

class Hdf5 : public Library {
public:
    Hdf5(MPI_Comm comm, bool collective, bool chunked) : chunked_(chunked) {
        check(H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr));  // errors are thrown, not printed

        access_ = Handle(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
        check(H5Pset_fapl_mpio(access_, comm, MPI_INFO_NULL));
        // The newest format has the index that costs nothing for chunks that are all there from the start.
        check(H5Pset_libver_bounds(access_, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST));
        // H5Pset_alignment: "For MPI IO and other parallel systems, choose an alignment which is a multiple of the
        // disk block size."
        check(H5Pset_alignment(access_, alignment_bytes, alignment_bytes));
        // "Collective Metadata I/O" in HDF5's documentation: one rank reads for all, and all write together.
        check(H5Pset_all_coll_metadata_ops(access_, true));
        check(H5Pset_coll_metadata_write(access_, true));

        transfer_ = Handle(H5Pcreate(H5P_DATASET_XFER), H5Pclose);
        check(H5Pset_dxpl_mpio(transfer_, collective ? H5FD_MPIO_COLLECTIVE : H5FD_MPIO_INDEPENDENT));
    }

    void open(const std::string& path, Access access, const Content& content) override {
        content_ = &content;
        creates_ = access == Access::create;
        const unsigned mode = access == Access::read ? H5F_ACC_RDONLY : H5F_ACC_RDWR;
        file_ = Handle(creates_ ? H5Fcreate(path.c_str(), H5F_ACC_EXCL, H5P_DEFAULT, access_)
                                : H5Fopen(path.c_str(), mode, access_),
                       H5Fclose);
    }

    void begin_step(std::uint64_t step) override {
        hid_t parent = file_;
        if (content_->steps > 1) {
            // A group for each time step, as VPIC-IO in h5bench has them.
            const std::string name = "Step#" + std::to_string(step);
            group_ = Handle(creates_ ? H5Gcreate2(file_, name.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT)
                                     : H5Gopen2(file_, name.c_str(), H5P_DEFAULT),
                            H5Gclose);
            parent = group_;
        }
        for (const Array& array : content_->arrays) {
            datasets_.emplace_back(
                creates_ ? create(parent, array) : H5Dopen2(parent, array.name.c_str(), H5P_DEFAULT),
                H5Dclose);
        }
    }

    void write(std::size_t array, const pmemcpy::Selection& where, const void* data) override {
        const Spaces spaces = select(array, where);
        check(H5Dwrite(datasets_[array], type(array), spaces.memory, spaces.file, transfer_, data));
    }

    void read(std::size_t array, const pmemcpy::Selection& where, void* data) override {
        const Spaces spaces = select(array, where);
        check(H5Dread(datasets_[array], type(array), spaces.memory, spaces.file, transfer_, data));
    }

    void end_step() override {
        for (Handle& dataset : datasets_) dataset.close();
        datasets_.clear();
        group_.close();
    }

    // With the MPI-IO driver a flush ends in MPI_File_sync, thus in fsync.
    void sync() override { check(H5Fflush(file_, H5F_SCOPE_GLOBAL)); }
    void close() override { file_.close(); }

private:
    struct Spaces {
        Handle memory;
        Handle file;
    };

    hid_t create(hid_t parent, const Array& array) const {
        const Extents shape = extents_of(array.shape);
        const Handle space(H5Screate_simple(array.shape.size(), shape.data(), nullptr), H5Sclose);
        const Handle creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
        // "H5Fill Behavior" in HDF5's documentation: parallel files allocate early, and this writes no fill values.
        check(H5Pset_alloc_time(creation, H5D_ALLOC_TIME_EARLY));
        check(H5Pset_fill_time(creation, H5D_FILL_TIME_NEVER));
        if (chunked_) check(H5Pset_chunk(creation, array.chunk.size(), chunk_of(array).data()));
        return H5Dcreate2(parent, array.name.c_str(), type_of(array.element), space, H5P_DEFAULT, creation,
                          H5P_DEFAULT);
    }

    hid_t type(std::size_t array) const { return type_of(content_->arrays[array].element); }

    Spaces select(std::size_t array, const pmemcpy::Selection& where) const {
        const Extents offset = extents_of(where.offset);
        const Extents stride = extents_of(where.stride);
        const Extents count = extents_of(where.count);
        Spaces spaces{{H5Screate_simple(where.size(), count.data(), nullptr), H5Sclose},
                      {H5Dget_space(datasets_[array]), H5Sclose}};
        if (where.empty()) {
            check(H5Sselect_none(spaces.memory));
            check(H5Sselect_none(spaces.file));
        } else {
            check(H5Sselect_hyperslab(spaces.file, H5S_SELECT_SET, offset.data(), stride.data(), count.data(),
                                      nullptr));
        }
        return spaces;
    }

    bool chunked_;
    bool creates_ = false;
    const Content* content_ = nullptr;
    Handle access_;
    Handle transfer_;
    Handle file_;
    Handle group_;                  // of the step at hand, with several steps
    std::vector<Handle> datasets_;  // of the step at hand
};

}  // namespace

const std::vector<Variant> variants = {
    {"hdf5-independent", "parallel HDF5, one contiguous dataset for each array, each rank on its own"},
    {"hdf5-collective", "the same with collective (two-phase) reads and writes"},
    {"hdf5-chunked", "parallel HDF5, a chunk for each rank's box, each rank on its own"},
    {"hdf5-chunked-collective", "the same with collective reads and writes"},
};

std::unique_ptr<Library> make_library(const std::string& variant, MPI_Comm comm) {
    return std::make_unique<Hdf5>(comm, variant.ends_with("collective"), variant.starts_with("hdf5-chunked"));
}

}  // namespace compare::arrays
