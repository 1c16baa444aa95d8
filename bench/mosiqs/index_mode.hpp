#pragma once

// The index of a pool, as the variants `pmemcpy-none`, `-sync` and `-async` want it. Only this file knows its calls.

#include <pmemcpy/index.hpp>
#include <pmemcpy/pmemcpy.hpp>
#include <string_view>

#include "library.hpp"

namespace mosiqs {

inline pmemcpy::IndexMode mode_of(std::string_view mode) {
    return mode == "none"   ? pmemcpy::IndexMode::none
           : mode == "sync" ? pmemcpy::IndexMode::sync
                            : pmemcpy::IndexMode::async;
}

inline void set_index(pmemcpy::Options& options, std::string_view mode) { options.index = mode_of(mode); }

/// When it returns, the pool has such an index, and all that was stored is in it.
inline void flush_index_of(pmemcpy::PMEM& pmem, std::string_view mode) {
    if (pmemcpy::index_mode(pmem) != mode_of(mode)) pmemcpy::set_index_mode(pmem, mode_of(mode));
    if (mode != "none") pmemcpy::flush_index(pmem);
}

}  // namespace mosiqs
