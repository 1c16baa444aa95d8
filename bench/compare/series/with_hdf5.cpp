// HDF5 as its SWMR user's guide has it: the latest format, a chunked dataset without a limit, a flush of it after each row; the
// reader refreshes the dataset until it is longer.

#include <hdf5.h>

#include <array>
#include <stdexcept>
#include <utility>

#include "library.hpp"

namespace compare::series {
namespace {

template <class T>
T check(T result, const char* what) {
    if (result < 0) throw std::runtime_error(std::string("HDF5: ") + what);
    return result;
}

/// Whatever H5Xclose() closes.
class Handle {
public:
    Handle() = default;
    Handle(hid_t id, herr_t (*close)(hid_t), const char* what) : id_(check(id, what)), close_(close) {}
    Handle(Handle&& other) noexcept { *this = std::move(other); }
    Handle& operator=(Handle&& other) noexcept {
        std::swap(id_, other.id_);
        std::swap(close_, other.close_);
        return *this;
    }
    ~Handle() {
        if (close_ != nullptr) close_(id_);
    }
    operator hid_t() const { return id_; }

private:
    hid_t id_ = -1;
    herr_t (*close_)(hid_t) = nullptr;
};

Handle access() {
    Handle list(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, "H5Pcreate");
    check(H5Pset_libver_bounds(list, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST), "H5Pset_libver_bounds");
    return list;
}

Handle row_of(hid_t dataset, hsize_t step, hsize_t elements) {
    const std::array<hsize_t, 2> start{step, 0};
    const std::array<hsize_t, 2> count{1, elements};
    const hid_t space = check(H5Dget_space(dataset), "H5Dget_space");
    check(H5Sselect_hyperslab(space, H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr),
          "H5Sselect_hyperslab");
    return {space, H5Sclose, "H5Dget_space"};
}

Handle memory_of(hsize_t elements) {
    const std::array<hsize_t, 2> count{1, elements};
    return {H5Screate_simple(2, count.data(), nullptr), H5Sclose, "H5Screate_simple"};
}

class Hdf5Writer : public Writer {
public:
    void create(const std::string& path, std::uint64_t elements) override {
        file_ = {H5Fcreate(path.c_str(), H5F_ACC_EXCL, H5P_DEFAULT, access()), H5Fclose, "H5Fcreate"};
        const std::array<hsize_t, 2> none{0, elements};
        const std::array<hsize_t, 2> most{H5S_UNLIMITED, elements};
        const std::array<hsize_t, 2> chunk{1, elements};
        const Handle space(H5Screate_simple(2, none.data(), most.data()), H5Sclose, "H5Screate_simple");
        const Handle list(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, "H5Pcreate");
        check(H5Pset_chunk(list, 2, chunk.data()), "H5Pset_chunk");
        check(H5Pset_fill_time(list, H5D_FILL_TIME_NEVER), "H5Pset_fill_time");
        dataset_ = {H5Dcreate2(file_, "u", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, list, H5P_DEFAULT),
                    H5Dclose, "H5Dcreate2"};
        check(H5Fstart_swmr_write(file_), "H5Fstart_swmr_write");
    }
    void append(std::span<const double> row) override {
        const std::array<hsize_t, 2> extent{step_ + 1, row.size()};
        check(H5Dset_extent(dataset_, extent.data()), "H5Dset_extent");
        const Handle where = row_of(dataset_, step_++, row.size());
        check(H5Dwrite(dataset_, H5T_NATIVE_DOUBLE, memory_of(row.size()), where, H5P_DEFAULT, row.data()),
              "H5Dwrite");
        check(H5Dflush(dataset_), "H5Dflush");
    }
    void close() override {
        dataset_ = {};
        file_ = {};
    }

private:
    Handle file_;
    Handle dataset_;
    hsize_t step_ = 0;
};

class Hdf5Reader : public Reader {
public:
    void open(const std::string& path) override {
        file_ = {H5Fopen(path.c_str(), H5F_ACC_RDONLY | H5F_ACC_SWMR_READ, access()), H5Fclose, "H5Fopen"};
        dataset_ = {H5Dopen2(file_, "u", H5P_DEFAULT), H5Dclose, "H5Dopen2"};
    }
    void next(std::span<double> row) override {
        if (there_ <= step_) {
            poll([&] {
                check(H5Drefresh(dataset_), "H5Drefresh");
                const Handle space(H5Dget_space(dataset_), H5Sclose, "H5Dget_space");
                std::array<hsize_t, 2> extent{};
                check(H5Sget_simple_extent_dims(space, extent.data(), nullptr), "H5Sget_simple_extent_dims");
                there_ = extent[0];
                return there_ > step_;
            });
        }
        const Handle where = row_of(dataset_, step_++, row.size());
        check(H5Dread(dataset_, H5T_NATIVE_DOUBLE, memory_of(row.size()), where, H5P_DEFAULT, row.data()),
              "H5Dread");
    }
    void close() override {
        dataset_ = {};
        file_ = {};
    }

private:
    Handle file_;
    Handle dataset_;
    hsize_t step_ = 0;
    hsize_t there_ = 0;
};

}  // namespace

const std::vector<Variant> variants = {
    {"hdf5-swmr", "a chunk for each step, flushed; the reader refreshes the dataset until it is longer"}};

std::unique_ptr<Writer> make_writer() { return std::make_unique<Hdf5Writer>(); }
std::unique_ptr<Reader> make_reader() { return std::make_unique<Hdf5Reader>(); }

}  // namespace compare::series
