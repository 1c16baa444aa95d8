// Parallel NetCDF-4, thus NetCDF's data model in an HDF5 file. The library itself asks HDF5 for collective metadata.

#include <netcdf.h>
#include <netcdf_par.h>

#include "library.hpp"

namespace compare::arrays {
namespace {

constexpr int alignment_bytes = 1 << 20;

/// Errors: runtime_error with NetCDF's message.
void check(int status) {
    if (status != NC_NOERR) throw std::runtime_error(std::string("NetCDF: ") + nc_strerror(status));
}

using Extents = std::vector<std::size_t>;
using Strides = std::vector<std::ptrdiff_t>;

Extents extents_of(const pmemcpy::Dimensions& dims) { return {dims.begin(), dims.end()}; }

nc_type type_of(Element element) {
    switch (element) {
        case Element::float64:
            return NC_DOUBLE;
        case Element::float32:
            return NC_FLOAT;
        case Element::int32:
            return NC_INT;
    }
    throw std::invalid_argument("no such element");
}

/// The largest chunk up to the one asked for: HDF5's are smaller than 4 GiB.
Extents chunk_of(const Array& array) {
    Extents chunk = extents_of(array.chunk);
    const std::uint64_t most = (std::uint64_t{1} << 32) - 1;
    std::uint64_t bytes = array.chunk.elements() * size_of(array.element);
    for (std::size_t& extent : chunk) {
        while (bytes > most && extent > 1) {
            bytes /= extent;
            extent = (extent + 1) / 2;
            bytes *= extent;
        }
    }
    return chunk;
}

class NetCdf : public Library {
public:
    NetCdf(MPI_Comm comm, bool collective, bool chunked)
        : comm_(comm), collective_(collective), chunked_(chunked) {}

    void open(const std::string& path, Access access, const Content& content) override {
        content_ = &content;
        creates_ = access == Access::create;
        // Time steps are records for NetCDF ("write and read data one time step at a time along an unlimited dimension",
        // its tutorial). But only collective writes may add records (NC_ECANTEXTEND), so the variants whose ranks write
        // on their own have a group for each step.
        records_ = content.steps > 1 && collective_;
        if (creates_) {
            check(
                nc_set_alignment(alignment_bytes, alignment_bytes));  // H5Pset_alignment, as in with_hdf5.cpp
            check(nc_create_par(path.c_str(), NC_NETCDF4 | NC_NOCLOBBER, comm_, MPI_INFO_NULL, &file_));
            define_dimensions();
            if (content.steps == 1 || records_) define_variables(file_);
        } else {
            const int mode = access == Access::read ? NC_NOWRITE : NC_WRITE;
            check(nc_open_par(path.c_str(), mode, comm_, MPI_INFO_NULL, &file_));
        }
    }

    void begin_step(std::uint64_t step) override {
        step_ = step;
        parent_ = file_;
        if (content_->steps > 1 && !records_) {
            const std::string name = "Step#" + std::to_string(step);
            if (creates_) {
                check(nc_def_grp(file_, name.c_str(), &parent_));
                define_variables(parent_);
            } else {
                check(nc_inq_ncid(file_, name.c_str(), &parent_));
            }
        }
        variables_.clear();
        for (const Array& array : content_->arrays) {
            int variable = 0;
            check(nc_inq_varid(parent_, array.name.c_str(), &variable));
            // "To obtain a good I/O performance, users are recommended to use collective mode" (nc_var_par_access).
            check(nc_var_par_access(parent_, variable, collective_ ? NC_COLLECTIVE : NC_INDEPENDENT));
            variables_.push_back(variable);
        }
    }

    void write(std::size_t array, const pmemcpy::Selection& where, const void* data) override {
        const Place at = place(where);
        if (where.is_dense()) {
            check(nc_put_vara(parent_, variables_[array], at.start.data(), at.count.data(), data));
        } else {
            check(nc_put_vars(parent_, variables_[array], at.start.data(), at.count.data(), at.stride.data(),
                              data));
        }
    }

    void read(std::size_t array, const pmemcpy::Selection& where, void* data) override {
        const Place at = place(where);
        if (where.is_dense()) {
            check(nc_get_vara(parent_, variables_[array], at.start.data(), at.count.data(), data));
        } else {
            check(nc_get_vars(parent_, variables_[array], at.start.data(), at.count.data(), at.stride.data(),
                              data));
        }
    }

    void sync() override { check(nc_sync(file_)); }  // H5Fflush
    void close() override { check(nc_close(file_)); }

private:
    struct Place {
        Extents start;
        Extents count;
        Strides stride;
    };

    /// With records a selection is of the one record that is the step.
    Place place(const pmemcpy::Selection& where) const {
        Place at{
            extents_of(where.offset), extents_of(where.count), {where.stride.begin(), where.stride.end()}};
        if (records_) {
            at.start.insert(at.start.begin(), step_);
            at.count.insert(at.count.begin(), 1);
            at.stride.insert(at.stride.begin(), 1);
        }
        return at;
    }

    void define_dimensions() {
        dimensions_.assign(content_->arrays.size(), {});
        int record = 0;
        if (records_) check(nc_def_dim(file_, "step", NC_UNLIMITED, &record));
        for (std::size_t array = 0; array < content_->arrays.size(); ++array) {
            if (records_) dimensions_[array].push_back(record);
            const pmemcpy::Dimensions& shape = content_->arrays[array].shape;
            for (int d = 0; d < shape.size(); ++d) {
                const std::string name = content_->arrays[array].name + "_" + std::to_string(d);
                check(nc_def_dim(file_, name.c_str(), shape[d], &dimensions_[array].emplace_back()));
            }
        }
    }

    void define_variables(int parent) {
        for (std::size_t index = 0; index < content_->arrays.size(); ++index) {
            const Array& array = content_->arrays[index];
            const std::vector<int>& dimensions = dimensions_[index];
            int variable = 0;
            check(nc_def_var(parent, array.name.c_str(), type_of(array.element),
                             static_cast<int>(dimensions.size()), dimensions.data(), &variable));
            check(nc_def_var_fill(parent, variable, NC_NOFILL, nullptr));
            if (records_ || chunked_) {  // NetCDF's own choice for records would be chunks of a few MiB
                Extents chunk = chunk_of(array);
                if (records_) chunk.insert(chunk.begin(), 1);
                check(nc_def_var_chunking(parent, variable, NC_CHUNKED, chunk.data()));
            } else {
                check(nc_def_var_chunking(parent, variable, NC_CONTIGUOUS, nullptr));
            }
        }
        check(nc_enddef(file_));
    }

    MPI_Comm comm_;
    bool collective_;
    bool chunked_;
    bool creates_ = false;
    bool records_ = false;
    const Content* content_ = nullptr;
    int file_ = 0;
    int parent_ = 0;  // of the step at hand: the file, or the step's group
    std::uint64_t step_ = 0;
    std::vector<int> variables_;                // of the step at hand
    std::vector<std::vector<int>> dimensions_;  // of each array
};

}  // namespace

const std::vector<Variant> variants = {
    {"netcdf", "NetCDF-4, contiguous variables, each rank on its own; a group for each step"},
    {"netcdf-collective", "NetCDF-4, collective reads and writes; a record for each step"},
    {"netcdf-chunked", "NetCDF-4, a chunk for each rank's box, each rank on its own; a group for each step"},
};

std::unique_ptr<Library> make_library(const std::string& variant, MPI_Comm comm) {
    return std::make_unique<NetCdf>(comm, variant == "netcdf-collective", variant == "netcdf-chunked");
}

}  // namespace compare::arrays
