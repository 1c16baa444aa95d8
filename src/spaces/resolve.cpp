#include <pmemcpy/namespaces.hpp>

#include "os/directory.hpp"
#include "os/process.hpp"
#include "os/user.hpp"
#include "spaces/name.hpp"
#include "spaces/space.hpp"

#include <pmemcpy/error.hpp>

#include <unistd.h>

namespace pmemcpy {

namespace {

using namespace spaces;

// The kernel decides when the pool is opened, and says only that it may not be. Here it is known whom to ask.
void check_may_open(const os::File& space, const Reference& reference, Mode mode) {
    const std::string file = file_of_pool(reference.pool);
    const bool writes = mode != Mode::read;
    const auto there = os::look_in(space, file);
    const auto refuse = [&](const std::string& what, const char* otherwise) {
        throw Error(Code::permission_denied,
                    what + " in the namespace '" + reference.space + "', which belongs to " +
                        os::name_of_user(space.owner()) + "; " + otherwise + "ask for `pmemcpy ns grant " +
                        reference.space + " --user " + os::name_of_user(os::user_id()) +
                        (writes ? " --write`" : " --read`"));
    };
    if (!there) {
        if ((mode == Mode::create_or_update || mode == Mode::exclusive || mode == Mode::replace) &&
            !os::may_in(space, ".", W_OK | X_OK))
            refuse("you may not make the pool '" + reference.pool + "'", "");
        return;
    }
    if (!os::may_in(space, file, R_OK)) refuse("you may not read the pool '" + reference.pool + "'", "");
    if (writes && !os::may_in(space, file, W_OK))
        refuse("you may read the pool '" + reference.pool + "' and not write it",
               "open it for reading (mode r), or ");
}

}  // namespace

std::string resolve_pool(const std::string& path, Mode mode, const std::string& root_path) {
    const auto reference = parse_reference(path);
    if (!reference) return path;
    try {
        const os::File root = open_root(root_path);
        const os::File space = open_space(root, reference->space);
        check_may_open(space, *reference, mode);
        return space.path() + "/" + file_of_pool(reference->pool);
    } catch (const Error& error) {
        if (error.kind() != Code::not_found && error.kind() != Code::invalid_argument) throw;
        throw Error(error.kind(), "'" + path + "' is the pool '" + reference->pool + "' in the namespace '" +
                                      reference->space + "': " + error.what() +
                                      " (a file of this name is './" + path + "')");
    }
}

}  // namespace pmemcpy
