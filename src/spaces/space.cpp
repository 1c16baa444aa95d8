#include "spaces/space.hpp"

#include "os/process.hpp"
#include "os/user.hpp"
#include "spaces/name.hpp"

#include <pmemcpy/error.hpp>

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <random>

namespace pmemcpy::spaces {
namespace {

constexpr const char* variable = "PMEMCPY_ROOT";

// A directory pool's size is that of its file of records, as that of any pool.
constexpr const char* records_name = ".pool";

std::string root_path(const std::string& given) {
    if (!given.empty()) return given;
    const char* wanted = std::getenv(variable);
    if (wanted == nullptr || *wanted == '\0') {
        throw Error(
            Code::invalid_argument,
            "no directory is known for namespaces to lie in: set PMEMCPY_ROOT to one in the environment, or "
            "name one");
    }
    if (*wanted != '/') {
        throw Error(Code::invalid_argument, std::string("PMEMCPY_ROOT is '") + wanted +
                                                "', which is another directory from each place; give it a "
                                                "path that begins with /");
    }
    return wanted;
}

}  // namespace

os::File open_root(const std::string& given) {
    const std::string path = root_path(given);
    try {
        return os::File::open(path, O_RDONLY | O_DIRECTORY);
    } catch (const Error& error) {
        if (error.kind() != Code::not_found) throw;
    }
    throw Error(Code::not_found, "there is no directory " + path +
                                     " for namespaces to lie in; make it: `mkdir -m 1777 " + path +
                                     "` lets everybody make namespaces, and nobody remove those of others");
}

std::string passing_name(const char* prefix) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::random_device random;
    std::string name = prefix;
    for (int i = 0; i < 16; ++i) name += digits[random() % digits.size()];
    return name;
}

os::Named look_at_space(const os::File& root, const std::string& name) {
    check_namespace_name(name);
    const auto there = os::look_in(root, name);
    if (!there) {
        throw Error(Code::not_found, "there is no namespace '" + name + "' in " + root.path() +
                                         "; `pmemcpy ns list` tells which there are, `pmemcpy ns create " +
                                         name + "` makes it");
    }
    if (there->what != os::Named::directory) {
        throw Error(Code::invalid_argument, root.path() + "/" + name +
                                                " is no namespace: it is no directory itself, but a file or "
                                                "a link");
    }
    return *there;
}

os::File open_space(const os::File& root, const std::string& name) {
    const os::Named there = look_at_space(root, name);
    try {
        auto space = os::File::open_in(root, name, O_RDONLY | O_DIRECTORY);
        if (space) {
            const auto marker = os::look_in(*space, marker_name);
            if (marker && marker->what == os::Named::regular) return std::move(*space);
        }
    } catch (const Error& error) {
        if (error.kind() != Code::permission_denied) throw;
        const std::string owner = os::name_of_user(there.owner);
        throw Error(Code::permission_denied,
                    "the namespace '" + name + "' in " + root.path() + " belongs to " + owner +
                        ", who has not let you in; what to ask for: pmemcpy ns grant " + name + " --user " +
                        os::name_of_user(os::user_id()) + " --read");
    }
    throw Error(Code::not_found, root.path() + "/" + name +
                                     " is a directory and no namespace: it has no file " + marker_name +
                                     ", which `pmemcpy ns create` makes");
}

void check_owner(const os::File& space, const std::string& name, const char* verb) {
    const unsigned user = os::user_id();
    if (user == 0 || user == space.owner()) return;
    throw Error(Code::permission_denied, std::string("only ") + os::name_of_user(space.owner()) +
                                             ", to whom the namespace '" + name + "' belongs, may " + verb);
}

std::vector<NamespacePool> pools_in(const os::File& space) {
    std::vector<NamespacePool> pools;
    for (const std::string& file : os::names_in(space)) {
        const auto name = pool_of_file(file);
        auto there = name ? os::look_in(space, file) : std::nullopt;
        if (there && there->what == os::Named::directory) {
            try {
                const auto folder = os::File::open_in(space, file, O_RDONLY | O_DIRECTORY);
                there = folder ? os::look_in(*folder, records_name) : std::nullopt;
            } catch (const Error& error) {
                if (error.kind() != Code::permission_denied) throw;
                there->size = 0;  // of somebody who keeps it to himself
                there->what = os::Named::regular;
            }
        }
        if (!there || there->what != os::Named::regular) continue;
        // Its file has the length that it may grow to, however little of it is allocated.
        pools.push_back({*name, space.path() + "/" + file, os::name_of_user(there->owner), there->size});
    }
    std::sort(pools.begin(), pools.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
    return pools;
}

std::vector<std::string> content_of(const os::File& space) {
    std::vector<std::string> files;
    for (const NamespacePool& pool : pools_in(space)) files.push_back(file_of_pool(pool.name));
    for (const std::string& file : os::names_in(space)) {
        const auto pool = pool_of_private_file(file);
        if (pool && pool->ends_with(pool_suffix)) files.push_back(file);
    }
    return files;
}

}  // namespace pmemcpy::spaces
