#include "spaces/newcomer.hpp"

#include "os/directory.hpp"
#include "os/names.hpp"
#include "os/space.hpp"
#include "spaces/cover.hpp"
#include "spaces/marker.hpp"
#include "spaces/name.hpp"
#include "spaces/space.hpp"

#include <pmemcpy/error.hpp>

#include <fcntl.h>

#include <algorithm>

namespace pmemcpy::spaces {

namespace {

// In a directory where everybody may put files, such as /dev/shm, somebody could put a marker that keeps others from making pools.
bool is_namespace(const os::File& folder) {
    const auto marker = os::look_in(folder, marker_name);
    return marker && marker->what == os::Named::regular &&
           (marker->owner == folder.owner() || marker->owner == 0);
}

}  // namespace

Newcomer::Newcomer(const std::string& path) {
    file_ = path.substr(path.rfind('/') + 1);
    try {
        space_ = os::File::open_if_exists(os::folder_of(path), O_RDONLY | O_DIRECTORY);
        if (space_ && !is_namespace(*space_)) space_.reset();
    } catch (const Error&) {
        space_.reset();  // a directory that cannot be listed; making the pool tells whether that matters
    }
}

std::uint64_t Newcomer::admit(std::uint64_t asked) const {
    if (!space_) return asked;
    const std::uint64_t limit = read_marker(*space_).quota_bytes;
    if (limit == 0) return asked;
    std::uint64_t used = 0;
    for (const NamespacePool& pool : pools_in(*space_)) {
        if (file_of_pool(pool.name) != file_) used += std::min(pool.max_bytes, UINT64_MAX - used);
    }
    const std::uint64_t left = limit - std::min(used, limit);
    if (asked > left || left == 0) {
        throw Error(Code::no_space,
                    "the quota of " + space_->path() + " leaves a new pool " + std::to_string(left) +
                        " bytes" + (asked > 0 ? ", asked for " + std::to_string(asked) : "") +
                        ": its pools may grow to " + std::to_string(used) + " of " + std::to_string(limit) +
                        " bytes together; make a smaller one, or raise it by `pmemcpy ns quota` (it is "
                        "advisory: only this library asks for it)");
    }
    return asked != 0 ? asked : std::min(left, os::headroom_bytes(*space_));
}

void Newcomer::settle() const {
    if (!space_) return;
    const auto pattern = os::default_acl_of(*space_);
    if (!pattern || pattern->entries().empty()) return;
    Covered covered;
    cover_pool(*space_, file_, *pattern, covered);
}

}  // namespace pmemcpy::spaces
