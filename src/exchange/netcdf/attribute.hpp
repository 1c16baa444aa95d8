#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "exchange/holding.hpp"
#include "exchange/intake.hpp"
#include "exchange/netcdf/file.hpp"
#include "exchange/netcdf/type.hpp"

namespace pmemcpy::exchange {

/// Takes over the `n` attributes of a variable, or with NC_GLOBAL of a group. Returns what of them only NetCDF needs: their order,
/// and which are text of NetCDF-4's kind.
nlohmann::json read_netcdf_attributes(const std::string& file, const std::string& path, int group,
                                      int variable, int n, Intake& intake);

/// Writes the attributes of a new file's objects.
class NetcdfAttributes {
public:
    /// `has_strings`: whether the file has text of NetCDF-4's kind.
    NetcdfAttributes(std::string file, Holding& holding, NetcdfTypes& types, bool has_strings);
    /// Those of the object at `path`, in the order that `origin` tells; `element`: of a variable.
    void write(const std::string& path, int group, int id, const nlohmann::json& origin,
               const NetcdfElement* element);

private:
    void write_one(const std::string& path, int group, int id, const Datum& datum, bool is_string,
                   const NetcdfElement* element);
    void write_text(const std::string& path, int group, int id, const std::string& name,
                    const std::string& text, bool is_string) const;
    NetcdfCheck at(const std::string& path) const { return {Code::io_error, file_ + ": " + path}; }

    std::string file_;
    Holding& holding_;
    NetcdfTypes& types_;
    bool has_strings_;
};

}  // namespace pmemcpy::exchange
