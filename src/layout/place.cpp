#include "layout/place.hpp"

#include "layout/names.hpp"
#include "layout/payload_name.hpp"
#include "os/directory.hpp"
#include "os/names.hpp"

#include <pmemcpy/error.hpp>

namespace pmemcpy::layout {
namespace {

bool is_ours(const std::string& name) { return name == data_name || name.rfind(records_name, 0) == 0; }

// A directory's own name is durable before anything in it has one: else a power loss takes the pool with it, whatever was made durable
// inside. Also where another process has made it, for that one may have died since.
void keep_name_of(const os::File& directory, bool is_ours) {
    try {
        if (auto parent = os::File::open_in(directory, "..", O_RDONLY | O_DIRECTORY)) parent->sync_all();
    } catch (const Error& error) {
        // A user who has made it in a directory that this one cannot read answers for its name.
        if (is_ours || error.kind() != Code::permission_denied) throw;
    }
}

}  // namespace

// Who may write the file may add to them.
unsigned directory_mode(unsigned permissions) { return permissions | (permissions & 0444) >> 2; }

Place place_of(const std::string& path, Layout layout) {
    std::string stripped = path;
    while (stripped.size() > 1 && stripped.back() == '/') stripped.pop_back();
    const bool is_directory = os::is_directory(stripped);
    if (layout == Layout::file && is_directory) {
        throw Error(Code::unsupported,
                    path +
                        " is a directory, so it cannot be a pool of one file; open it with "
                        "the layout directory, or give the name of a file");
    }
    const bool asks =
        layout == Layout::directory || (layout == Layout::automatic && (path.back() == '/' || is_directory));
    if (!asks) return {path, {}};
    // Looked at again: another process may have made the directory just now.
    if (!is_directory && os::exists(stripped) && !os::is_directory(stripped)) {
        throw Error(Code::unsupported, stripped +
                                           " is a file, so it cannot be a pool in a directory; open it with "
                                           "the layout file or automatic, and without a slash at its end");
    }
    return {(stripped == "/" ? "" : stripped) + "/" + records_name, stripped};
}

NewDirectories::NewDirectories(const Place& place, unsigned permissions) : place_(place) {
    const unsigned mode = directory_mode(permissions);
    made_root_ = os::make_directory(place.directory, mode);
    const os::File root = os::File::open(place.directory, O_RDONLY | O_DIRECTORY);
    // A file of somebody's own would be in the way of a readable name.
    if (!os::look_in(root, data_name)) {
        for (const std::string& name : os::names_in(root)) {
            if (is_ours(name) || os::look_in(root, records_name)) continue;
            throw Error(Code::invalid_argument, place.directory + " holds '" + name +
                                                    "' and no pool; give the name of a "
                                                    "new or empty directory");
        }
    }
    made_data_ = os::make_directory_in(root, data_name, mode);
    const auto data = os::File::open_in(root, data_name, O_RDONLY | O_DIRECTORY);
    have_leftovers_ = data && !os::names_in(*data).empty();
    keep_name_of(root, made_root_);
}

NewDirectories::~NewDirectories() {
    if (!kept_) take_back();
}

void NewDirectories::take_back() noexcept {
    try {
        if (os::exists(place_.records)) return;  // that of somebody who was faster
        if (made_data_) os::remove_directory(place_.directory + "/" + data_name);
        if (made_root_) os::remove_directory(place_.directory);
    } catch (const Error&) {
        // Somebody else has put something there; so they are needed.
    }
}

os::File open_data(const os::File& root) {
    auto data = os::File::open_in(root, data_name, O_RDONLY | O_DIRECTORY);
    if (data) return std::move(*data);
    throw Error(Code::corrupt, root.path() + " has lost its " + data_name +
                                   ", which held the payloads; restore it from a copy");
}

os::File open_data(const Place& place) {
    return open_data(os::File::open(place.directory, O_RDONLY | O_DIRECTORY));
}

void remove_payloads(const Place& place, const std::optional<os::Identity>& records) {
    const os::File root = os::File::open(place.directory, O_RDONLY | O_DIRECTORY);
    if (records) {
        const auto there = os::look_in(root, records_name);
        if (!there || !(there->identity == *records)) return;
    }
    const auto data = os::File::open_in(root, data_name, O_RDONLY | O_DIRECTORY);
    if (!data) return;
    Names(root, *data).keep_only({});
    for (const std::string& name : os::names_in(*data)) {
        if (!is_payload_name(name)) continue;
        const auto there = os::look_in(*data, name);
        const bool is_users = number_of_passing(name) && there && !is_payload(*there);
        if (!is_users) os::remove_in(*data, name);
    }
}

}  // namespace pmemcpy::layout
