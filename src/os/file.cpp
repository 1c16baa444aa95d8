#include "os/file.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <utility>

#include <linux/fiemap.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "os/calls.hpp"
#include "os/failure.hpp"
#include "os/names.hpp"

namespace pmemcpy::os {

namespace {

// Whoever opens a fifo waits until somebody opens its other end, unless told not to. To files it means nothing.
constexpr int always = O_CLOEXEC | O_NONBLOCK | O_NOCTTY;

// A process that was started without stdin, stdout or stderr gets their numbers for files, and what it prints would be written into a pool.
int above_standard_streams(int fd) {
    if (fd < 0 || fd > STDERR_FILENO) return fd;
    const int above = calls().fcntl_dup(fd, STDERR_FILENO + 1);
    const int error = errno;
    calls().close(fd);
    errno = error;
    return above;
}

int open_descriptor(const std::string& path, int flags, mode_t mode) {
    int fd;
    do {
        fd = calls().open(path.c_str(), flags | always, mode);
    } while (fd < 0 && errno == EINTR);
    return above_standard_streams(fd);
}

bool opens_for_writing(int flags) { return (flags & O_ACCMODE) != O_RDONLY; }

struct stat status_of(const File& file) {
    struct stat status {};
    if (calls().fstat(file.fd(), &status) != 0) throw_failure("inspect", file.path(), errno);
    return status;
}

std::string sysfs_folder(const struct stat& status) {
    return "/sys/dev/char/" + std::to_string(major(status.st_rdev)) + ":" +
           std::to_string(minor(status.st_rdev));
}

bool is_devdax(const struct stat& status) {
    if (!S_ISCHR(status.st_mode)) return false;
    const auto subsystem = real_path(sysfs_folder(status) + "/subsystem");
    return subsystem && subsystem->ends_with("/dax");
}

}  // namespace

const char* name_of(FileSystem kind) noexcept {
    switch (kind) {
        case FileSystem::tmpfs:
            return "tmpfs";
        case FileSystem::hugetlbfs:
            return "hugetlbfs";
        case FileSystem::ext:
            return "ext";
        case FileSystem::xfs:
            return "xfs";
        case FileSystem::devdax:
            return "devdax";
        case FileSystem::other:
            return "other";
    }
    return "other";
}

File::File(File&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), path_(std::move(other.path_)), writable_(other.writable_) {}

File& File::operator=(File&& other) noexcept {
    if (this != &other) {
        close();
        fd_ = std::exchange(other.fd_, -1);
        path_ = std::move(other.path_);
        writable_ = other.writable_;
    }
    return *this;
}

File File::open(const std::string& path, int flags, mode_t mode) {
    const int fd = open_descriptor(path, flags, mode);
    if (fd < 0) throw_failure((flags & O_CREAT) != 0 ? "create" : "open", path, errno);
    return File(fd, path, opens_for_writing(flags));
}

std::optional<File> File::open_if_exists(const std::string& path, int flags) {
    const int fd = open_descriptor(path, flags, 0);
    if (fd >= 0) return File(fd, path, opens_for_writing(flags));
    if (errno == ENOENT) return std::nullopt;
    throw_failure("open", path, errno);
}

std::optional<File> File::open_in(const File& directory, const std::string& name, int flags, mode_t mode) {
    int fd;
    do {
        fd = calls().openat(directory.fd(), name.c_str(), flags | always | O_NOFOLLOW, mode);
    } while (fd < 0 && errno == EINTR);
    fd = above_standard_streams(fd);
    if (fd >= 0) return File(fd, directory.path() + "/" + name, opens_for_writing(flags));
    if (errno == ENOENT) return std::nullopt;
    throw_failure((flags & O_CREAT) != 0 ? "create" : "open", directory.path() + "/" + name, errno);
}

File File::create_in_memory(const std::string& path) {
    const int fd = above_standard_streams(calls().memfd_create("pmemcpy", MFD_CLOEXEC));
    if (fd < 0) throw_failure("make", path, errno);
    return {fd, path, true};
}

File File::create_unnamed(const std::string& path, mode_t mode) {
    const int fd = open_descriptor(folder_of(path), O_RDWR | O_TMPFILE, mode);
    if (fd < 0) throw_failure("create", path, errno);
    return File(fd, path, true);
}

void File::link_as(const std::string& path) {
    const std::string self = "/proc/self/fd/" + std::to_string(fd_);
    int result = calls().linkat(AT_FDCWD, self.c_str(), AT_FDCWD, path.c_str(), AT_SYMLINK_FOLLOW);
    if (result != 0 && errno == ENOENT) {
        // Without /proc the descriptor itself can be linked, where the kernel allows that.
        result = calls().linkat(fd_, "", AT_FDCWD, path.c_str(), AT_EMPTY_PATH);
    }
    if (result != 0) throw_failure("give a new file the name", path, errno);
    path_ = path;
}

void File::close() noexcept {
    if (fd_ >= 0) calls().close(std::exchange(fd_, -1));
}

std::uint64_t File::size() const {
    const struct stat status = status_of(*this);
    if (!S_ISCHR(status.st_mode)) return static_cast<std::uint64_t>(status.st_size);
    const auto text = read_text(sysfs_folder(status) + "/size");
    std::uint64_t bytes = 0;
    if (!text || std::from_chars(text->data(), text->data() + text->size(), bytes).ec != std::errc{}) {
        throw Error(Code::unsupported,
                    "cannot use '" + path_ + "': a character device that is no devdax device");
    }
    return bytes;
}

std::uint64_t most_file_bytes() {
    struct rlimit limit {};
    if (calls().getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return UINT64_MAX;
    return limit.rlim_cur;
}

void File::refuse_beyond_limit(std::uint64_t end) const {
    const std::uint64_t most = most_file_bytes();
    if (end <= most) return;
    throw Error(Code::no_space, "cannot have a file of " + std::to_string(end) + " bytes at '" + path_ +
                                    "': this process may write none beyond " + std::to_string(most) +
                                    " bytes; raise its limit (ulimit -f)");
}

// To cut a file short, or to allocate what lies within it, no limit forbids.
void File::resize(std::uint64_t bytes) {
    if (bytes > most_file_bytes() && bytes > size()) refuse_beyond_limit(bytes);
    while (calls().ftruncate(fd_, static_cast<off_t>(bytes)) != 0) {
        if (errno != EINTR) throw_failure("resize", path_, errno);
    }
}

void File::allocate(std::uint64_t offset, std::uint64_t length) {
    // The kernel gives up a long fallocate at any signal and takes back what it had done, so with a timer
    // running the whole may never succeed. Small steps do: each interruption halves them.
    constexpr std::uint64_t smallest_step = std::uint64_t{1} << 20;
    if (offset + length > most_file_bytes() && offset + length > size()) refuse_beyond_limit(offset + length);
    std::uint64_t step = length;
    for (std::uint64_t done = 0; done < length;) {
        step = std::min(step, length - done);
        const auto at = static_cast<off_t>(offset + done);
        if (calls().fallocate(fd_, 0, at, static_cast<off_t>(step)) == 0) {
            done += step;
        } else if (errno == EINTR) {
            step = std::max(std::min(step, smallest_step), std::min(step / 2, 16 * smallest_step));
        } else {
            throw_failure("allocate space in", path_, errno);
        }
    }
}

void File::punch(std::uint64_t offset, std::uint64_t length) {
    if (length == 0) return;
    constexpr int mode = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE;
    while (calls().fallocate(fd_, mode, static_cast<off_t>(offset), static_cast<off_t>(length)) != 0) {
        if (errno != EINTR) throw_failure("give back space of", path_, errno);
    }
}

std::uint64_t File::allocated_bytes() const {
    return static_cast<std::uint64_t>(status_of(*this).st_blocks) * 512;
}

std::uint64_t File::data_end() const {
    off_t end = 0;
    for (;;) {
        const off_t data = calls().lseek(fd_, end, SEEK_DATA);
        const off_t hole = data < 0 ? -1 : calls().lseek(fd_, data, SEEK_HOLE);
        if (hole >= 0) {
            end = hole;
        } else if (errno == ENXIO) {  // no more data
            return static_cast<std::uint64_t>(end);
        } else {
            throw_failure("find the data of", path_, errno);
        }
    }
}

std::uint64_t File::next_data(std::uint64_t offset) const {
    const off_t data = calls().lseek(fd_, static_cast<off_t>(offset), SEEK_DATA);
    if (data >= 0) return static_cast<std::uint64_t>(data);
    return errno == ENXIO ? UINT64_MAX : offset;
}

void File::sync_data() {
    while (calls().fdatasync(fd_) != 0) {
        if (errno != EINTR) throw_failure("make durable (fdatasync)", path_, errno);
    }
}

void File::sync_all() {
    while (calls().fsync(fd_) != 0) {
        if (errno != EINTR) throw_failure("make durable (fsync)", path_, errno);
    }
}

void File::forget_cached() { calls().posix_fadvise(fd_, 0, 0, POSIX_FADV_DONTNEED); }

void File::expect_random_reads() { calls().posix_fadvise(fd_, 0, 0, POSIX_FADV_RANDOM); }

void File::read_exactly(void* bytes, std::size_t size, std::uint64_t offset) const {
    auto* at = static_cast<std::byte*>(bytes);
    while (size > 0) {
        const ssize_t got = calls().pread(fd_, at, size, static_cast<off_t>(offset));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) throw_failure("read", path_, errno);
        if (got == 0) {
            throw Error(Code::corrupt, "cannot read '" + path_ + "': it ends at byte " +
                                           std::to_string(offset) + ", " + std::to_string(size) +
                                           " bytes before it should");
        }
        at += got;
        size -= static_cast<std::size_t>(got);
        offset += static_cast<std::uint64_t>(got);
    }
}

void File::write_exactly(const void* bytes, std::size_t size, std::uint64_t offset) {
    if (size > 0) refuse_beyond_limit(offset + size);
    const auto* at = static_cast<const std::byte*>(bytes);
    while (size > 0) {
        const ssize_t put = calls().pwrite(fd_, at, size, static_cast<off_t>(offset));
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) throw_failure("write", path_, errno);
        at += put;
        size -= static_cast<std::size_t>(put);
        offset += static_cast<std::uint64_t>(put);
    }
}

bool File::is_regular() const { return S_ISREG(status_of(*this).st_mode); }

bool File::is_directory() const { return S_ISDIR(status_of(*this).st_mode); }

unsigned File::owner() const { return status_of(*this).st_uid; }

unsigned File::owning_group() const { return status_of(*this).st_gid; }

Identity File::identity() const {
    const struct stat status = status_of(*this);
    return {status.st_dev, status.st_ino};
}

std::optional<Identity> identity_at(const std::string& path) {
    struct stat status {};
    if (calls().stat(path.c_str(), &status) == 0) return Identity{status.st_dev, status.st_ino};
    if (errno == ENOENT || errno == ENOTDIR) return std::nullopt;
    throw_failure("inspect", path, errno);
}

unsigned File::link_count() const { return static_cast<unsigned>(status_of(*this).st_nlink); }

unsigned File::mode_bits() const { return status_of(*this).st_mode & 07777; }

std::uint64_t File::block_bytes() const { return static_cast<std::uint64_t>(status_of(*this).st_blksize); }

FileSystem File::fs_kind() const {
    const struct stat status = status_of(*this);
    if (S_ISCHR(status.st_mode)) return is_devdax(status) ? FileSystem::devdax : FileSystem::other;
    struct statfs system {};
    if (calls().fstatfs(fd_, &system) != 0) throw_failure("ask for the file system of", path_, errno);
    switch (static_cast<std::uint32_t>(system.f_type)) {
        case TMPFS_MAGIC:
            return FileSystem::tmpfs;
        case HUGETLBFS_MAGIC:
            return FileSystem::hugetlbfs;
        case EXT4_SUPER_MAGIC:
            return FileSystem::ext;  // ext2 and ext3 have the same number
        case XFS_SUPER_MAGIC:
            return FileSystem::xfs;
        default:
            return FileSystem::other;
    }
}

void File::set_mode_bits(unsigned bits) {
    if (calls().fchmod(fd_, bits) != 0) throw_failure("set the permissions of", path_, errno);
}

bool File::try_give_to(unsigned user, unsigned group) {
    if (calls().fchown(fd_, user, group) == 0) return true;
    // EINVAL: a user namespace does not know the number.
    if (errno == EPERM || errno == EACCES || errno == EINVAL) return false;
    throw_failure("set the group of", path_, errno);
}

bool File::shares_extents() const {
    constexpr std::uint32_t batch = 64;
    alignas(struct fiemap) std::byte buffer[sizeof(struct fiemap) + batch * sizeof(struct fiemap_extent)];
    auto* map = reinterpret_cast<struct fiemap*>(buffer);
    for (std::uint64_t start = 0;;) {
        std::fill_n(buffer, sizeof *map, std::byte{});
        map->fm_start = start;
        map->fm_length = FIEMAP_MAX_OFFSET - start;
        map->fm_extent_count = batch;
        // A file system that does not answer has no shared extents to tell of: tmpfs, hugetlbfs.
        if (calls().ioctl(fd_, FS_IOC_FIEMAP, map) != 0) return false;
        const std::uint32_t count = std::min(map->fm_mapped_extents, batch);
        if (count == 0) return false;
        for (std::uint32_t i = 0; i < count; ++i) {
            if ((map->fm_extents[i].fe_flags & FIEMAP_EXTENT_SHARED) != 0) return true;
            if ((map->fm_extents[i].fe_flags & FIEMAP_EXTENT_LAST) != 0) return false;
        }
        const struct fiemap_extent& last = map->fm_extents[count - 1];
        start = last.fe_logical + last.fe_length;
    }
}

}  // namespace pmemcpy::os
