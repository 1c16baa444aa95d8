// NetCDF-4: a file with a variable per object. Source: the NetCDF user's guide and netcdf.h of 4.9.0.

#include <netcdf.h>

#include <map>
#include <utility>

#include "library.hpp"

namespace compare::objects {
namespace {

/// Errors: std::runtime_error with what NetCDF says
void check(int status, std::string_view what) {
    if (status != NC_NOERR) throw std::runtime_error(std::string(what) + ": " + nc_strerror(status));
}

class Netcdf : public Library {
public:
    /// Every `batch` new variables are defined together, then written.
    explicit Netcdf(std::size_t batch) : batch_(batch) {}
    ~Netcdf() override {
        if (file_ >= 0) nc_abort(file_);
    }

    void open(const std::string& path, Access access) override {
        int file = -1;
        check(access == Access::create
                  ? nc_create(path.c_str(), NC_NETCDF4 | NC_NOCLOBBER, &file)
                  : nc_open(path.c_str(), access == Access::read ? NC_NOWRITE : NC_WRITE, &file),
              path);
        file_ = file;
    }

    void store(std::string_view name, std::span<const std::byte> bytes) override {
        name_ = name;
        int variable = -1;
        const int found = nc_inq_varid(file_, name_.c_str(), &variable);
        if (found == NC_ENOTVAR) return store_new(bytes);
        check(found, name_);
        if (size_of(variable) != bytes.size()) throw Unsupported("a variable keeps its shape");
        write(variable, bytes);
    }

    void load(std::string_view name, std::span<std::byte> bytes) override {
        name_ = name;
        int variable = -1;
        check(nc_inq_varid(file_, name_.c_str(), &variable), name_);
        if (size_of(variable) != bytes.size()) throw std::runtime_error(name_ + " has another size");
        check(nc_get_var_uchar(file_, variable, reinterpret_cast<unsigned char*>(bytes.data())), name_);
    }

    void erase(std::string_view /*name*/) override { throw Unsupported("a variable cannot be erased"); }

    void settle() override {
        write_new();
        check(nc_sync(file_), "nc_sync");
    }

    std::uint64_t list() override {
        int variables = 0;
        check(nc_inq_nvars(file_, &variables), "nc_inq_nvars");
        std::uint64_t names = 0;
        char name[NC_MAX_NAME + 1];
        for (int variable = 0; variable < variables; ++variable) {
            check(nc_inq_varname(file_, variable, name), "nc_inq_varname");
            names += name[0] != '\0';
        }
        return names;
    }

    void close() override {
        write_new();
        check(nc_close(std::exchange(file_, -1)), "nc_close");
        dimensions_.clear();
    }

private:
    struct New {
        int variable;
        std::vector<std::byte> bytes;
    };

    void store_new(std::span<const std::byte> bytes) {
        const int dimension = dimension_of(bytes.size());
        int variable = -1;
        check(nc_def_var(file_, name_.c_str(), NC_UBYTE, 1, &dimension, &variable), name_);
        // All of a variable is written, so no fill value has to be.
        check(nc_def_var_fill(file_, variable, NC_NOFILL, nullptr), name_);
        new_.push_back({variable, {bytes.begin(), bytes.end()}});
        new_bytes_ += bytes.size();
        if (new_.size() >= batch_ || new_bytes_ >= most_new_bytes) write_new();
    }

    void write_new() {
        for (const New& one : new_) write(one.variable, one.bytes);
        new_.clear();
        new_bytes_ = 0;
    }

    void write(int variable, std::span<const std::byte> bytes) {
        check(nc_put_var_uchar(file_, variable, reinterpret_cast<const unsigned char*>(bytes.data())),
              "nc_put_var_uchar");
    }

    std::size_t size_of(int variable) const {
        int dimension = -1;
        std::size_t length = 0;
        check(nc_inq_vardimid(file_, variable, &dimension), name_);
        check(nc_inq_dimlen(file_, dimension, &length), name_);
        return length;
    }

    /// One dimension for all variables of a size.
    int dimension_of(std::size_t bytes) {
        if (const auto known = dimensions_.find(bytes); known != dimensions_.end()) return known->second;
        const std::string name = "bytes_" + std::to_string(bytes);
        int dimension = -1;
        if (nc_inq_dimid(file_, name.c_str(), &dimension) != NC_NOERR) {
            check(nc_def_dim(file_, name.c_str(), bytes, &dimension), name);
        }
        return dimensions_[bytes] = dimension;
    }

    // What is kept in memory until its definitions are together.
    static constexpr std::size_t most_new_bytes = std::size_t{256} << 20;

    std::size_t batch_;
    int file_ = -1;
    std::map<std::size_t, int> dimensions_;
    std::vector<New> new_;
    std::size_t new_bytes_ = 0;
    std::string name_;  // with a zero at its end
};

}  // namespace

// The first write after a definition looks at all variables of the file again, so the time grows with the square of
// their number: 2,000 of 256 bytes took 6 s; in batches 2,000 took 0.9 s and 10,000 took 16 s, and opening these 3 s.
const std::vector<Variant> variants = {
    {"netcdf", "a variable per object, defined and written by each store", 1, any_number, 4000, 1000},
    {"netcdf-batch", "the same, with 1,000 variables defined before they are written", 1, any_number, 20'000,
     5000},
};

std::unique_ptr<Library> make_library(const std::string& variant) {
    return std::make_unique<Netcdf>(variant == "netcdf" ? 1 : 1000);
}

}  // namespace compare::objects
