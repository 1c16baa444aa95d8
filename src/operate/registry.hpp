#pragma once

#include "os/file.hpp"
#include "store/store.hpp"

#include <pmemcpy/operations.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace pmemcpy::operate {

/// A function that is registered in a pool: kept with the pool's own attributes, its library beside the pool.
struct Registered {
    std::string name;
    int number = 0;
    bool in_process = false;
    OperationLimits limits{};
};

/// In the order of their numbers.
std::vector<Registered> registered_in(const store::Store& store);

/// Errors: already_exists; invalid_argument; no_space.
int register_in_process(store::Store& store, const std::string& name);
/// Errors: those of add_operation() for a file.
int register_file(store::Store& store, const std::string& name, const std::string& file,
                  const OperationLimits& limits);
/// Errors: not_found.
void unregister(store::Store& store, const std::string& name);

std::string path_of_library(const store::Store& store, const std::string& name);
/// A copy of it, in memory, as it was looked at.
/// Errors: permission_denied when somebody else may write it, or the folder that it lies in; not_found.
os::File open_library(const store::Store& store, const std::string& name);

}  // namespace pmemcpy::operate
