#include "exchange/netcdf/dimensions.hpp"

#include <algorithm>
#include <utility>

namespace pmemcpy::exchange {

NetcdfDimensions::NetcdfDimensions(std::string file, Holding& holding, bool one_unlimited)
    : file_(std::move(file)), holding_(holding), one_unlimited_(one_unlimited) {}

int NetcdfDimensions::find(const std::string& group, int group_id, const std::string& name,
                           std::size_t length, bool is_unlimited, const std::string& who) {
    for (std::string above = group;; above = group_of(above)) {
        const auto& known = of_groups_[above];
        if (const auto found = known.find(name); found != known.end()) {
            if (found->second.is_unlimited || found->second.length == length) return found->second.id;
        }
        if (above.empty()) break;
    }
    auto& own = of_groups_[group];
    std::string free = name;
    if (own.contains(free)) {
        free = name + "_" + std::to_string(length);
        holding_.warn(who, "its dimension '" + name + "' has another length than elsewhere; it is called '" +
                               free + "'");
        if (const auto found = own.find(free); found != own.end()) return found->second.id;
    }
    return define(group, group_id, free, length, is_unlimited, who);
}

int NetcdfDimensions::define(const std::string& group, int group_id, const std::string& name,
                             std::size_t length, bool is_unlimited, const std::string& who) {
    auto& own = of_groups_[group];
    if (const auto known = own.find(name); known != own.end()) return known->second.id;
    int id = -1;
    const bool grows = is_unlimited &&
                       (!one_unlimited_ || std::none_of(own.begin(), own.end(),
                                                        [](const auto& d) { return d.second.is_unlimited; }));
    NetcdfCheck(Code::io_error,
                file_ + ": " + who)(nc_def_dim(group_id, name.c_str(), grows ? NC_UNLIMITED : length, &id));
    own[name] = {id, length, grows};
    return id;
}

}  // namespace pmemcpy::exchange
