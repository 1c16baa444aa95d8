#include "disk.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <new>
#include <stdexcept>

namespace pmemcpy::crash {

namespace fs = std::filesystem;

namespace {

Disk* current = nullptr;

void write_bytes(const fs::path& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary | std::ios::trunc)
        .write(bytes.data(), std::streamsize(bytes.size()));
}

std::string path_of(int fd) {
    std::error_code error;
    return fs::read_symlink("/proc/self/fd/" + std::to_string(fd), error).string();
}

struct stat status_of(const fs::path& path) {
    struct stat status {};
    if (::lstat(path.c_str(), &status) != 0) throw std::runtime_error("no " + path.string());
    return status;
}
ino_t inode_of(const fs::path& path) { return status_of(path).st_ino; }

}  // namespace

std::string bytes_of(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

/// What the calls of the table do besides.
struct DiskCalls {
    static bool is_below(const std::string& path) { return path.starts_with(current->root()); }
    static bool is_below(int fd) { return fd >= 0 && is_below(path_of(fd)); }
    static void change() {
        if (current->is_running_ && current->state_->calls++ == current->cut_at_) ::_exit(died);
    }
    /// What a file system does for a call is durable at the next fsync, also where memory loses nothing that is stored there.
    static void change_file(int fd) {
        if (!is_below(fd)) return;
        change();
        struct stat status {};
        if (current->is_running_ && ::fstat(fd, &status) == 0)
            write_bytes(current->kept(status.st_ino, ".changed"), "");
    }
    static int synced(int fd, int (*call)(int)) {
        const std::string path = path_of(fd);
        const bool is_pool = current->pool_is_paged_ && path == current->pool();
        if (is_pool || is_below(path)) change();
        const int result = call(fd);
        if (!current->is_running_) return result;
        if (is_pool) {
            write_bytes(current->folder_ / "kept" / "pool", bytes_of(current->pool()));
            current->state_->synced = current->state_->acknowledged;
        } else if (is_below(path)) {
            current->keep(fd, path);
        }
        return result;
    }
};

Disk::Disk(const fs::path& folder, bool pool_is_paged, bool below_is_paged)
    : folder_(folder), pool_is_paged_(pool_is_paged), below_is_paged_(below_is_paged) {
    void* room = ::mmap(nullptr, sizeof(State), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (room == MAP_FAILED) throw std::runtime_error("no shared memory");
    state_ = new (room) State;
    current = this;
    clear();
}

Disk::~Disk() {
    current = nullptr;
    ::munmap(state_, sizeof(State));
}

void Disk::clear() {
    for (const char* name : {"below", "kept", "image", "pool", "pool.rt"}) fs::remove_all(folder_ / name);
    fs::create_directory(root());
    fs::create_directory(folder_ / "kept");
    *state_ = State{};
    keep_names(root());
}

void Disk::lose_below(const Luck& luck) {
    fs::remove_all(folder_ / "image");
    put(root(), inode_of(root()), folder_ / "image", luck);
    fs::remove_all(folder_ / "was");
    fs::rename(root(), folder_ / "was");
    fs::rename(folder_ / "image", root());
}

void Disk::restore_below() {
    fs::remove_all(root());
    fs::rename(folder_ / "was", root());
}

void Disk::lose_pool() { restore_pool(bytes_of(folder_ / "kept" / "pool")); }

void Disk::restore_pool(const std::string& bytes) {
    fs::resize_file(pool(), bytes.size());
    std::fstream(pool(), std::ios::binary | std::ios::in | std::ios::out)
        .write(bytes.data(), std::streamsize(bytes.size()));
}

os::Calls Disk::calls_of_it() {
    os::Calls t = os::system_calls();
    t.open = [](const char* path, int flags, mode_t mode) {
        if ((flags & O_CREAT) != 0 && DiskCalls::is_below(path)) DiskCalls::change();
        return os::system_calls().open(path, flags, mode);
    };
    t.openat = [](int at, const char* path, int flags, mode_t mode) {
        if ((flags & O_CREAT) != 0 && DiskCalls::is_below(at)) DiskCalls::change();
        return os::system_calls().openat(at, path, flags, mode);
    };
    t.mkdirat = [](int at, const char* path, mode_t mode) {
        if (DiskCalls::is_below(path) || DiskCalls::is_below(at)) DiskCalls::change();
        return os::system_calls().mkdirat(at, path, mode);
    };
    t.pwrite = [](int fd, const void* bytes, size_t size, off_t offset) {
        DiskCalls::change_file(fd);
        return os::system_calls().pwrite(fd, bytes, size, offset);
    };
    t.ftruncate = [](int fd, off_t size) {
        DiskCalls::change_file(fd);
        return os::system_calls().ftruncate(fd, size);
    };
    t.fallocate = [](int fd, int mode, off_t offset, off_t length) {
        DiskCalls::change_file(fd);
        return os::system_calls().fallocate(fd, mode, offset, length);
    };
    t.linkat = [](int from_at, const char* from, int to_at, const char* to, int flags) {
        if (DiskCalls::is_below(to) || DiskCalls::is_below(to_at)) DiskCalls::change();
        return os::system_calls().linkat(from_at, from, to_at, to, flags);
    };
    t.unlinkat = [](int at, const char* path, int flags) {
        if (DiskCalls::is_below(at)) DiskCalls::change();
        return os::system_calls().unlinkat(at, path, flags);
    };
    t.renameat = [](int from_at, const char* from, int to_at, const char* to) {
        if (DiskCalls::is_below(from_at)) DiskCalls::change();
        return os::system_calls().renameat(from_at, from, to_at, to);
    };
    t.renameat2 = [](int from_at, const char* from, int to_at, const char* to, unsigned flags) {
        if (DiskCalls::is_below(from_at)) DiskCalls::change();
        return os::system_calls().renameat2(from_at, from, to_at, to, flags);
    };
    t.fsync = [](int fd) { return DiskCalls::synced(fd, os::system_calls().fsync); };
    t.fdatasync = [](int fd) { return DiskCalls::synced(fd, os::system_calls().fdatasync); };
    t.syncfs = [](int fd) {
        DiskCalls::change();
        const int result = os::system_calls().syncfs(fd);
        if (current->is_running_ && DiskCalls::is_below(fd)) current->keep_all(current->root());
        return result;
    };
    t.fstatfs = [](int fd, struct statfs* status) {
        const int result = os::system_calls().fstatfs(fd, status);
        status->f_type = EXT4_SUPER_MAGIC;
        return result;
    };
    t.mmap = [](void* at, size_t length, int protection, int flags, int fd, off_t offset) {
        const std::string path = path_of(fd);
        const bool loses_nothing = path == current->pool()
                                       ? !current->pool_is_paged_
                                       : DiskCalls::is_below(path) && !current->below_is_paged_;
        if ((flags & MAP_SYNC) != 0 && loses_nothing)
            flags = (flags & ~(MAP_SYNC | MAP_SHARED_VALIDATE)) | MAP_SHARED;
        return os::system_calls().mmap(at, length, protection, flags, fd, offset);
    };
    return t;
}

fs::path Disk::kept(ino_t inode, const char* what) const {
    return folder_ / "kept" / (std::to_string(inode) + what);
}

// Of a file that has no name any more, too.
void Disk::keep(int fd, const std::string& path) {
    struct stat status {};
    if (::fstat(fd, &status) != 0) throw std::runtime_error("no status of " + path);
    if (S_ISDIR(status.st_mode)) return keep_names(path);
    write_bytes(kept(status.st_ino, ".bytes"), bytes_of("/proc/self/fd/" + std::to_string(fd)));
    fs::remove(kept(status.st_ino, ".changed"));
}

void Disk::keep_names(const fs::path& directory) const {
    std::ofstream list(kept(inode_of(directory), ".names"), std::ios::trunc);
    for (const auto& [name, entry] : names_now(directory))
        list << entry.inode << " " << entry.is_directory << " " << entry.mode << " " << name << "\n";
}

void Disk::keep_all(const fs::path& directory) const {
    keep_names(directory);
    for (const auto& [name, entry] : names_now(directory)) {
        if (entry.is_directory) {
            keep_all(directory / name);
        } else {
            write_bytes(kept(entry.inode, ".bytes"), bytes_of(directory / name));
            fs::remove(kept(entry.inode, ".changed"));
        }
    }
}

Disk::Names Disk::names_now(const fs::path& directory) {
    Names names;
    for (const auto& each : fs::directory_iterator(directory)) {
        if (each.path().extension() == ".rt") continue;  // nothing of it is to outlive a crash
        const struct stat status = status_of(each.path());
        names[each.path().filename()] = {status.st_ino, S_ISDIR(status.st_mode), status.st_mode & 07777U};
    }
    return names;
}

Disk::Names Disk::names_kept(ino_t directory) const {
    Names names;
    std::ifstream list(kept(directory, ".names"));
    Entry entry;
    std::string name;
    while (list >> entry.inode >> entry.is_directory >> entry.mode >> name) names[name] = entry;
    return names;
}

void Disk::put(const std::optional<fs::path>& now, ino_t inode, const fs::path& to, const Luck& luck) {
    fs::create_directory(to);
    const Names there = now ? names_now(*now) : Names{};
    const Names names = now && luck.has_names() ? there : names_kept(inode);
    for (const auto& [name, entry] : names) {
        std::optional<fs::path> known;  // where it is now, if it is
        for (const auto& [its_name, other] : there) {
            if (other.inode == entry.inode) known = *now / its_name;
        }
        if (entry.is_directory) {
            put(known, entry.inode, to / name, luck);
        } else if (known &&
                   (luck.has_bytes() || (!below_is_paged_ && !fs::exists(kept(entry.inode, ".changed"))))) {
            write_bytes(to / name, bytes_of(*known));
        } else {
            write_bytes(to / name, bytes_of(kept(entry.inode, ".bytes")));
        }
        ::chmod((to / name).c_str(), entry.mode);
    }
}

}  // namespace pmemcpy::crash
