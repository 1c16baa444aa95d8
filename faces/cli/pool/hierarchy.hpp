#pragma once

#include <optional>
#include <pmemcpy/pmemcpy.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "cli/terminal/progress.hpp"

namespace pmemcpy::cli {

/// A variable, or a group with what is in it.
struct Branch {
    std::string name;            ///< the last part of its id; "" for the pool
    std::string id;              ///< "" for the pool
    std::optional<Info> info;    ///< none for the pool, and for a group that was erased just now
    std::vector<Branch> inside;  ///< by name

    bool is_group() const { return !info || info->kind == VariableKind::group; }
};

/// All that is in a group, or in the pool if that is "" or "/"; a variable is a branch of its own.
/// Errors: not_found
Branch hierarchy(const PMEM& pmem, std::string_view id, Progress& progress);

}  // namespace pmemcpy::cli
