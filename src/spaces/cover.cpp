#include "spaces/cover.hpp"

#include "os/directory.hpp"
#include "os/process.hpp"
#include "spaces/name.hpp"
#include "spaces/space.hpp"

#include <pmemcpy/error.hpp>

#include <fcntl.h>

#include <string_view>

namespace pmemcpy::spaces {
namespace {

using os::Acl;
using Who = os::AclEntry::Who;

constexpr unsigned everything = os::may_read | os::may_write | os::may_enter;
constexpr std::string_view runtime_suffix = ".rt";
constexpr unsigned payload_mark =
    01000;  // on files that have two names by right: payloads and their readable names

// As the kernel makes it of the pattern for a new file: what Options::permissions left to others is in the mask, which stays.
Acl list_for(const os::File& file, const Acl& pattern) {
    const unsigned most = file.is_directory() ? everything : os::may_read | os::may_write;
    const Acl is = os::acl_of(file).value_or(Acl());
    Acl made = pattern;
    made.set(Who::owner, 0, is.bits_of(Who::owner).value_or(most));
    made.set(Who::mask, 0, is.bits_of(Who::mask).value_or(most));
    made.set(Who::other, 0, is.bits_of(Who::other).value_or(0) & pattern.bits_of(Who::other).value_or(0));
    return made;
}

class Walk {
public:
    Walk(const Acl& pattern, Covered& covered) : pattern_(pattern), covered_(covered) {}

    // By O_PATH, so that a FIFO or device that somebody has put there is not opened.
    void cover(const os::File& folder, const std::string& name) {
        const auto file = os::File::open_in(folder, name, O_PATH);
        if (!file) return;
        // A second name may be that of a file elsewhere, which nobody wants to share.
        const bool is_lone = file->link_count() == 1 || (file->mode_bits() & payload_mark) != 0;
        if (file->is_directory() || (file->is_regular() && is_lone)) {
            apply(*file, list_for(*file, pattern_));
        } else {
            covered_.left.push_back(file->path());
        }
    }

    /// The run-time file of a pool. One of another user is put right by whoever opens the pool next.
    void cover_runtime(const os::File& folder, const std::string& pool_name) {
        const auto pool = os::File::open_in(folder, pool_name, O_PATH);
        const auto file = os::File::open_in(folder, pool_name + std::string(runtime_suffix), O_PATH);
        if (!pool || !file || !file->is_regular() || file->link_count() != 1 || !is_ours(*file)) return;
        const auto of_pool = os::acl_of(*pool);
        if (of_pool) apply(*file, os::writers_only(*of_pool, pool->owner(), pool->owning_group()));
    }

private:
    static bool is_ours(const os::File& file) { return os::user_id() == 0 || file.owner() == os::user_id(); }

    void apply(const os::File& file, const Acl& wanted) {
        Acl pattern;
        if (file.is_directory()) pattern = pattern_;
        if (os::acl_of(file) == wanted && (!file.is_directory() || os::default_acl_of(file) == pattern))
            return;
        if (!is_ours(file)) {
            covered_.left.push_back(file.path());
            return;
        }
        if (file.is_directory()) os::set_default_acl(file, pattern);
        os::set_acl(file, wanted);
        covered_.changed = true;
    }

    const Acl& pattern_;
    Covered& covered_;
};

// Only the directory that is looked into is open: a pool's groups may be nested deeper than a process may have files open.
void cover_inside(const os::File& space, const std::string& pool, Walk& walk) {
    std::vector<std::vector<std::string>> folders = {{pool}};
    for (std::size_t i = 0; i < folders.size(); ++i) {
        const std::vector<std::string> path = folders[i];
        auto folder = os::File::open_in(space, ".", O_RDONLY | O_DIRECTORY);
        for (const std::string& name : path) {
            if (folder) folder = os::File::open_in(*folder, name, O_RDONLY | O_DIRECTORY);
        }
        if (!folder) continue;
        for (const std::string& name : os::names_in(*folder)) {
            if (name.ends_with(runtime_suffix) && path.size() == 1) continue;
            walk.cover(*folder, name);
            const auto there = os::look_in(*folder, name);
            if (!there || there->what != os::Named::directory) continue;
            std::vector<std::string> deeper = path;
            deeper.push_back(name);
            folders.push_back(std::move(deeper));
        }
        if (path.size() == 1) walk.cover_runtime(*folder, ".pool");
    }
}

}  // namespace

Acl closed_access(const os::File& space) {
    const unsigned bits = space.mode_bits() >> 6 & everything;
    Acl acl({{Who::owner, 0, bits}, {Who::owning_group, 0, 0}, {Who::mask, 0, 0}, {Who::other, 0, 0}});
    return acl;
}

Acl access_of(const os::File& space) {
    auto acl = os::acl_of(space);
    if (acl) return *acl;
    os::set_acl(space, closed_access(space));  // tells why there are none
    throw Error(Code::unsupported, space.path() + " keeps no access control lists");
}

Acl pattern_of(const os::File& space, const Acl& gate) {
    Acl pattern = gate;
    pattern.set(Who::user, space.owner(), everything);
    pattern.set(Who::mask, 0, everything);
    return pattern;
}

void cover_pool(const os::File& space, const std::string& file, const Acl& pattern, Covered& covered) {
    Walk walk(pattern, covered);
    walk.cover(space, file);
    const auto there = os::look_in(space, file);
    if (there && there->what == os::Named::directory) {
        try {
            cover_inside(space, file, walk);
        } catch (const Error& error) {
            if (error.kind() != Code::permission_denied) throw;
            covered.left.push_back(space.path() + "/" + file);
        }
    } else {
        walk.cover_runtime(space, file);
    }
}

Covered cover_pools(const os::File& space, const Acl& pattern) {
    Covered covered;
    Walk(pattern, covered).cover(space, marker_name);  // what the quota is, all may know
    for (const std::string& file : os::names_in(space)) {
        if (pool_of_file(file)) cover_pool(space, file, pattern, covered);
    }
    return covered;
}

}  // namespace pmemcpy::spaces
