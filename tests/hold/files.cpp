#include "files.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <optional>
#include <stdexcept>
#include <string_view>

#include <dirent.h>
#include <sys/mman.h>

#include "base/hash.hpp"
#include "tests/crash/simulated_kernel.hpp"

namespace pmemcpy::hold {
namespace {

Files* files = nullptr;

constexpr int first_fd = 1'500'000'000;  // above those of the simulated kernel
constexpr std::uint64_t arena_bytes = std::uint64_t{8} << 20;
constexpr std::uint64_t page = 4096;
constexpr std::size_t nothing = ~std::size_t{0};
const std::string root = crash::SimulatedKernel::path;

int fail(int error) {
    errno = error;
    return -1;
}

bool is_ours(int fd) { return fd >= first_fd; }

}  // namespace

struct FileCalls {
    using Inode = Files::Inode;

    static std::size_t make(Inode inode) {
        files->inodes_.push_back(std::move(inode));
        return files->inodes_.size() - 1;
    }
    static Inode& at(std::size_t inode) { return files->inodes_[inode]; }
    static int opened(std::size_t inode) {
        files->descriptors_[first_fd + files->opened_] = {inode};
        return first_fd + files->opened_++;
    }
    static std::size_t inode_of(int fd) {
        const auto found = files->descriptors_.find(fd);
        return found == files->descriptors_.end() ? nothing : found->second.inode;
    }

    // What the records' file and what lies beside it are called by the simulated kernel.
    static std::optional<std::string> name_beneath(const std::string& path) {
        const std::string records = root + "/.pool";
        if (path.starts_with(records)) return root + path.substr(records.size());
        return path == root || path.starts_with(root + "/") ? std::nullopt : std::optional(path);
    }
    static std::size_t lookup(std::size_t directory, const std::string& name) {
        if (directory == nothing || !at(directory).is_directory) return nothing;
        if (name == ".") return directory;
        if (name == "..") return at(directory).parent;
        const auto found = at(directory).names.find(name);
        return found == at(directory).names.end() ? nothing : found->second;
    }
    // Where a name is: its directory and the last component; by path, or by one component in an open directory.
    struct Where {
        std::size_t directory;
        std::string name;
    };
    static Where where(int directory, const std::string& path) {
        if (directory != AT_FDCWD) return {inode_of(directory), path};
        if (path == root) return {0, "pool"};
        const std::string below = path.substr(root.size() + 1);
        std::size_t in = lookup(0, "pool");
        std::size_t begin = 0;
        for (std::size_t end = 0; (end = below.find('/', begin)) != std::string::npos; begin = end + 1)
            in = lookup(in, below.substr(begin, end - begin));
        return {in, below.substr(begin)};
    }
    static std::size_t inode_at(int directory, const std::string& path) {
        const Where there = where(directory, path);
        return lookup(there.directory, there.name);
    }
    static bool is_beneath(int directory, const std::string& path) {
        return directory == AT_FDCWD && name_beneath(path).has_value();
    }

    static int open_at(int directory, const std::string& path, int flags, mode_t mode) {
        const Where there = where(directory, path);
        std::size_t inode = lookup(there.directory, there.name);
        if (inode != nothing && (flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL)) return fail(EEXIST);
        if (inode == nothing && ((flags & O_CREAT) == 0 || there.directory == nothing)) return fail(ENOENT);
        if (inode == nothing) {
            inode = make({.mode = mode, .links = 1});
            at(there.directory).names[there.name] = inode;
        }
        if ((flags & O_DIRECTORY) != 0 && !at(inode).is_directory) return fail(ENOTDIR);
        return opened(inode);
    }
    static int open(const char* path, int flags, mode_t mode) {
        const bool is_unnamed = (flags & O_TMPFILE) == O_TMPFILE;
        const auto beneath = name_beneath(path);
        if (is_unnamed || beneath)
            return files->beneath_.open(is_unnamed ? path : beneath->c_str(), flags, mode);
        return open_at(AT_FDCWD, path, flags, mode);
    }
    static int openat(int directory, const char* path, int flags, mode_t mode) {
        return is_ours(directory) ? open_at(directory, path, flags, mode)
                                  : files->beneath_.openat(directory, path, flags, mode);
    }
    static int close(int fd) {
        if (!is_ours(fd)) return files->beneath_.close(fd);
        files->descriptors_.erase(fd);
        return 0;
    }
    static int tell(std::size_t inode, struct stat* status) {
        if (inode == nothing) return fail(ENOENT);
        *status = {};
        const Inode& there = at(inode);
        status->st_mode = (there.is_directory ? S_IFDIR : S_IFREG) | there.mode;
        status->st_dev = 1;
        status->st_ino = 1000 + inode;
        status->st_nlink = there.links;
        status->st_size = static_cast<off_t>(there.size);
        status->st_blksize = page;
        status->st_uid = ::geteuid();
        return 0;
    }
    static int fstat(int fd, struct stat* status) {
        return is_ours(fd) ? tell(inode_of(fd), status) : files->beneath_.fstat(fd, status);
    }
    static int stat(const char* path, struct stat* status) {
        const auto beneath = name_beneath(path);
        return beneath ? files->beneath_.stat(beneath->c_str(), status)
                       : tell(inode_at(AT_FDCWD, path), status);
    }
    static int fstatat(int directory, const char* path, struct stat* status, int flags) {
        return is_ours(directory) ? tell(inode_at(directory, path), status)
                                  : files->beneath_.fstatat(directory, path, status, flags);
    }
    static int mkdirat(int directory, const char* path, mode_t mode) {
        if (is_beneath(directory, path)) return files->beneath_.mkdirat(directory, path, mode);
        const Where there = where(directory, path);
        if (there.directory == nothing) return fail(ENOENT);
        if (lookup(there.directory, there.name) != nothing) return fail(EEXIST);
        const std::size_t made =
            make({.is_directory = true, .mode = mode, .links = 2, .parent = there.directory});
        at(there.directory).names[there.name] = made;
        return 0;
    }
    static int linkat(int from_at, const char* from, int to_at, const char* to, int flags) {
        if (is_beneath(to_at, to)) return files->beneath_.linkat(from_at, from, to_at, to, flags);
        const std::size_t inode = inode_at(from_at, from);
        const Where there = where(to_at, to);
        if (inode == nothing || there.directory == nothing) return fail(ENOENT);
        if (lookup(there.directory, there.name) != nothing) return fail(EEXIST);
        ++at(inode).links;
        at(there.directory).names[there.name] = inode;
        return 0;
    }
    static int unlinkat(int directory, const char* path, int flags) {
        if (is_beneath(directory, path))
            return files->beneath_.unlinkat(directory, name_beneath(path)->c_str(), flags);
        const Where there = where(directory, path);
        const std::size_t inode = lookup(there.directory, there.name);
        if (inode == nothing) return fail(ENOENT);
        const bool wants_directory = (flags & AT_REMOVEDIR) != 0;
        if (at(inode).is_directory != wants_directory) return fail(wants_directory ? ENOTDIR : EISDIR);
        if (!at(inode).names.empty()) return fail(ENOTEMPTY);
        at(inode).links -= wants_directory ? 2 : 1;
        at(there.directory).names.erase(there.name);
        return 0;
    }
    static int rename(int from_at, const char* from, int to_at, const char* to, bool may_replace) {
        if (is_beneath(from_at, from)) throw std::logic_error("nobody renames the records");
        const Where old = where(from_at, from), there = where(to_at, to);
        const std::size_t inode = lookup(old.directory, old.name);
        if (inode == nothing || there.directory == nothing) return fail(ENOENT);
        const std::size_t replaced = lookup(there.directory, there.name);
        if (replaced != nothing && !may_replace) return fail(EEXIST);
        if (replaced == inode) return 0;  // two names of one file: both stay
        if (replaced != nothing && at(replaced).is_directory) return fail(EISDIR);
        if (replaced != nothing) --at(replaced).links;
        at(old.directory).names.erase(old.name);
        at(there.directory).names[there.name] = inode;
        return 0;
    }
    static int renameat(int from_at, const char* from, int to_at, const char* to) {
        return rename(from_at, from, to_at, to, true);
    }
    static int renameat2(int from_at, const char* from, int to_at, const char* to, unsigned flags) {
        if ((flags & RENAME_EXCHANGE) != 0) {
            const Where one = where(from_at, from), other = where(to_at, to);
            if (lookup(one.directory, one.name) == nothing || lookup(other.directory, other.name) == nothing)
                return fail(ENOENT);
            std::swap(at(one.directory).names[one.name], at(other.directory).names[other.name]);
            return 0;
        }
        return rename(from_at, from, to_at, to, (flags & RENAME_NOREPLACE) == 0);
    }
    // All at once: no directory here has so many that they would not fit.
    static ssize_t getdents64(int fd, void* entries, std::size_t size) {
        if (!is_ours(fd)) return files->beneath_.getdents64(fd, entries, size);
        Files::Descriptor& descriptor = files->descriptors_.at(fd);
        if (descriptor.is_listed) return 0;
        descriptor.is_listed = true;
        std::size_t end = 0;
        for (const auto& [name, inode] : at(descriptor.inode).names) {
            const std::size_t bytes = (offsetof(struct dirent64, d_name) + name.size() + 1 + 7) / 8 * 8;
            if (end + bytes > size) throw std::logic_error("too many names for one directory");
            auto* entry = reinterpret_cast<struct dirent64*>(static_cast<std::byte*>(entries) + end);
            entry->d_ino = 1000 + inode;
            entry->d_reclen = static_cast<unsigned short>(bytes);
            std::memcpy(entry->d_name, name.c_str(), name.size() + 1);
            end += bytes;
        }
        return static_cast<ssize_t>(end);
    }
    static int fchmod(int fd, mode_t mode) {
        if (!is_ours(fd)) return files->beneath_.fchmod(fd, mode);
        at(inode_of(fd)).mode = mode;
        return 0;
    }
    static int fchown(int fd, uid_t user, gid_t group) {
        return is_ours(fd) ? 0 : files->beneath_.fchown(fd, user, group);
    }
    // A file that is mapped stays where it is; so it has its room from the first bytes on.
    static int resize(Inode& file, std::uint64_t size) {
        if (size > file.room) {
            if (file.room != 0) throw std::logic_error("nobody lets a payload grow");
            file.begin = files->used_;
            file.room = (size + page - 1) / page * page;
            files->used_ += file.room;
            if (files->used_ > arena_bytes) throw std::logic_error("too many files for one run");
            std::memset(files->arena_ + file.begin, 0, file.room);
        }
        if (size < file.size) std::memset(files->arena_ + file.begin + size, 0, file.size - size);
        file.size = size;
        return 0;
    }
    static int ftruncate(int fd, off_t size) {
        return is_ours(fd) ? resize(at(inode_of(fd)), static_cast<std::uint64_t>(size))
                           : files->beneath_.ftruncate(fd, size);
    }
    static int fallocate(int fd, int mode, off_t offset, off_t length) {
        if (!is_ours(fd)) return files->beneath_.fallocate(fd, mode, offset, length);
        Inode& file = at(inode_of(fd));
        if (mode != 0) throw std::logic_error("nobody punches holes into a payload");
        const std::uint64_t end = static_cast<std::uint64_t>(offset) + static_cast<std::uint64_t>(length);
        return end <= file.size ? 0 : resize(file, end);
    }
    static ssize_t pread(int fd, void* bytes, std::size_t size, off_t offset) {
        if (!is_ours(fd)) return files->beneath_.pread(fd, bytes, size, offset);
        const Inode& file = at(inode_of(fd));
        const auto from = std::min(static_cast<std::uint64_t>(offset), file.size);
        const std::uint64_t got = std::min<std::uint64_t>(size, file.size - from);
        std::memcpy(bytes, files->arena_ + file.begin + from, got);
        return static_cast<ssize_t>(got);
    }
    static ssize_t pwrite(int fd, const void* bytes, std::size_t size, off_t offset) {
        if (!is_ours(fd)) return files->beneath_.pwrite(fd, bytes, size, offset);
        Inode& file = at(inode_of(fd));
        const std::uint64_t end = static_cast<std::uint64_t>(offset) + size;
        if (end > file.size) resize(file, end);
        std::memcpy(files->arena_ + file.begin + offset, bytes, size);
        return static_cast<ssize_t>(size);
    }
    static int fsync(int fd) { return is_ours(fd) ? 0 : files->beneath_.fsync(fd); }
    static int fdatasync(int fd) { return is_ours(fd) ? 0 : files->beneath_.fdatasync(fd); }
    static int syncfs(int fd) { return is_ours(fd) ? 0 : files->beneath_.syncfs(fd); }
    static void* mmap(void* address, std::size_t length, int protection, int flags, int fd, off_t offset) {
        if (!is_ours(fd)) return files->beneath_.mmap(address, length, protection, flags, fd, offset);
        return files->arena_ + at(inode_of(fd)).begin + offset;
    }
};

Files::Files(const os::Calls& beneath) : beneath_(beneath) {
    if (files != nullptr) throw std::logic_error("one directory at a time");
    void* got = ::mmap(nullptr, arena_bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (got == MAP_FAILED) throw std::bad_alloc();
    arena_ = static_cast<std::byte*>(got);
    inodes_.push_back({.is_directory = true, .mode = 0755, .links = 2});  // in which the pool is
    files = this;
}

Files::~Files() {
    files = nullptr;
    ::munmap(arena_, arena_bytes);
}

os::Calls Files::calls() const {
    os::Calls calls = beneath_;
    calls.open = FileCalls::open;
    calls.openat = FileCalls::openat;
    calls.close = FileCalls::close;
    calls.fstat = FileCalls::fstat;
    calls.stat = FileCalls::stat;
    calls.fstatat = FileCalls::fstatat;
    calls.mkdirat = FileCalls::mkdirat;
    calls.linkat = FileCalls::linkat;
    calls.unlinkat = FileCalls::unlinkat;
    calls.renameat = FileCalls::renameat;
    calls.renameat2 = FileCalls::renameat2;
    calls.getdents64 = FileCalls::getdents64;
    calls.fchmod = FileCalls::fchmod;
    calls.fchown = FileCalls::fchown;
    calls.ftruncate = FileCalls::ftruncate;
    calls.fallocate = FileCalls::fallocate;
    calls.pread = FileCalls::pread;
    calls.pwrite = FileCalls::pwrite;
    calls.fsync = FileCalls::fsync;
    calls.fdatasync = FileCalls::fdatasync;
    calls.syncfs = FileCalls::syncfs;
    calls.mmap = FileCalls::mmap;
    return calls;
}

std::span<std::byte> Files::shared() const { return {arena_, arena_bytes}; }

Files::Image Files::image() const { return {inodes_, {arena_, arena_ + used_}}; }

void Files::put(const Image& image) {
    inodes_ = image.inodes;
    std::memcpy(arena_, image.bytes.data(), image.bytes.size());
    used_ = image.bytes.size();
    descriptors_.clear();
    opened_ = 0;
}

std::uint64_t Files::hash_of(const Inode& file) const {
    return base::xxh3_64(arena_ + file.begin, file.size) + file.size;
}

// Which names are of one file counts too.
std::uint64_t Files::hash() const {
    std::uint64_t hash = 0;
    for (const Inode& inode : inodes_) {
        for (const auto& [name, number] : inode.names) {
            hash = hash * 31 + base::xxh3_64(name.data(), name.size());
            hash = hash * 31 + number + inodes_[number].mode;
            hash = hash * 31 + hash_of(inodes_[number]);
        }
    }
    return hash;
}

void Files::collect(std::size_t directory, const std::string& prefix,
                    std::map<std::string, std::uint64_t>& all) const {
    for (const auto& [name, number] : inodes_[directory].names) {
        if (inodes_[number].is_directory) {
            collect(number, prefix + name + "/", all);
        } else {
            all[prefix + name] = hash_of(inodes_[number]);
        }
    }
}

std::map<std::string, std::uint64_t> Files::contents() const {
    std::map<std::string, std::uint64_t> all;
    collect(0, "", all);
    return all;
}

}  // namespace pmemcpy::hold
