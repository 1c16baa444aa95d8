#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <fcntl.h>
#include <sys/types.h>

namespace pmemcpy::os {

/// The file systems that the library knows by name; `other` is everything else.
enum class FileSystem { tmpfs, hugetlbfs, ext, xfs, devdax, other };

const char* name_of(FileSystem kind) noexcept;

/// The longest that the kernel lets this process make a file (`ulimit -f`); UINT64_MAX where there is no limit. Who goes beyond it is
/// killed (SIGXFSZ), if he catches no such signal, before any call says EFBIG.
std::uint64_t most_file_bytes();

/// Stands for the user or group that a file has.
inline constexpr unsigned unchanged_id = ~0U;

/// Which file this is, whatever its names are.
struct Identity {
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
    friend bool operator==(const Identity&, const Identity&) = default;
};

/// Nothing where there is none.
std::optional<Identity> identity_at(const std::string& path);

/// An open file: owns its descriptor, which is always close-on-exec. Every failure throws an Error with the
/// path.
class File {
public:
    File() = default;
    ~File() { close(); }
    File(File&& other) noexcept;
    File& operator=(File&& other) noexcept;

    /// `flags` as for open(2), O_CLOEXEC added.
    static File open(const std::string& path, int flags, mode_t mode = 0);
    /// The same for a file that may be missing: nothing where there is none.
    static std::optional<File> open_if_exists(const std::string& path, int flags);
    /// The file `name` in an open directory, itself and no symbolic link: nothing where there is none.
    static std::optional<File> open_in(const File& directory, const std::string& name, int flags,
                                       mode_t mode = 0);
    /// A file without a name (O_TMPFILE) in the folder of `path`: it vanishes unless link_as(path) names it. Errors call it `path`.
    static File create_unnamed(const std::string& path, mode_t mode);
    /// A file in memory, without a name anywhere. What goes by its path are messages.
    static File create_in_memory(const std::string& path);
    /// Gives the file a name; `already_exists` if somebody has it.
    void link_as(const std::string& path);

    void close() noexcept;
    bool is_open() const noexcept { return fd_ >= 0; }
    int fd() const noexcept { return fd_; }
    const std::string& path() const noexcept { return path_; }

    /// Bytes in the file; of a devdax device, its capacity.
    std::uint64_t size() const;
    /// Errors: no_space beyond most_file_bytes(), here and where the file grows by what follows.
    void resize(std::uint64_t bytes);
    /// Space for [offset, offset + length), growing the file: `no_space` now instead of a signal later, and
    /// then part of it may be allocated. Signals only delay it.
    void allocate(std::uint64_t offset, std::uint64_t length);
    /// Gives the space of [offset, offset + length) back; it reads as zeros afterwards.
    void punch(std::uint64_t offset, std::uint64_t length);
    /// Bytes really allocated on the device (st_blocks * 512).
    std::uint64_t allocated_bytes() const;
    /// Where the last bytes end that were ever stored: behind them there are only holes, and space that was never used.
    std::uint64_t data_end() const;
    /// The first byte from `offset` on that may be another than zero: what is in between was never stored to. Where the file cannot
    /// tell, `offset`; without any, UINT64_MAX.
    std::uint64_t next_data(std::uint64_t offset) const;
    /// fdatasync. A failure is reported once by the kernel: the caller must not retry.
    void sync_data();
    /// fsync of the file, or of the directory that this is: a new name is durable after it.
    void sync_all();

    /// Takes what of the file is on the device out of the page cache, so that reading it asks the device; what is not there yet stays. Where the
    /// kernel cannot, nothing happens.
    void forget_cached();
    /// No reading ahead from now on.
    void expect_random_reads();

    void read_exactly(void* bytes, std::size_t size, std::uint64_t offset) const;
    void write_exactly(const void* bytes, std::size_t size, std::uint64_t offset);

    Identity identity() const;
    bool is_regular() const;
    /// The user that the file belongs to.
    unsigned owner() const;
    unsigned owning_group() const;
    bool is_directory() const;
    unsigned link_count() const;
    unsigned mode_bits() const;
    void set_mode_bits(unsigned bits);
    /// Makes the file another user's, and another group's. False where this process may not: only root gives to users, and who is
    /// not in a group cannot give to it.
    bool try_give_to(unsigned user, unsigned group);
    bool is_writable() const noexcept { return writable_; }
    /// What the file system prefers to be asked for at once: on hugetlbfs the size of its pages.
    std::uint64_t block_bytes() const;
    FileSystem fs_kind() const;
    /// True if part of the file shares its blocks with another (a reflink on xfs), where a write in allocated
    /// space may still run out of space. Asks FIEMAP; that a file system could share later is not seen.
    bool shares_extents() const;

private:
    void refuse_beyond_limit(std::uint64_t end) const;
    File(int fd, std::string path, bool writable) noexcept
        : fd_(fd), path_(std::move(path)), writable_(writable) {}

    int fd_ = -1;
    std::string path_;
    bool writable_ = false;
};

}  // namespace pmemcpy::os
