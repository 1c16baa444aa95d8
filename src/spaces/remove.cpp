#include "spaces/remove.hpp"

#include "os/directory.hpp"
#include "os/lock.hpp"
#include "os/process.hpp"
#include "spaces/space.hpp"

#include <pmemcpy/error.hpp>

#include <fcntl.h>

#include <set>

namespace pmemcpy::spaces {
namespace {

// Each takes away one level; more only if somebody keeps putting things there.
constexpr int most_passes = 10'000;

// What is in a directory goes, but directories in it come up beside it: so none is ever deep.
void flatten(const os::File& top, const std::string& name) {
    const auto folder = os::File::open_in(top, name, O_RDONLY | O_DIRECTORY);
    if (!folder) return;
    for (const std::string& inner : os::names_in(*folder)) {
        const auto there = os::look_in(*folder, inner);
        if (there && there->what == os::Named::directory) {
            os::rename_new_in(*folder, inner, top, passing_name(dropped_prefix));
        } else {
            os::remove_in(*folder, inner);
        }
    }
    os::remove_directory_in(top, name);
}

// Its maker holds the lock on its marker until it has its name. Who got the lock has it for himself; without a marker there is nothing
// in it, and whoever just made it makes another.
void remove_unfinished(const os::File& root, const std::string& name) {
    const auto folder = os::File::open_in(root, name, O_RDONLY | O_DIRECTORY);
    auto marker = folder ? os::File::open_in(*folder, marker_name, O_RDWR) : std::nullopt;
    if (!marker) {
        os::remove_directory_in(root, name);
    } else if (os::try_lock(*marker, os::LockKind::exclusive, 0, 1)) {
        remove_tree(root, name);
    }
}

// A death in a drop has left it, whole: it gets its name back. While another has that, only one without pools can go. One without a marker is no
// namespace any more: an earlier version removed what was in it under this name.
void finish_emptying(const os::File& root, const std::string& passing) {
    const auto folder = os::File::open_in(root, passing, O_RDONLY | O_DIRECTORY);
    if (!folder) return;
    auto marker = os::File::open_in(*folder, marker_name, O_RDWR);
    if (marker && !os::try_lock(*marker, os::LockKind::exclusive, 0, 1)) return;
    const bool has_pools = !content_of(*folder).empty();
    if ((marker || has_pools) && give_name_back(root, passing)) return;
    if (has_pools) return;
    const std::string dropped = passing_name(dropped_prefix);
    if (os::rename_new_in(root, passing, root, dropped)) remove_tree(root, dropped);
}

}  // namespace

bool give_name_back(const os::File& root, const std::string& passing) {
    const std::size_t begin = emptying_prefix.size();
    return os::rename_new_in(root, passing, root, passing.substr(begin, passing.rfind('-') - begin));
}

std::vector<std::string> remove_tree(const os::File& root, const std::string& name) {
    std::set<std::string> left;
    {
        const auto top = os::File::open_in(root, name, O_RDONLY | O_DIRECTORY);
        if (!top) return {};
        bool found_more = true;
        for (int pass = 0; found_more && pass < most_passes; ++pass) {
            found_more = false;
            for (const std::string& inner : os::names_in(*top)) {
                if (left.contains(top->path() + "/" + inner)) continue;
                found_more = true;
                try {
                    const auto there = os::look_in(*top, inner);
                    if (there && there->what == os::Named::directory) {
                        flatten(*top, inner);
                    } else {
                        os::remove_in(*top, inner);
                    }
                } catch (const Error& error) {
                    if (error.kind() != Code::permission_denied) throw;
                    left.insert(top->path() + "/" + inner);
                }
            }
        }
    }
    os::remove_directory_in(root, name);
    return {left.begin(), left.end()};
}

void sweep(const os::File& root) {
    for (const std::string& name : os::names_in(root)) {
        const bool is_dropped = name.starts_with(dropped_prefix);
        const bool is_emptying = name.starts_with(emptying_prefix);
        if (!is_dropped && !is_emptying && !name.starts_with(making_prefix)) continue;
        try {
            const auto there = os::look_in(root, name);
            if (!there || there->what != os::Named::directory || there->owner != os::user_id()) continue;
            if (is_dropped) {
                remove_tree(root, name);
            } else if (is_emptying) {
                finish_emptying(root, name);
            } else {
                remove_unfinished(root, name);
            }
        } catch (const Error&) {
            continue;  // in nobody's way, and looked at again the next time
        }
    }
}

}  // namespace pmemcpy::spaces
