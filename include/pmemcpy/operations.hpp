#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <pmemcpy/hint.hpp>
#include <pmemcpy/pmemcpy.hpp>
#include <string>
#include <string_view>
#include <vector>

// Active buffering: a hint says what is to be done with a variable after each store. A process that has the
// pool open does it in the background. The results are variables beside it:
//
//     pmem.alloc<double>("u", {n});
//     hint(pmem, "u", {operation::sort | operation::compress | operation::maximum});
//     pmem.store("u", data, Box{{0}, {n}});        // soon there are `u.max` and `u.sorted`, compressed
//
// docs/operations.md describes each operation, how to add one of your own, and how the library keeps
// functions from doing harm.

namespace pmemcpy {

/// An array in memory, in C order: the input and output of an operation. An array in Fortran order comes with
/// its dimensions reversed.
struct OperationArray {
    Type type;
    Dimensions dims;
    std::vector<std::byte> data{};
};

/// A function of this process; a thread of the library calls it. operation_state() reports what it throws. It
/// can neither run operations nor wait for them.
using Operate = std::function<OperationArray(const OperationArray&)>;

/// Limits of a registered function that runs in a process of its own.
struct OperationLimits {
    double seconds = 60;
    std::uint64_t bytes = 0;  ///< memory and output beside its input; 0: 256 MiB and four times the input
};

/// A registered function.
struct OperationInfo {
    std::string name;
    int number = 0;           ///< operation::registered(number) is its bit
    bool in_process = false;  ///< a function of a process, not in a library beside the pool
    std::string library{};    ///< path of the library
    OperationLimits limits{};
    std::string trouble{};  ///< why this process does not call it; empty if it does
};

/// The state of the operations on one variable.
struct OperationState {
    enum class Progress {
        none,  ///< it has no hint
        /// Until a process opens the pool or comes to it, or until the rest of the array is stored.
        waiting,
        done,    ///< for the present content
        failed,  ///< `trouble` says why; tried again when the variable is stored anew or gets another hint
    };
    std::string id;
    Hint hint{};
    Progress progress = Progress::none;
    std::string trouble{};
};

/// "none", "waiting", "done", "failed".
const char* name_of(OperationState::Progress progress) noexcept;

/// Applies operations to an array after each store into it, beginning with its present content. The hint is
/// kept in the pool with the variable; `Hint{}` removes it. ArrayOptions::hint does the same for a new array.
///
/// A result is a variable named after the array and the operations: `u.max`, `u.sorted`, `u.unique.sorted`.
/// It has the attributes `operation`, `operation_source`, `operation_version` (changes with the content),
/// `operation_time` and `operation_program`.
/// Crash: content that stays is operated on by a process that has the pool open or opens it next. Results
///     appear whole or not at all. When a result replaces an older one, for a moment neither is there.
/// Sharing: any process that has the pool open for writing may do the work, one at a time for a variable.
///     Other processes notice the first hint of a pool when they next store.
/// Errors: not_found; invalid_argument (not an array; bits that stand for no operation; compress together
///     with decompress; bins of 0 or more than 2^20); unsupported (a codec that this build does not have; a
///     contiguous array).
void hint(PMEM& pool, std::string_view id, const Hint& hint);
/// The hint of a variable; `Hint{}` if it has none. Errors: not_found.
Hint hint_of(const PMEM& pool, std::string_view id);
/// The state of one variable. Errors: not_found.
OperationState operation_state(const PMEM& pool, std::string_view id);
/// The states of all variables that have a hint. Looks at each variable of the pool.
std::vector<OperationState> operation_states(const PMEM& pool);
/// Waits until the operations on everything stored before the call are done or have failed. Does not wait for
/// a function that only another process has, nor for arrays that are not complete. Errors: unsupported in an
/// Operate, which could wait for itself.
void wait_for_operations(PMEM& pool);
/// Applies operations once, in this call, whatever the variable's hint. Returns the ids of the results.
/// Errors: those of hint(); not_found when some part of the array was never stored; already_exists when a
///     variable has the name of a result and is none of this array; busy when others keep storing into the
///     array; corrupt when some of it is damaged; unsupported in an Operate; and errors of the operations
///     themselves.
std::vector<std::string> run_operations(PMEM& pool, std::string_view id, const Hint& hint);

/// Registers a function for all processes that open the pool, under the next free of 16 bits. Returns that
/// bit as a mask. `file` is a shared library with the interface of <pmemcpy/operation.h>, which is copied
/// beside the pool (`POOL.ops/NAME.so`), or a source file (.c, .cc, .cpp, .cxx), which $CC or $CXX (else cc
/// or c++) compiles there.
/// Sharing: a process calls only libraries that none but its own user, and root, can write.
/// Errors: already_exists; not_found (the file); invalid_argument (the name: 1 to 64 letters, digits, `_` and
///     `-`, other than the name of an operation; errors of the compiler; a library without such a function);
///     no_space (16 are registered); permission_denied.
std::uint32_t add_operation(PMEM& pool, const std::string& name, const std::string& file,
                            const OperationLimits& limits = {});
/// Registers a function of this process, until it closes the pool. Variables with its bit wait while no
/// process has the function. It is called in this process, where nothing keeps it from doing harm. The same
/// name gives the same bit in any process.
std::uint32_t add_operation(PMEM& pool, const std::string& name, Operate function);
/// Removes a registered function. Errors: not_found; busy, when a variable has a hint with its bit.
void remove_operation(PMEM& pool, const std::string& name);
/// The functions registered in a pool.
std::vector<OperationInfo> registered_operations(const PMEM& pool);

/// The mask of operations from their names: "decompress", "min", "max", "sum", "histogram", "deduplicate",
/// "sort", "compress", "persist", and those of registered functions. Errors: invalid_argument, with a list of
/// the names.
std::uint32_t operation_mask(const PMEM& pool, const std::vector<std::string>& names);
/// The names of the operations in a mask, in the order in which they are done.
std::vector<std::string> operation_names(const PMEM& pool, std::uint32_t mask);

}  // namespace pmemcpy
