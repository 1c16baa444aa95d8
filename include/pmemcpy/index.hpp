#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

// The index of a pool: queries find objects by it without looking at each. It is derived from the pool, lies
// beside it in `<pool>.idx`, and may be deleted at any moment; it is then built again. An index changes how
// long a query takes, never what it finds.

namespace pmemcpy {

class PMEM;

/// When stored objects enter the index, and which process adds them.
enum class IndexMode {
    none,   ///< no index: a query looks at every object
    async,  ///< a thread of each writing process adds them, in the pause after a burst of stores
    /// The storing call adds them: when it returns, at most 256 changes are missing, which queries look at
    /// themselves.
    sync,
};

/// The state of a pool's index.
struct IndexInfo {
    IndexMode mode = IndexMode::none;  ///< of the pool
    /// It has all but the latest changes; if false, queries look at every object.
    bool is_complete = false;
    std::uint64_t objects = 0;        ///< objects in the index
    std::uint64_t objects_to_do = 0;  ///< while this process builds the index: objects it has still to add
    /// Changes of the pool that are not in the index yet; queries look at these objects themselves.
    std::uint64_t changes_behind = 0;
    std::uint64_t bytes = 0;  ///< size of its file
    std::string trouble{};    ///< why the index is not kept; empty if it is
};

/// The index mode of a pool.
IndexMode index_mode(const PMEM& pool);
/// Sets the mode of a variable or a group with all its members, instead of the pool's. The nearest group that
/// has a mode decides; an empty `mode` removes this one. Of objects under `none` the index has only the ids,
/// so each query looks at them. Processes that had the pool open before keep their mode; queries find what
/// they store in any case.
/// Errors: not_found; permission_denied; invalid_argument in a pool without an index.
void set_index_mode(PMEM& pool, std::string_view id, std::optional<IndexMode> mode);
/// The mode that counts for an id.
IndexMode index_mode(const PMEM& pool, std::string_view id);
/// Sets the mode of the pool, for all processes that open it later. Processes that have it open keep the mode
/// in which they opened it; queries find what they store in any case. `none` removes the index.
/// Errors: permission_denied; unsupported in a step; no_space, io_error.
void set_index_mode(PMEM& pool, IndexMode mode);
/// Waits until the index is complete and holds everything stored before the call, also for processes that may
/// only read the pool. Does nothing in a pool without an index.
/// Errors: permission_denied; unsupported, no_space, io_error when the index cannot be kept.
void flush_index(PMEM& pool);
/// The state of a pool's index.
IndexInfo index_info(const PMEM& pool);

/// The name of a mode: "none", "async", "sync".
const char* name_of(IndexMode mode) noexcept;

}  // namespace pmemcpy
