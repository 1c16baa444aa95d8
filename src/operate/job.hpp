#pragma once

#include "operate/sandbox.hpp"
#include "store/store.hpp"

#include <cstdint>
#include <functional>
#include <pmemcpy/operations.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace pmemcpy::operate {

/// The functions of this process by name; empty where it has none of this name.
using Functions = std::function<Operate(const std::string& name)>;

/// Part of the array was not stored yet.
struct Incomplete {
    std::string text;
};

/// Which lock stands for a variable, whatever else it stands for.
std::uint64_t lock_number(std::string_view id);

/// Why this process cannot do all of it itself; empty if it can.
std::string trouble_with(const store::Store& store, std::uint32_t mask, const Functions& functions);

struct Made {
    std::uint64_t content = 0;  // the fingerprint of what was operated on
    std::vector<std::string> ids{};
};

/// Does what a mask says with one variable, and publishes the results. The caller holds the lock of the variable.
/// Errors: those of run_operations(); busy when the content changes all the time; Incomplete; Stopped.
Made operate_on(store::Store& store, const std::string& id, const Hint& hint, const Functions& functions,
                const IsWanted& is_wanted);

/// Errors: unsupported, when a function that is registered in this process makes the call `what`: it could wait for itself.
void refuse_in_function(const char* what);

/// Removes what killed processes have left.
void sweep_drafts(store::Store& store);

}  // namespace pmemcpy::operate
