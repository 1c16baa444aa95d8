#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <pmemcpy/hint.hpp>
#include <pmemcpy/pmemcpy.hpp>
#include <string>
#include <string_view>
#include <vector>

// Active buffering: a variable is stored with a hint of what is to be done with it, and who has the pool open does it in the
// background. What comes of it are variables beside it:
//
//     pmem.alloc<double>("u", {n});
//     hint(pmem, "u", {operation::sort | operation::compress | operation::maximum});
//     pmem.store("u", data, Box{{0}, {n}});        // soon there are `u.max` and `u.sorted`, compressed
//
// docs/operations.md has each operation, how to add one's own, and how they are kept from doing harm.

namespace pmemcpy {

/// An array in memory, in C order: what an operation gets and gives. One in Fortran order comes with its dimensions the other way
/// round.
struct OperationArray {
    Type type;
    Dimensions dims;
    std::vector<std::byte> data{};
};

/// A function of this process, called by a thread of the library. What it throws is told by operation_state().
using Operate = std::function<OperationArray(const OperationArray&)>;

/// What a registered function may take, when it is called in a process of its own.
struct OperationLimits {
    double seconds = 60;
    std::uint64_t bytes =
        0;  ///< of memory and of its output, beside its input; 0: 256 MiB and four times the input
};

/// A registered function.
struct OperationInfo {
    std::string name;
    int number = 0;           ///< operation::registered(number) is its bit
    bool in_process = false;  ///< one of a process, and not in a library beside the pool
    std::string library{};    ///< its path
    OperationLimits limits{};
    std::string trouble{};  ///< why this process does not call it; empty if it does
};

/// How far it is with a variable.
struct OperationState {
    enum class Progress {
        none,     ///< it has no hint
        waiting,  ///< for whoever has the pool open, or opens it; or for the rest of the array to be stored
        done,     ///< with what is stored at present
        failed,   ///< `trouble` says why; tried again when it is stored anew, or has another hint
    };
    std::string id;
    Hint hint{};
    Progress progress = Progress::none;
    std::string trouble{};
};

/// "none", "waiting", "done", "failed".
const char* name_of(OperationState::Progress progress) noexcept;

/// Has operations done with an array whenever something was stored into it, beginning with what is there. Kept in the pool with the
/// variable; `Hint{}` takes it away. ArrayOptions::hint does the same for a new array.
/// A result is a variable called as the array, a dot, and what was done: `u.max`, `u.sorted`, `u.unique.sorted`. It has the attributes
/// `operation`, `operation_source`, `operation_version` (another number for other content), `operation_time` and `operation_program`.
/// Crash: each content that stays is operated on, by whoever has the pool open or opens it next; its results appear whole or not at
///     all. When a new result takes the place of an old one there is a moment in which neither is there.
/// Sharing: any process that has the pool open for writing may do it, one at a time for a variable. The first hint of a pool is heard
///     of by other processes when they next store something.
/// Errors: not_found; invalid_argument (what is no array; bits that stand for no operation; compress together with decompress;
///     bins of 0 or more than 2^20); unsupported (a codec that this build does not have; an array that is contiguous).
void hint(PMEM& pool, std::string_view id, const Hint& hint);
/// `Hint{}` if it has none. Errors: not_found.
Hint hint_of(const PMEM& pool, std::string_view id);
/// Errors: not_found.
OperationState operation_state(const PMEM& pool, std::string_view id);
/// Of all variables that have a hint. Looks at each variable of the pool.
std::vector<OperationState> operation_states(const PMEM& pool);
/// Until all that was stored before the call is done, or has failed. What waits for another process that alone has a function, or
/// for the rest of an array to be stored, is not waited for.
void wait_for_operations(PMEM& pool);
/// Does them now, in this call, once, whatever the hint of the variable is. Returns the ids of the results.
/// Errors: those of hint(); not_found when nothing was stored in some part of the array; already_exists when a variable has the name of a
///     result and is none of this array; busy when it is stored into all the time; and what the operations themselves fail with.
std::vector<std::string> run_operations(PMEM& pool, std::string_view id, const Hint& hint);

/// Registers a function for all who open the pool, under the next of the 16 bits that is free, which it returns as a mask. `file` is a shared
/// library with the interface of <pmemcpy/operation.h>, which is copied beside the pool (`POOL.ops/NAME.so`), or a source file (.c, .cc,
/// .cpp, .cxx), which is compiled to there by $CC or $CXX, or cc or c++.
/// Sharing: a process calls only libraries that nobody but its own user, and root, can write.
/// Errors: already_exists; not_found (the file); invalid_argument (the name: 1 to 64 letters, digits, `_` and `-`, and none of an
///     operation; what the compiler says; a library without such a function); no_space (16 are there); permission_denied.
std::uint32_t add_operation(PMEM& pool, const std::string& name, const std::string& file,
                            const OperationLimits& limits = {});
/// The same for a function of this process, until the pool is closed: what has its bit waits as long as no process has it. It is
/// called in this process, where it is not kept from doing harm. Registering the same name again, in whatever process, gives the same bit.
std::uint32_t add_operation(PMEM& pool, const std::string& name, Operate function);
/// Errors: not_found; busy, when a variable has a hint with its bit.
void remove_operation(PMEM& pool, const std::string& name);
std::vector<OperationInfo> registered_operations(const PMEM& pool);

/// The mask of operations by their names: "decompress", "min", "max", "sum", "histogram", "deduplicate", "sort", "compress", "persist",
/// and those of registered functions. Errors: invalid_argument, which lists what there is.
std::uint32_t operation_mask(const PMEM& pool, const std::vector<std::string>& names);
/// In the order in which they are done.
std::vector<std::string> operation_names(const PMEM& pool, std::uint32_t mask);

}  // namespace pmemcpy
