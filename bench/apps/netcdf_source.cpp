#include "source.hpp"

#include <stdexcept>

#ifdef PMEMCPY_HAVE_NETCDF
#include <netcdf.h>
#endif

namespace domain3d {

#ifdef PMEMCPY_HAVE_NETCDF

namespace {

void check(int status, const std::string& what) {
    if (status != NC_NOERR) throw std::runtime_error(what + ": " + nc_strerror(status));
}

/// An open NetCDF file.
class NetcdfFile {
public:
    explicit NetcdfFile(const std::string& path) : path_(path) {
        check(nc_open(path.c_str(), NC_NOWRITE, &number_), path);
    }
    ~NetcdfFile() { nc_close(number_); }
    NetcdfFile(const NetcdfFile&) = delete;
    NetcdfFile& operator=(const NetcdfFile&) = delete;

    int find(const std::string& name) const {
        int variable = 0;
        check(nc_inq_varid(number_, name.c_str(), &variable), path_ + ": variable " + name);
        return variable;
    }

    pmemcpy::Dimensions shape(const std::string& name) const {
        const int variable = find(name);
        int ndims = 0;
        check(nc_inq_varndims(number_, variable, &ndims), path_);
        if (ndims != 3 && ndims != 4) {
            throw std::runtime_error(
                path_ + ": variable " + name + " has " + std::to_string(ndims) +
                " dimensions; domain3d takes fields of three, or of four with time first");
        }
        std::vector<int> ids(static_cast<std::size_t>(ndims));
        check(nc_inq_vardimid(number_, variable, ids.data()), path_);
        pmemcpy::Dimensions shape;
        for (const int id : ids) {
            std::size_t extent = 0;
            check(nc_inq_dimlen(number_, id, &extent), path_);
            shape.push_back(extent);
        }
        return shape;
    }

    void read(const std::string& name, const pmemcpy::Box& box, double* out) const {
        check(nc_get_vara_double(number_, find(name), box.offset.data(), box.count.data(), out),
              path_ + ": variable " + name);
    }

private:
    std::string path_;
    int number_ = -1;
};

class NetcdfSource final : public Source {
public:
    NetcdfSource(std::unique_ptr<NetcdfFile> file, std::vector<Variable> variables)
        : Source(std::move(variables)), file_(std::move(file)) {}

    void fill(std::size_t variable, const pmemcpy::Box& box, double* out) const override {
        file_->read(variables()[variable].id, box, out);
    }

private:
    std::unique_ptr<NetcdfFile> file_;
};

}  // namespace

std::unique_ptr<Source> netcdf_source(const std::string& path, const std::vector<std::string>& names) {
    auto file = std::make_unique<NetcdfFile>(path);
    std::vector<Variable> variables;
    for (const std::string& name : names) variables.push_back({name, file->shape(name)});
    return std::make_unique<NetcdfSource>(std::move(file), std::move(variables));
}

#else

std::unique_ptr<Source> netcdf_source(const std::string& path, const std::vector<std::string>&) {
    throw std::runtime_error(
        path + ": this domain3d was built without libnetcdf; install libnetcdf-dev and build again");
}

#endif

}  // namespace domain3d
