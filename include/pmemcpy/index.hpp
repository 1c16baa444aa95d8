#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

// The index of a pool: what queries find objects by without looking at each. It is made of what is in the pool, lies beside it in
// `<pool>.idx`, and may be deleted at any moment: it is made anew. What a query finds never depends on it, only how long it takes.

namespace pmemcpy {

class PMEM;

/// Who sees to it that what is stored can be found by the index.
enum class IndexMode {
    none,   ///< there is no index: a query looks at every object
    async,  ///< a thread of each process that writes the pool, in the pause behind a burst of stores
    sync,  ///< the call that stores: when one returns, at most 256 changes are not in it, which queries look at themselves
};

/// How far the index of a pool is.
struct IndexInfo {
    IndexMode mode = IndexMode::none;  ///< of the pool
    bool is_complete =
        false;  ///< it has everything but what was changed just now; if not, queries look at every object
    std::uint64_t objects = 0;  ///< that it has
    std::uint64_t objects_to_do =
        0;  ///< when it is not complete and this process makes it so: that are still to be looked at
    std::uint64_t changes_behind =
        0;  ///< so many changes of the pool it does not have yet; queries look at these themselves
    std::uint64_t bytes = 0;  ///< on the file system
    std::string trouble{};    ///< why it is not kept, or was not when it was tried last; empty if it is
};

IndexMode index_mode(const PMEM& pool);
/// The mode of a variable or a group and of all that is in it, in the place of the pool's; the nearest group counts that has one.
/// Of what is under `none` the index knows no more than that it is there: each query looks at it. Processes that had the pool open
/// before go on as they do; what they store is found all the same. Nothing: the pool's mode again, or that of a group above.
/// Errors: not_found; permission_denied; invalid_argument in a pool without an index.
void set_index_mode(PMEM& pool, std::string_view id, std::optional<IndexMode> mode);
/// What counts for an id.
IndexMode index_mode(const PMEM& pool, std::string_view id);
/// Kept in the pool, so that it holds for all who open it later, until it is set anew. Processes that have the pool open go on in
/// the mode in which they opened it; what they store is found all the same. `none` removes the index.
/// Errors: permission_denied; no_space, io_error.
void set_index_mode(PMEM& pool, IndexMode mode);
/// Waits until everything that was stored before the call is in the index, and the index complete; what others may read of it who
/// may not write the pool is as new then. Nothing in a pool without one.
/// Errors: permission_denied; unsupported, no_space, io_error when it cannot be kept.
void flush_index(PMEM& pool);
IndexInfo index_info(const PMEM& pool);

/// "none", "async", "sync".
const char* name_of(IndexMode mode) noexcept;

}  // namespace pmemcpy
