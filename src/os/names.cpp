#include "os/names.hpp"

#include <cerrno>
#include <cstdlib>
#include <memory>

#include <fcntl.h>
#include <sys/stat.h>

#include "os/calls.hpp"
#include "os/failure.hpp"
#include "os/file.hpp"
#include "os/mounts.hpp"

namespace pmemcpy::os {

namespace {

/// The file's mode, or nothing where there is none.
std::optional<mode_t> mode_of(const std::string& path) {
    struct stat status {};
    if (calls().stat(path.c_str(), &status) == 0) return status.st_mode;
    if (errno == ENOENT || errno == ENOTDIR) return std::nullopt;
    throw_failure("inspect", path, errno);
}

bool remove(const std::string& path, int flags) {
    if (calls().unlinkat(AT_FDCWD, path.c_str(), flags) == 0) return true;
    if (errno == ENOENT) return false;
    throw_failure("remove", path, errno);
}

// That something is mounted there: STATX_ATTR_MOUNT_ROOT, younger than the C library headers of some systems.
constexpr std::uint64_t is_mount_root = 0x2000;

// As containers mount a single file. What lies beside it lies where the file is, if that is seen here too.
std::string place_of_mounted_file(const std::string& path) {
    struct statx status {};
    if (calls().statx(AT_FDCWD, path.c_str(), AT_SYMLINK_NOFOLLOW, STATX_TYPE, &status) != 0) return path;
    if ((status.stx_attributes & is_mount_root) == 0 || !S_ISREG(status.stx_mode)) return path;
    const std::vector<Mount> all = mounts();
    const Mount* const here = mount_of(all, path);
    if (here == nullptr || here->point != path) return path;
    const auto in_directory = [](const std::string& directory) { return directory == "/" ? "" : directory; };
    for (const Mount& other : all) {
        const std::string above = in_directory(other.root) + "/";
        if (other.device_number != here->device_number || !here->root.starts_with(above)) continue;
        std::string place = in_directory(other.point) + here->root.substr(above.size() - 1);
        if (identity_at(place) == identity_at(path)) return place;
    }
    return path;
}

}  // namespace

bool exists(const std::string& path) { return mode_of(path).has_value(); }

bool is_character_device(const std::string& path) {
    const auto mode = mode_of(path);
    return mode && S_ISCHR(*mode);
}

bool is_directory(const std::string& path) {
    const auto mode = mode_of(path);
    return mode && S_ISDIR(*mode);
}

bool remove_file(const std::string& path) { return remove(path, 0); }

bool remove_directory(const std::string& path) { return remove(path, AT_REMOVEDIR); }

bool make_directory(const std::string& path, mode_t mode) {
    if (calls().mkdirat(AT_FDCWD, path.c_str(), mode) == 0) return true;
    if (errno == EEXIST && is_directory(path)) return false;
    throw_failure("make the directory", path, errno);
}

void rename_file(const std::string& from, const std::string& to) {
    if (calls().renameat(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str()) != 0) {
        throw_failure(("rename '" + from + "' to").c_str(), to, errno);
    }
}

bool make_hard_link(const std::string& from, const std::string& to) {
    if (calls().linkat(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), 0) == 0) return true;
    if (errno == EEXIST) return false;
    throw_failure(("link '" + from + "' as").c_str(), to, errno);
}

std::optional<std::string> real_path(const std::string& path) {
    const std::unique_ptr<char, decltype(&std::free)> resolved(calls().realpath(path.c_str(), nullptr),
                                                               &std::free);
    if (!resolved) return std::nullopt;
    return std::string(resolved.get());
}

std::string settled_path(const std::string& path) {
    const auto end = path.find_last_not_of('/');
    if (end == std::string::npos) return path;  // empty, or the root
    const std::string slash = end + 1 == path.size() ? "" : "/";
    const std::string name = path.substr(0, end + 1);
    if (const auto there = real_path(name)) return place_of_mounted_file(*there) + slash;
    const auto parting = name.rfind('/');
    const std::string directory = parting == std::string::npos ? "." : name.substr(0, parting + 1);
    const auto there = real_path(directory);
    if (!there) return path;
    return (*there == "/" ? "" : *there) + "/" + name.substr(parting + 1) + slash;
}

std::string folder_of(const std::string& path) {
    const auto slash = path.rfind('/');
    if (slash == std::string::npos) return ".";
    return slash == 0 ? "/" : path.substr(0, slash);
}

std::optional<std::string> read_text(const std::string& path) {
    const int fd = calls().open(path.c_str(), O_RDONLY | O_CLOEXEC, 0);
    if (fd < 0) return std::nullopt;
    std::string text;
    char piece[4096];
    ssize_t got;
    while ((got = calls().pread(fd, piece, sizeof piece, static_cast<off_t>(text.size()))) > 0) {
        text.append(piece, static_cast<std::size_t>(got));
    }
    calls().close(fd);
    if (got < 0) return std::nullopt;
    text.erase(text.find_last_not_of(" \t\r\n") + 1);
    return text;
}

}  // namespace pmemcpy::os
