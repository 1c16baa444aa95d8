#pragma once

#include <netcdf.h>

#include <functional>
#include <map>
#include <pmemcpy/type.hpp>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace pmemcpy::exchange {

/// The pool's type for elements of a NetCDF type of fixed size, as nc_get_vara gives them.
/// Errors: unsupported for text of any length, rows, and structures that hold such.
Type type_of_netcdf(int group, nc_type type);
/// A user's own name for a type; empty for those that NetCDF has itself.
std::string netcdf_type_name(int group, nc_type type);

/// How elements of a pool are given to NetCDF, which has fewer types, and takes numbers in the machine's byte order only.
struct NetcdfElement {
    nc_type type = NC_NAT;
    std::string note{};          ///< what becomes another type; empty if none does
    bool is_big_endian = false;  ///< asked of the file
    bool is_boolean = false;     ///< to be told by an attribute `dtype`, as xarray does
    std::string units{};         ///< of times: by CF's conventions
    /// Elements as they are stored -> as NetCDF takes them.
    std::function<void(std::span<const std::byte>, std::vector<std::byte>&)> convert{};
};

/// Finds or defines the types of one new file.
class NetcdfTypes {
public:
    enum class Model { classic, cdf5, netcdf4 };
    NetcdfTypes(int root, Model model) : root_(root), model_(model) {}
    /// `name`: of a type that has to be defined. Errors: unsupported when this kind of file has no such type.
    NetcdfElement of(const Type& type, const std::string& name);
    /// The type of rows of any length of elements of that type, the same one for all variables that call it so.
    nc_type rows_of(nc_type element, const std::string& name);

private:
    nc_type plain(Kind kind) const;
    nc_type defined(const Type& type, const std::string& name);
    std::string unused(const std::string& name) const;

    int root_;
    Model model_;
    std::vector<std::pair<Type, nc_type>> defined_;
    std::map<std::pair<nc_type, std::string>, nc_type> rows_;
};

/// Numbers of one byte order in the other, in place, also inside of structures.
void swap_bytes(const Type& type, std::span<std::byte> element);

}  // namespace pmemcpy::exchange
