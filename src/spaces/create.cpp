// A namespace comes to be under a name that nobody looks for, and gets its own when it is whole; it goes the other way round.

#include <pmemcpy/namespaces.hpp>

#include "os/access.hpp"
#include "os/directory.hpp"
#include "os/lock.hpp"
#include "os/process.hpp"
#include "os/user.hpp"
#include "spaces/cover.hpp"
#include "spaces/marker.hpp"
#include "spaces/name.hpp"
#include "spaces/remove.hpp"
#include "spaces/space.hpp"

#include <pmemcpy/error.hpp>

#include <fcntl.h>

#include <utility>

namespace pmemcpy {

namespace {

using namespace spaces;

constexpr int most_attempts = 10;  // each one: somebody swept the directory away before it was locked
constexpr unsigned others_may_write = 0022;
constexpr unsigned sticky = 01000;

void check_root(const os::File& root) {
    const unsigned mode = root.mode_bits();
    if ((mode & others_may_write) == 0 || (mode & sticky) != 0) return;
    throw Error(Code::permission_denied,
                root.path() +
                    " can be written by others and has no sticky bit, so they could remove or replace a "
                    "namespace in it; its owner should set it: `chmod +t " +
                    root.path() + "`");
}

struct Made {
    std::string name;
    os::File folder;
    os::File marker;  // locked as long as this lives
};

// Nothing, if another process of this user took it for something left behind.
std::optional<Made> try_make(const os::File& root) {
    const std::string name = passing_name(making_prefix);
    if (!os::make_directory_in(root, name, 0700)) return std::nullopt;
    auto folder = os::File::open_in(root, name, O_RDONLY | O_DIRECTORY);
    if (!folder) return std::nullopt;
    // A mode that the root's own default list or this process's umask has not touched.
    folder->set_mode_bits(0700);
    auto marker = os::File::open_in(*folder, marker_name, O_RDWR | O_CREAT | O_EXCL, 0644);
    if (!marker || !os::try_lock(*marker, os::LockKind::exclusive, 0, 1)) return std::nullopt;
    return Made{name, std::move(*folder), std::move(*marker)};
}

Made make(const os::File& root) {
    for (int attempt = 0; attempt < most_attempts; ++attempt) {
        if (auto made = try_make(root)) return std::move(*made);
    }
    throw Error(Code::busy, "others keep removing what is made in " + root.path() + "; try again");
}

// Without lists nobody can be let in, but its owner can use it.
void begin_lists(const os::File& folder) {
    try {
        const os::Acl gate = closed_access(folder);
        os::set_default_acl(folder, pattern_of(folder, gate));
        os::set_acl(folder, gate);
        cover_pools(folder, pattern_of(folder, gate));  // its marker is older
    } catch (const Error& error) {
        if (error.kind() != Code::unsupported) throw;
    }
}

void check_same(const os::File& space, const std::string& name, const os::File& root,
                const std::string& passing) {
    const auto taken = os::look_in(root, passing);
    if (taken && taken->identity == space.identity()) return;
    throw Error(Code::busy, "another process dropped the namespace '" + name +
                                "' and made another of its name meanwhile; try again");
}

void check_empty(const os::File& space, const std::string& name) {
    const std::vector<std::string> left = content_of(space);
    if (left.empty()) return;
    throw Error(Code::busy, "the namespace '" + name + "' still has " + std::to_string(left.size()) +
                                (left.size() == 1 ? " pool" : " pools") + ", such as " + space.path() + "/" +
                                left[0] +
                                "; drop it with its pools (with_pools, or pmemcpy ns drop --force), "
                                "which loses their content");
}

// Takes a namespace's name away for good, and returns the one that it has then. Between a look and the renaming another process may drop the
// namespace and make another, or may make a pool in it. Under a name that nobody looks for nothing comes any more; so the looks that count are
// behind the renaming, and a namespace that is not to go gets its name back. The lock says that this process is at it; after a death the sweep
// gives the name back.
std::string take(const os::File& root, const os::File& space, const std::string& name, Drop what) {
    if (what == Drop::only_empty) check_empty(space, name);
    auto marker = os::File::open_in(space, marker_name, O_RDWR);
    if (!marker || !os::try_lock(*marker, os::LockKind::exclusive, 0, 1))
        throw Error(Code::busy, "another process makes or drops the namespace '" + name + "'; try again");
    const std::string passing = passing_name((emptying_prefix + name + "-").c_str());
    if (!os::rename_new_in(root, name, root, passing))
        throw Error(Code::not_found, "the namespace '" + name + "' was dropped by another process meanwhile");
    try {
        check_same(space, name, root, passing);
        if (what == Drop::only_empty) check_empty(space, name);
    } catch (const Error&) {
        if (give_name_back(root, passing)) throw;
        throw Error(Code::busy, "the namespace '" + name +
                                    "' changed while it was dropped, and its name has been taken since: "
                                    "it is " +
                                    root.path() + "/" + passing + " until that name is free");
    }
    std::string dropped = passing_name(dropped_prefix);
    if (os::rename_new_in(root, passing, root, dropped)) return dropped;
    throw Error(Code::busy, "another process changed the namespace '" + name + "' meanwhile; try again");
}

}  // namespace

void create_namespace(const std::string& name, const std::string& root_path) {
    check_namespace_name(name);
    os::File root = open_root(root_path);
    check_root(root);
    sweep(root);
    Made made = make(root);
    try {
        begin_lists(made.folder);
        const std::string text = text_of({});
        made.marker.write_exactly(text.data(), text.size(), 0);
        made.marker.sync_all();
        made.folder.sync_all();
        if (!os::rename_new_in(root, made.name, root, name)) {
            const auto there = os::look_in(root, name);
            throw Error(Code::already_exists,
                        "there is something called '" + name + "' in " + root.path() + " already" +
                            (there ? ", which belongs to " + os::name_of_user(there->owner) : "") +
                            "; take another name");
        }
    } catch (...) {
        remove_tree(root, made.name);
        throw;
    }
    root.sync_all();
}

void drop_namespace(const std::string& name, Drop what, const std::string& root_path) {
    os::File root = open_root(root_path);
    sweep(root);
    const os::File space = open_space(root, name);
    check_owner(space, name, "drop it");
    const std::string dropped = take(root, space, name, what);
    root.sync_all();
    const std::vector<std::string> left = remove_tree(root, dropped);
    if (left.empty()) return;
    throw Error(Code::permission_denied,
                "the namespace '" + name + "' is dropped and its name is free, but " + left[0] +
                    (left.size() > 1 ? " and " + std::to_string(left.size() - 1) + " more" : std::string()) +
                    " belongs to another user, who alone can remove it");
}

}  // namespace pmemcpy
