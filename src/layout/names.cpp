// Every step goes from one open directory to the next by a single component and O_NOFOLLOW, so that no symbolic
// link in the tree, planted before or meanwhile, leads outside.

#include "layout/names.hpp"

#include "base/hash.hpp"
#include "layout/payload_name.hpp"
#include "os/directory.hpp"

#include <pmemcpy/error.hpp>

#include <algorithm>
#include <set>

namespace pmemcpy::layout {
namespace {

constexpr std::size_t longest_name = 255;
constexpr int most_attempts = 4;  // each one: somebody has just removed the empty directory that we had made

std::string hashed(std::string_view component) { return "#" + name_of_payload(base::xxh3_64(component)); }

bool looks_hashed(std::string_view component) {
    return component.front() == '#' && number_of_payload(component.substr(1)).has_value();
}

using Components = std::vector<std::string>;

Components without_last(Components components) {
    components.pop_back();
    return components;
}

}  // namespace

Components Names::components_of(std::string_view id) {
    Components components;
    for (std::size_t begin = 0; begin <= id.size();) {
        const std::size_t end = std::min(id.find('/', begin), id.size());
        const std::string_view component = id.substr(begin, end - begin);
        begin = end + 1;
        if (component.empty()) continue;
        const bool plain =
            component.size() <= longest_name && component.front() != '.' && !looks_hashed(component);
        components.push_back(plain ? std::string(component) : hashed(component));
    }
    return components;
}

// Nothing when some component is missing; an Error when one is no directory itself.
std::optional<os::File> Names::folder_of(const Components& components, Missing missing) const {
    const auto mode = static_cast<mode_t>(root_.mode_bits() & 0777);
    auto folder = os::File::open_in(root_, ".", O_RDONLY | O_DIRECTORY);
    for (const std::string& component : components) {
        if (!folder) return std::nullopt;
        if (missing == Missing::make) os::make_directory_in(*folder, component, mode);
        folder = os::File::open_in(*folder, component, O_RDONLY | O_DIRECTORY);
    }
    return folder;
}

void Names::link(std::string_view id, std::uint64_t number) const {
    const Components components = components_of(id);
    if (components.empty()) return;
    for (int attempt = 0; attempt < most_attempts; ++attempt) {
        try {
            if (const auto folder = folder_of(without_last(components), Missing::make)) {
                return put(*folder, components.back(), number);
            }
        } catch (const Error& error) {
            if (error.kind() != Code::not_found) return;
        }
    }
}

void Names::put(const os::File& folder, const std::string& name, std::uint64_t number) const {
    const std::string payload = name_of_payload(number);
    for (int attempt = 0; attempt < most_attempts; ++attempt) {
        if (os::link_in(data_, payload, folder, name)) return;
        const auto there = os::look_in(folder, name);
        const auto wanted = os::look_in(data_, payload);
        if (!wanted || (there && there->identity == wanted->identity)) return;
        if (there && there->what == os::Named::directory) {
            if (!os::remove_directory_in(folder, name)) return;  // else left by a group that was erased
        } else if (there && !is_payload(*there)) {
            return;  // somebody's own: it stays
        } else if (there && replace(folder, name, payload)) {
            return;
        }
    }
}

// The two change places at once, and what has come out is looked at then: no other process touches it under its passing name. False
// if the name is to be looked at again.
bool Names::replace(const os::File& folder, const std::string& name, const std::string& payload) const {
    const std::string passing = draw_passing();
    if (!os::link_in(data_, payload, data_, passing)) return false;
    if (!os::exchange_in(data_, passing, folder, name)) {
        os::remove_in(data_, passing);
        take_away(folder, name);  // ext2 can exchange nothing
        return false;
    }
    if (drop(passing)) return true;
    // A user's, which has come since the look: it gets its name back.
    if (!os::exchange_in(data_, passing, folder, name)) os::rename_new_in(data_, passing, folder, name);
    drop(passing);
    return true;
}

// False if no payload has the name any more. A user's file that has come since the look gets its name back, unless the user has given
// that to another one: then it stays in `.data`.
bool Names::take_away(const os::File& folder, const std::string& name) const {
    for (int attempt = 0; attempt < most_attempts; ++attempt) {
        const std::string passing = draw_passing();
        if (!os::rename_new_in(folder, name, data_, passing)) {
            if (!os::look_in(data_, passing))
                return false;  // else of a dead process that had the same owner's number
            continue;
        }
        if (drop(passing)) return true;
        os::rename_new_in(data_, passing, folder, name);
        return false;
    }
    return false;
}

bool Names::drop(const std::string& passing) const {
    const auto there = os::look_in(data_, passing);
    return there && is_payload(*there) && os::remove_in(data_, passing);
}

// Another one each time, by which it is known whose it is: PayloadFiles::sweep_passing() leaves those of the living.
std::string Names::draw_passing() const {
    const std::uint64_t drawn = drawn_.fetch_add(1);
    return passing_name_of(
        pool_ == nullptr ? drawn : passing_number(pool_->owner(), pool_->session_began_at(), drawn));
}

void Names::unlink(std::string_view id) const {
    const Components components = components_of(id);
    if (components.empty()) return;
    try {
        const auto folder = folder_of(without_last(components), Missing::leave);
        const auto there = folder ? os::look_in(*folder, components.back()) : std::nullopt;
        if (there && is_payload(*there)) take_away(*folder, components.back());
    } catch (const Error&) {
        return;  // no such name, or not ours
    }
}

void Names::remove_group(std::string_view id) const { remove_directory(components_of(id)); }

bool Names::remove_directory(const Components& components) const {
    if (components.empty()) return false;
    try {
        const auto folder = folder_of(without_last(components), Missing::leave);
        return folder && os::remove_directory_in(*folder, components.back());
    } catch (const Error&) {
        return false;  // not ours
    }
}

void Names::keep_only(const std::vector<std::string>& ids) const {
    std::set<Components> wanted;
    for (const std::string& id : ids) wanted.insert(components_of(id));
    struct Folder {
        Components path;
        std::size_t parent;
        bool has_lost;
    };
    // Only one directory stays open over the walk: ids may be deeper than a process may have files open.
    std::vector<Folder> folders = {{{}, 0, false}};
    std::optional<os::File> folder;
    std::size_t opened = 0;
    for (std::size_t i = 0; i < folders.size(); ++i) {
        try {
            const bool inside = i > 0 && folders[i].parent == opened && folder;
            folder = inside ? os::File::open_in(*folder, folders[i].path.back(), O_RDONLY | O_DIRECTORY)
                            : folder_of(folders[i].path, Missing::leave);
            opened = i;
            if (!folder) continue;
            for (const std::string& name : os::names_in(*folder)) {
                const auto there = os::look_in(*folder, name);
                if (!there || name.front() == '.') continue;
                Components path = folders[i].path;
                path.push_back(name);
                if (there->what == os::Named::directory) {
                    folders.push_back({std::move(path), i, false});
                } else if (is_payload(*there) && !wanted.contains(path)) {
                    folders[i].has_lost = take_away(*folder, name) || folders[i].has_lost;
                }
            }
        } catch (const Error&) {
            folder.reset();  // somebody's own directory, closed to us
        }
    }
    for (std::size_t i = folders.size(); i-- > 1;) {  // the deepest first
        if (folders[i].has_lost && remove_directory(folders[i].path))
            folders[folders[i].parent].has_lost = true;
    }
}

}  // namespace pmemcpy::layout
