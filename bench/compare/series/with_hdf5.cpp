// HDF5 as its SWMR user's guide has it: the latest format, a chunked dataset without a limit, a flush of it after each row; the
// reader refreshes the dataset until it is longer.

#include <hdf5.h>

#include <array>
#include <utility>

#include "bench/compare/hdf5_handle.hpp"
#include "library.hpp"

namespace compare::series {
namespace {

using hdf5::checked;
using hdf5::Handle;

Handle latest_format() {
    Handle list(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, "H5Pcreate");
    checked(H5Pset_libver_bounds(list.id(), H5F_LIBVER_LATEST, H5F_LIBVER_LATEST), "H5Pset_libver_bounds");
    return list;
}

/// The array in its file, and the row that is next.
class Rows {
public:
    Rows() = default;
    Rows(Handle file, Handle dataset) : file_(std::move(file)), dataset_(std::move(dataset)) {}

    hid_t file() const { return file_.id(); }
    hid_t dataset() const { return dataset_.id(); }
    hsize_t next() const { return next_; }
    /// transfers(memory, place): the next row between memory and its place in the file.
    template <class Transfers>
    void transfer(hsize_t elements, const Transfers& transfers) {
        const std::array<hsize_t, 2> start{next_++, 0};
        const std::array<hsize_t, 2> count{1, elements};
        const Handle place(H5Dget_space(dataset()), H5Sclose, "H5Dget_space");
        checked(H5Sselect_hyperslab(place.id(), H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr),
                "H5Sselect_hyperslab");
        const Handle memory(H5Screate_simple(2, count.data(), nullptr), H5Sclose, "H5Screate_simple");
        transfers(memory.id(), place.id());
    }
    void close() {
        dataset_.close("H5Dclose");
        file_.close("H5Fclose");
    }

private:
    Handle file_;
    Handle dataset_;
    hsize_t next_ = 0;
};

class Hdf5Writer : public Writer {
public:
    void create(const std::string& path, std::uint64_t elements) override {
        const Handle access = latest_format();
        Handle file(H5Fcreate(path.c_str(), H5F_ACC_EXCL, H5P_DEFAULT, access.id()), H5Fclose, "H5Fcreate");
        const std::array<hsize_t, 2> none{0, elements};
        const std::array<hsize_t, 2> most{H5S_UNLIMITED, elements};
        const std::array<hsize_t, 2> chunk{1, elements};
        const Handle space(H5Screate_simple(2, none.data(), most.data()), H5Sclose, "H5Screate_simple");
        const Handle list(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, "H5Pcreate");
        checked(H5Pset_chunk(list.id(), 2, chunk.data()), "H5Pset_chunk");
        checked(H5Pset_fill_time(list.id(), H5D_FILL_TIME_NEVER), "H5Pset_fill_time");
        Handle dataset(
            H5Dcreate2(file.id(), "u", H5T_NATIVE_DOUBLE, space.id(), H5P_DEFAULT, list.id(), H5P_DEFAULT),
            H5Dclose, "H5Dcreate2");
        rows_ = {std::move(file), std::move(dataset)};
        checked(H5Fstart_swmr_write(rows_.file()), "H5Fstart_swmr_write");
    }
    void append(std::span<const double> row) override {
        const std::array<hsize_t, 2> extent{rows_.next() + 1, row.size()};
        checked(H5Dset_extent(rows_.dataset(), extent.data()), "H5Dset_extent");
        rows_.transfer(row.size(), [&](hid_t memory, hid_t place) {
            checked(H5Dwrite(rows_.dataset(), H5T_NATIVE_DOUBLE, memory, place, H5P_DEFAULT, row.data()),
                    "H5Dwrite");
        });
        checked(H5Dflush(rows_.dataset()), "H5Dflush");
    }
    void close() override { rows_.close(); }

private:
    Rows rows_;
};

class Hdf5Reader : public Reader {
public:
    void open(const std::string& path) override {
        const Handle access = latest_format();
        Handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY | H5F_ACC_SWMR_READ, access.id()), H5Fclose,
                    "H5Fopen");
        Handle dataset(H5Dopen2(file.id(), "u", H5P_DEFAULT), H5Dclose, "H5Dopen2");
        rows_ = {std::move(file), std::move(dataset)};
    }
    void next(std::span<double> row) override {
        if (there_ <= rows_.next()) poll([&] { return (there_ = length()) > rows_.next(); });
        rows_.transfer(row.size(), [&](hid_t memory, hid_t place) {
            checked(H5Dread(rows_.dataset(), H5T_NATIVE_DOUBLE, memory, place, H5P_DEFAULT, row.data()),
                    "H5Dread");
        });
    }
    void close() override { rows_.close(); }

private:
    hsize_t length() const {
        checked(H5Drefresh(rows_.dataset()), "H5Drefresh");
        const Handle space(H5Dget_space(rows_.dataset()), H5Sclose, "H5Dget_space");
        std::array<hsize_t, 2> extent{};
        checked(H5Sget_simple_extent_dims(space.id(), extent.data(), nullptr), "H5Sget_simple_extent_dims");
        return extent[0];
    }

    Rows rows_;
    hsize_t there_ = 0;
};

}  // namespace

const std::vector<Variant> variants = {
    {"hdf5-swmr", "a chunk for each step, flushed; the reader refreshes the dataset until it is longer"}};

std::unique_ptr<Writer> make_writer() { return std::make_unique<Hdf5Writer>(); }
std::unique_ptr<Reader> make_reader() { return std::make_unique<Hdf5Reader>(); }

}  // namespace compare::series
