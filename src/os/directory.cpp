#include "os/directory.hpp"

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdio>

#include <dirent.h>
#include <sys/stat.h>

#include "os/calls.hpp"
#include "os/failure.hpp"

namespace pmemcpy::os {

namespace {

std::string path_of(const File& directory, const std::string& name) { return directory.path() + "/" + name; }

}  // namespace

std::optional<Named> look_in(const File& directory, const std::string& name) {
    struct stat status {};
    if (calls().fstatat(directory.fd(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) {
        if (errno == ENOENT) return std::nullopt;
        throw_failure("inspect", path_of(directory, name), errno);
    }
    Named named;
    if (S_ISREG(status.st_mode)) named.what = Named::regular;
    if (S_ISDIR(status.st_mode)) named.what = Named::directory;
    named.identity = {status.st_dev, status.st_ino};
    named.size = static_cast<std::uint64_t>(status.st_size);
    named.mode_bits = status.st_mode & 07777;
    named.link_count = static_cast<unsigned>(status.st_nlink);
    named.owner = status.st_uid;
    return named;
}

std::vector<std::string> names_in(const File& directory) {
    // A descriptor of its own, because reading moves its offset.
    const auto reading = File::open_in(directory, ".", O_RDONLY | O_DIRECTORY);
    std::vector<std::string> names;
    if (!reading) return names;  // removed meanwhile
    alignas(struct dirent64) std::array<std::byte, 32768> buffer;
    for (;;) {
        const ssize_t got = calls().getdents64(reading->fd(), buffer.data(), buffer.size());
        if (got == 0 || (got < 0 && errno == ENOENT))
            return names;  // removed meanwhile: there is nothing in it
        if (got < 0) throw_failure("list", directory.path(), errno);
        for (std::size_t at = 0; at < static_cast<std::size_t>(got);) {
            const auto* entry = reinterpret_cast<const struct dirent64*>(buffer.data() + at);
            std::string name(entry->d_name);
            if (name != "." && name != "..") names.push_back(std::move(name));
            at += entry->d_reclen;
        }
    }
}

bool remove_in(const File& directory, const std::string& name) {
    if (calls().unlinkat(directory.fd(), name.c_str(), 0) == 0) return true;
    if (errno == ENOENT) return false;
    throw_failure("remove", path_of(directory, name), errno);
}

bool remove_directory_in(const File& directory, const std::string& name) {
    if (calls().unlinkat(directory.fd(), name.c_str(), AT_REMOVEDIR) == 0) return true;
    if (errno == ENOENT || errno == ENOTEMPTY || errno == EEXIST) return false;
    throw_failure("remove the directory", path_of(directory, name), errno);
}

bool make_directory_in(const File& directory, const std::string& name, mode_t mode) {
    if (calls().mkdirat(directory.fd(), name.c_str(), mode) == 0) return true;
    if (errno == EEXIST) return false;
    throw_failure("make the directory", path_of(directory, name), errno);
}

bool link_in(const File& from_directory, const std::string& from, const File& to_directory,
             const std::string& to) {
    if (calls().linkat(from_directory.fd(), from.c_str(), to_directory.fd(), to.c_str(), 0) == 0) return true;
    if (errno == EEXIST) return false;
    throw_failure(("link '" + from + "' as").c_str(), path_of(to_directory, to), errno);
}

bool rename_in(const File& from_directory, const std::string& from, const File& to_directory,
               const std::string& to) {
    if (calls().renameat(from_directory.fd(), from.c_str(), to_directory.fd(), to.c_str()) == 0) return true;
    if (errno == ENOENT) return false;
    throw_failure(("rename '" + from + "' to").c_str(), path_of(to_directory, to), errno);
}

bool rename_new_in(const File& from_directory, const std::string& from, const File& to_directory,
                   const std::string& to) {
    if (calls().renameat2(from_directory.fd(), from.c_str(), to_directory.fd(), to.c_str(),
                          RENAME_NOREPLACE) == 0)
        return true;
    if (errno == ENOENT || errno == EEXIST) return false;
    // NFS, and much of what is mounted by FUSE, knows no such flag. A second name never takes another's place; where there is none, who takes the
    // name in the last moment loses his file.
    if (errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP) {
        if (calls().linkat(from_directory.fd(), from.c_str(), to_directory.fd(), to.c_str(), 0) == 0)
            return remove_in(from_directory, from);
        if (errno == ENOENT || errno == EEXIST) return false;
        return !look_in(to_directory, to) && rename_in(from_directory, from, to_directory, to);
    }
    throw_failure(("rename '" + from + "' to").c_str(), path_of(to_directory, to), errno);
}

bool exchange_in(const File& directory, const std::string& name, const File& other_directory,
                 const std::string& other) {
    if (calls().renameat2(directory.fd(), name.c_str(), other_directory.fd(), other.c_str(),
                          RENAME_EXCHANGE) == 0)
        return true;
    if (errno == ENOENT || errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP) return false;
    throw_failure(("exchange '" + name + "' with").c_str(), path_of(other_directory, other), errno);
}

bool may_in(const File& directory, const std::string& name, int permissions) {
    return calls().faccessat(directory.fd(), name.c_str(), permissions, AT_EACCESS) == 0;
}

void sync_file_system(const File& file) {
    while (calls().syncfs(file.fd()) != 0) {
        if (errno != EINTR) throw_failure("make durable (syncfs) the file system of", file.path(), errno);
    }
}

}  // namespace pmemcpy::os
