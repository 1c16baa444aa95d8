// NetCDF's classic format with a record dimension, shared as its user's guide has it: NC_SHARE, and nc_sync() by both. NetCDF-4
// files cannot be followed: the library has no call for HDF5's SWMR.

#include <netcdf.h>

#include <array>
#include <stdexcept>

#include "library.hpp"

namespace compare::series {
namespace {

void check(int status) {
    if (status != NC_NOERR) throw std::runtime_error(std::string("NetCDF: ") + nc_strerror(status));
}

class NetcdfWriter : public Writer {
public:
    void create(const std::string& path, std::uint64_t elements) override {
        check(nc_create(path.c_str(), NC_NOCLOBBER | NC_64BIT_DATA | NC_SHARE, &file_));
        check(nc_set_fill(file_, NC_NOFILL, nullptr));
        std::array<int, 2> dimensions{};
        check(nc_def_dim(file_, "step", NC_UNLIMITED, dimensions.data()));
        check(nc_def_dim(file_, "x", elements, &dimensions[1]));
        check(nc_def_var(file_, "u", NC_DOUBLE, 2, dimensions.data(), &variable_));
        check(nc_enddef(file_));
        check(nc_sync(file_));
    }
    void append(std::span<const double> row) override {
        const std::array<std::size_t, 2> start{step_++, 0};
        const std::array<std::size_t, 2> count{1, row.size()};
        check(nc_put_vara_double(file_, variable_, start.data(), count.data(), row.data()));
        check(nc_sync(file_));
    }
    void close() override { check(nc_close(file_)); }

private:
    int file_ = 0;
    int variable_ = 0;
    std::size_t step_ = 0;
};

class NetcdfReader : public Reader {
public:
    void open(const std::string& path) override {
        check(nc_open(path.c_str(), NC_NOWRITE | NC_SHARE, &file_));
        check(nc_inq_unlimdim(file_, &steps_));
        check(nc_inq_varid(file_, "u", &variable_));
    }
    void next(std::span<double> row) override {
        if (there_ <= step_) {
            poll([&] {
                check(nc_sync(file_));
                check(nc_inq_dimlen(file_, steps_, &there_));
                return there_ > step_;
            });
        }
        const std::array<std::size_t, 2> start{step_++, 0};
        const std::array<std::size_t, 2> count{1, row.size()};
        check(nc_get_vara_double(file_, variable_, start.data(), count.data(), row.data()));
    }
    void close() override { check(nc_close(file_)); }

private:
    int file_ = 0;
    int steps_ = 0;
    int variable_ = 0;
    std::size_t step_ = 0;
    std::size_t there_ = 0;
};

}  // namespace

const std::vector<Variant> variants = {
    {"netcdf-classic", "records of a classic file (CDF-5, NC_SHARE), nc_sync() by writer and reader"}};

std::unique_ptr<Writer> make_writer() { return std::make_unique<NetcdfWriter>(); }
std::unique_ptr<Reader> make_reader() { return std::make_unique<NetcdfReader>(); }

}  // namespace compare::series
