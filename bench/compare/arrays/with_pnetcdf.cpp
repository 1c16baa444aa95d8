// PnetCDF: NetCDF's classic format (CDF-5) by MPI-IO. Its files are big-endian, so values are swapped on their way; in
// large writes this is done in the caller's own memory and undone afterwards (its hint nc_in_place_swap, "auto").

#include <pnetcdf.h>

#include "library.hpp"

namespace compare::arrays {
namespace {

/// Errors: runtime_error with PnetCDF's message.
void check(int status) {
    if (status != NC_NOERR) throw std::runtime_error(std::string("PnetCDF: ") + ncmpi_strerror(status));
}

using Extents = std::vector<MPI_Offset>;

struct ElementType {
    nc_type file;
    MPI_Datatype memory;
};

ElementType type_of(Element element) {
    switch (element) {
        case Element::float64:
            return {NC_DOUBLE, MPI_DOUBLE};
        case Element::float32:
            return {NC_FLOAT, MPI_FLOAT};
        case Element::int32:
            return {NC_INT, MPI_INT};
    }
    throw std::invalid_argument("no such element");
}

class Pnetcdf : public Library {
public:
    Pnetcdf(MPI_Comm comm, bool nonblocking) : comm_(comm), nonblocking_(nonblocking) {
        MPI_Info_create(&hints_);
        // PnetCDF's examples/C/hints.c: variables start at the file system's blocks.
        MPI_Info_set(hints_, "nc_var_align_size", "1048576");
    }
    ~Pnetcdf() override { MPI_Info_free(&hints_); }

    void open(const std::string& path, Access access, const Content& content) override {
        content_ = &content;
        if (access == Access::create) {
            check(ncmpi_create(comm_, path.c_str(), NC_64BIT_DATA | NC_NOCLOBBER, hints_, &file_));
            define();
        } else {
            check(ncmpi_open(comm_, path.c_str(), access == Access::read ? NC_NOWRITE : NC_WRITE, hints_,
                             &file_));
        }
        variables_.clear();
        for (const Array& array : content.arrays) {
            check(ncmpi_inq_varid(file_, array.name.c_str(), &variables_.emplace_back()));
        }
    }

    void begin_step(std::uint64_t step) override { step_ = step; }

    void write(std::size_t array, const pmemcpy::Selection& where, const void* data) override {
        const Place at = place(array, where);
        if (nonblocking_) {
            check(ncmpi_iput_vars(file_, at.variable, at.start.data(), at.count.data(), at.stride(), data,
                                  at.elements, at.type, &requests_.emplace_back()));
        } else {
            check(ncmpi_put_vars_all(file_, at.variable, at.start.data(), at.count.data(), at.stride(), data,
                                     at.elements, at.type));
        }
    }

    void read(std::size_t array, const pmemcpy::Selection& where, void* data) override {
        const Place at = place(array, where);
        if (nonblocking_) {
            check(ncmpi_iget_vars(file_, at.variable, at.start.data(), at.count.data(), at.stride(), data,
                                  at.elements, at.type, &requests_.emplace_back()));
        } else {
            check(ncmpi_get_vars_all(file_, at.variable, at.start.data(), at.count.data(), at.stride(), data,
                                     at.elements, at.type));
        }
    }

    void end_step() override {
        if (!nonblocking_) return;
        // doc/blocking_vs_nonblocking.md: the step's requests, of all arrays, become one collective call of MPI-IO.
        std::vector<int> statuses(requests_.size(), NC_NOERR);
        check(ncmpi_wait_all(file_, static_cast<int>(requests_.size()), requests_.data(), statuses.data()));
        for (const int status : statuses) check(status);
        requests_.clear();
    }

    void sync() override { check(ncmpi_sync(file_)); }  // MPI_File_sync
    void close() override { check(ncmpi_close(file_)); }

private:
    struct Place {
        int variable;
        Extents start;
        Extents count;
        Extents strides;  // empty for a box, which has a faster way
        MPI_Offset elements;
        MPI_Datatype type;

        const MPI_Offset* stride() const { return strides.empty() ? nullptr : strides.data(); }
    };

    /// With several steps a selection is of the one record that is the step.
    Place place(std::size_t array, const pmemcpy::Selection& where) const {
        Place at{variables_[array],
                 {where.offset.begin(), where.offset.end()},
                 {where.count.begin(), where.count.end()},
                 {},
                 static_cast<MPI_Offset>(where.elements()),
                 type_of(content_->arrays[array].element).memory};
        if (!where.is_dense()) at.strides.assign(where.stride.begin(), where.stride.end());
        if (content_->steps > 1) {
            at.start.insert(at.start.begin(), static_cast<MPI_Offset>(step_));
            at.count.insert(at.count.begin(), 1);
            if (!at.strides.empty()) at.strides.insert(at.strides.begin(), 1);
        }
        return at;
    }

    void define() {
        int record = 0;
        if (content_->steps > 1) check(ncmpi_def_dim(file_, "step", NC_UNLIMITED, &record));
        for (const Array& array : content_->arrays) {
            std::vector<int> dimensions;
            if (content_->steps > 1) dimensions.push_back(record);
            for (int d = 0; d < array.shape.size(); ++d) {
                const std::string name = array.name + "_" + std::to_string(d);
                check(ncmpi_def_dim(file_, name.c_str(), static_cast<MPI_Offset>(array.shape[d]),
                                    &dimensions.emplace_back()));
            }
            int variable = 0;
            check(ncmpi_def_var(file_, array.name.c_str(), type_of(array.element).file,
                                static_cast<int>(dimensions.size()), dimensions.data(), &variable));
        }
        // Nothing is filled: NC_NOFILL is PnetCDF's default.
        check(ncmpi_enddef(file_));
    }

    MPI_Comm comm_;
    bool nonblocking_;
    MPI_Info hints_ = MPI_INFO_NULL;
    const Content* content_ = nullptr;
    int file_ = 0;
    std::uint64_t step_ = 0;
    std::vector<int> variables_;
    std::vector<int> requests_;  // of the step at hand
};

}  // namespace

const std::vector<Variant> variants = {
    {"pnetcdf-collective", "PnetCDF, a collective call for each array (ncmpi_put_vara_all)"},
    {"pnetcdf-nonblocking",
     "PnetCDF, a step's arrays in one collective call (ncmpi_iput_vara, ncmpi_wait_all)"},
};

std::unique_ptr<Library> make_library(const std::string& variant, MPI_Comm comm) {
    return std::make_unique<Pnetcdf>(comm, variant == "pnetcdf-nonblocking");
}

}  // namespace compare::arrays
