#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "exchange/holding.hpp"
#include "exchange/netcdf/file.hpp"

namespace pmemcpy::exchange {

/// Finds or defines the dimensions of one new file.
class NetcdfDimensions {
public:
    /// `one_unlimited`: the format allows no more than one.
    NetcdfDimensions(std::string file, Holding& holding, bool one_unlimited);
    /// A dimension that belongs to the group (by path and NetCDF's id), whatever those above it have. `who`: whose it is, for errors.
    int define(const std::string& group, int group_id, const std::string& name, std::size_t length,
               bool is_unlimited, const std::string& who);
    /// One of that name in the group or in one above it, if it has the length; else a new one in the
    /// group. `who`: whose it is, for warnings.
    int find(const std::string& group, int group_id, const std::string& name, std::size_t length,
             bool is_unlimited, const std::string& who);

private:
    struct Dimension {
        int id;
        std::size_t length;
        bool is_unlimited;
    };

    std::string file_;
    Holding& holding_;
    bool one_unlimited_;
    std::map<std::string, std::map<std::string, Dimension>> of_groups_;
};

}  // namespace pmemcpy::exchange
