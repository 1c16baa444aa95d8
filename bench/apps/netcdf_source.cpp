#include "source.hpp"

#include <stdexcept>

#ifdef PMEMCPY_HAVE_NETCDF
#include <netcdf.h>

#include <pmemcpy/json.hpp>
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

    struct Dimension {
        std::string name;
        std::size_t extent = 0;
    };
    std::vector<Dimension> dimensions(const std::string& name) const {
        const int variable = find(name);
        int ndims = 0;
        check(nc_inq_varndims(number_, variable, &ndims), path_);
        std::vector<int> ids(static_cast<std::size_t>(ndims));
        check(nc_inq_vardimid(number_, variable, ids.data()), path_);
        std::vector<Dimension> dimensions;
        for (const int id : ids) {
            char known[NC_MAX_NAME + 1] = {};
            std::size_t extent = 0;
            check(nc_inq_dim(number_, id, known, &extent), path_);
            dimensions.push_back({known, extent});
        }
        return dimensions;
    }

    pmemcpy::Dimensions shape(const std::string& name) const {
        const std::vector<Dimension> all = dimensions(name);
        if (all.size() != 3 && all.size() != 4) {
            throw std::runtime_error(
                path_ + ": variable " + name + " has " + std::to_string(all.size()) +
                " dimensions; domain3d takes fields of three, or of four with time first");
        }
        pmemcpy::Dimensions shape;
        for (const Dimension& dimension : all) shape.push_back(dimension.extent);
        return shape;
    }

    bool has(const std::string& name) const {
        int variable = 0;
        return nc_inq_varid(number_, name.c_str(), &variable) == NC_NOERR;
    }

    /// Texts, and numbers as what the values are here, doubles.
    void copy_attributes(const std::string& name, pmemcpy::PMEM& pmem) const {
        const int variable = find(name);
        int count = 0;
        check(nc_inq_varnatts(number_, variable, &count), path_);
        for (int i = 0; i < count; ++i) {
            char attribute[NC_MAX_NAME + 1] = {};
            check(nc_inq_attname(number_, variable, i, attribute), path_);
            nc_type type = NC_NAT;
            std::size_t length = 0;
            check(nc_inq_att(number_, variable, attribute, &type, &length), path_);
            if (type == NC_CHAR) {
                std::string text(length, '\0');
                check(nc_get_att_text(number_, variable, attribute, text.data()), path_);
                pmem.set_attribute(name, attribute, text);
            } else if (type <= NC_UINT64 && length > 0) {
                std::vector<double> numbers(length);
                check(nc_get_att_double(number_, variable, attribute, numbers.data()), path_);
                if (length == 1)
                    pmem.set_attribute(name, attribute, numbers[0]);
                else
                    pmem.set_attribute(name, attribute, numbers);
            }
        }
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

    void describe(pmemcpy::PMEM& pmem) const override {
        for (const Variable& variable : variables()) {
            nlohmann::json names = nlohmann::json::array();
            for (const auto& [name, extent] : file_->dimensions(variable.id)) {
                names.push_back(name);
                if (file_->has(name) && !pmem.exists(name)) store_coordinate(name, extent, pmem);
            }
            file_->copy_attributes(variable.id, pmem);
            pmem.set_attribute(variable.id, "_ARRAY_DIMENSIONS", names);
        }
    }

private:
    void store_coordinate(const std::string& name, std::size_t extent, pmemcpy::PMEM& pmem) const {
        const pmemcpy::Box all = pmemcpy::Box::whole({extent});
        if (file_->dimensions(name).size() != 1) return;
        std::vector<double> places(extent);
        file_->read(name, all, places.data());
        pmem.alloc<double>(name, {extent});
        pmem.store(name, places.data(), all);
        file_->copy_attributes(name, pmem);
        pmem.set_attribute(name, "_ARRAY_DIMENSIONS", nlohmann::json::array({name}));
    }

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
