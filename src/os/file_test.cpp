#include "os/file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/calls.hpp"
#include "os/failure.hpp"
#include "os/names.hpp"

namespace {

using namespace pmemcpy;
using namespace pmemcpy::os;

std::string folder() { return std::filesystem::temp_directory_path().string(); }

Code code_of(auto&& action) {
    try {
        action();
    } catch (const Error& error) {
        return error.kind();
    }
    return Code{};
}

TEST(os, a_file_is_created_without_a_name_and_linked_when_whole) {
    const std::string path = folder() + "/pmemcpy_os_link_" + std::to_string(::getpid());
    File file = File::create_unnamed(folder() + "/unnamed", 0640);
    file.write_exactly("whole", 5, 0);
    EXPECT_FALSE(exists(path));
    file.link_as(path);
    EXPECT_TRUE(exists(path));
    EXPECT_EQ(file.path(), path);
    EXPECT_EQ(code_of([&] { File::create_unnamed(folder() + "/unnamed", 0640).link_as(path); }),
              Code::already_exists);

    const File again = File::open(path, O_RDONLY);
    EXPECT_EQ(again.identity(), file.identity());
    EXPECT_FALSE(again.is_writable());
    char text[5];
    again.read_exactly(text, 5, 0);
    EXPECT_EQ(std::string(text, 5), "whole");
    EXPECT_EQ(code_of([&] { again.read_exactly(text, 5, 1); }), Code::corrupt);
    EXPECT_TRUE(remove_file(path));
    EXPECT_FALSE(remove_file(path));
}

TEST(os, descriptors_are_closed_on_exec_and_moved_not_copied) {
    File file = File::create_unnamed(folder() + "/unnamed", 0600);
    EXPECT_EQ(::fcntl(file.fd(), F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
    const int fd = file.fd();
    File other = std::move(file);
    EXPECT_EQ(other.fd(), fd);
    other = File();
    EXPECT_EQ(::fcntl(fd, F_GETFD), -1);
}

TEST(os, space_is_allocated_and_given_back) {
    File file = File::create_unnamed("/dev/shm/unnamed", 0600);
    file.allocate(0, 1 << 20);
    EXPECT_EQ(file.size(), 1u << 20);
    EXPECT_EQ(file.allocated_bytes(), 1u << 20);
    file.punch(0, 1 << 19);
    EXPECT_EQ(file.size(), 1u << 20);
    EXPECT_EQ(file.allocated_bytes(), 1u << 19);
    EXPECT_EQ(file.fs_kind(), FileSystem::tmpfs);
    EXPECT_FALSE(file.shares_extents());
}

TEST(os, the_next_data_lie_behind_a_hole) {
    File file = File::create_unnamed(
        (std::filesystem::is_directory("/dev/shm") ? "/dev/shm" : folder()) + "/unnamed", 0600);
    file.resize(std::uint64_t{1} << 20);
    EXPECT_EQ(file.next_data(0), UINT64_MAX);
    file.write_exactly("data", 4, std::uint64_t{512} << 10);
    EXPECT_EQ(file.next_data(0), std::uint64_t{512} << 10);
    EXPECT_EQ(file.next_data((std::uint64_t{512} << 10) + 1), (std::uint64_t{512} << 10) + 1);
    EXPECT_EQ(file.next_data(std::uint64_t{600} << 10), UINT64_MAX);
    Calls unaware = system_calls();
    unaware.lseek = [](int, off_t, int) -> off_t {
        errno = EINVAL;
        return -1;
    };
    const ScopedCalls replaced(unaware);
    EXPECT_EQ(file.next_data(4096), 4096U) << "what cannot be told may be data";
}

TEST(os, a_failure_names_the_path_and_the_reason) {
    try {
        File::open("/dev/shm/no such file", O_RDONLY);
        FAIL();
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), Code::not_found);
        EXPECT_NE(std::string(error.what()).find("no such file"), std::string::npos);
        EXPECT_NE(std::string(error.what()).find("No such file or directory"), std::string::npos);
    }
    EXPECT_FALSE(File::open_if_exists("/dev/shm/no such file", O_RDONLY));
}

// A pool got the number of stderr, and a program's message was written into it: "a chain of names is broken".
TEST(os, a_file_never_gets_the_number_of_a_standard_stream) {
    const std::string path = folder() + "/pmemcpy-standard-" + std::to_string(::getpid());
    const pid_t child = ::fork();
    if (child == 0) {
        for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; ++stream) ::close(stream);
        const File file = File::open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
        const File again = File::open(path, O_RDONLY);
        const auto in_folder = File::open_in(File::open(folder(), O_RDONLY | O_DIRECTORY),
                                             path.substr(folder().size() + 1), O_RDONLY);
        const File in_memory = File::create_in_memory("none");
        const bool are_above = std::min({file.fd(), again.fd(), in_folder->fd(), in_memory.fd()}) > 2;
        const bool is_free = ::fcntl(STDERR_FILENO, F_GETFD) == -1;
        ::_exit(are_above && is_free ? 0 : 1);
    }
    int status = -1;
    ::waitpid(child, &status, 0);
    std::filesystem::remove(path);
    EXPECT_EQ(status, 0);
}

TEST(os, every_way_of_running_out_of_space_is_no_space) {
    File file = File::create_unnamed("/dev/shm/unnamed", 0600);
    static int error;
    Calls fake = system_calls();
    fake.fallocate = [](int, int, off_t, off_t) {
        errno = error;
        return -1;
    };
    const ScopedCalls scoped(fake);
    for (const int number : {ENOSPC, EDQUOT}) {
        error = number;
        EXPECT_EQ(code_of([&] { file.allocate(0, 4096); }), Code::no_space);
    }
    error = EOPNOTSUPP;
    EXPECT_EQ(code_of([&] { file.allocate(0, 4096); }), Code::unsupported);
    error = EIO;
    EXPECT_EQ(code_of([&] { file.allocate(0, 4096); }), Code::io_error);
}

// The kernel kills (SIGXFSZ) who grows a file beyond the limit, before a call says EFBIG.
TEST(os, a_limit_on_the_length_of_files_is_no_space_before_the_kernel_is_asked) {
    Calls limited = system_calls();
    limited.getrlimit = [](int resource, struct rlimit* limit) {
        *limit = {resource == RLIMIT_FSIZE ? 8192 : RLIM_INFINITY, RLIM_INFINITY};
        return 0;
    };
    File file = File::create_unnamed("/dev/shm/unnamed", 0600);
    File longer = File::create_unnamed("/dev/shm/unnamed", 0600);
    longer.resize(16384);
    const ScopedCalls scoped(limited);
    EXPECT_EQ(most_file_bytes(), 8192u);
    EXPECT_EQ(code_of([&] { file.resize(8193); }), Code::no_space);
    try {
        file.resize(8193);
    } catch (const Error& error) {  // it named the folder, which has no such limit
        EXPECT_NE(std::string(error.what()).find("at '/dev/shm/unnamed'"), std::string::npos) << error.what();
    }
    EXPECT_EQ(code_of([&] { file.allocate(4096, 4097); }), Code::no_space);
    EXPECT_EQ(code_of([&] { file.write_exactly("xy", 2, 8191); }), Code::no_space);
    EXPECT_EQ(file.size(), 0u);
    try {
        file.resize(8193);
    } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find("ulimit -f"), std::string::npos) << error.what();
    }
    file.resize(8192);
    file.write_exactly("xy", 2, 8190);
    // What does not make it longer is forbidden to nobody.
    longer.allocate(8192, 8192);
    longer.punch(0, 16384);
    longer.resize(12288);
    EXPECT_EQ(longer.size(), 12288u);
}

TEST(os, allocation_goes_on_under_signals_in_steps_that_cover_all) {
    static std::uint64_t covered;
    static int interruptions;
    covered = 0;
    interruptions = 0;
    Calls fake = system_calls();
    fake.fallocate = [](int, int, off_t offset, off_t length) {
        if (length > (4 << 20)) {
            ++interruptions;
            errno = EINTR;
            return -1;
        }
        EXPECT_EQ(static_cast<std::uint64_t>(offset), covered);
        covered += static_cast<std::uint64_t>(length);
        return 0;
    };
    File file = File::create_unnamed("/dev/shm/unnamed", 0600);
    const ScopedCalls scoped(fake);
    file.allocate(0, (std::uint64_t{1} << 30) + 5);
    EXPECT_EQ(covered, (std::uint64_t{1} << 30) + 5);
    EXPECT_GT(interruptions, 0);
    EXPECT_LT(interruptions, 10);
}

TEST(os, a_reflinked_file_is_seen_by_its_shared_extents) {
    File file = File::create_unnamed("/dev/shm/unnamed", 0600);
    Calls fake = system_calls();
    fake.fstatfs = [](int, struct statfs* status) {
        status->f_type = XFS_SUPER_MAGIC;
        return 0;
    };
    fake.ioctl = [](int, unsigned long request, void* argument) {
        EXPECT_EQ(request, FS_IOC_FIEMAP);
        auto* map = static_cast<struct fiemap*>(argument);
        // Two calls: a plain extent first, a shared one behind it.
        const bool first = map->fm_start == 0;
        map->fm_mapped_extents = 1;
        map->fm_extents[0] = {};
        map->fm_extents[0].fe_logical = first ? 0 : 4096;
        map->fm_extents[0].fe_length = 4096;
        map->fm_extents[0].fe_flags = first ? 0 : FIEMAP_EXTENT_SHARED | FIEMAP_EXTENT_LAST;
        return 0;
    };
    const ScopedCalls scoped(fake);
    EXPECT_EQ(file.fs_kind(), FileSystem::xfs);
    EXPECT_TRUE(file.shares_extents());
}

TEST(os, a_devdax_device_is_known_by_its_subsystem_and_has_the_size_of_sysfs) {
    File file = File::create_unnamed("/dev/shm/unnamed", 0600);
    Calls fake = system_calls();
    fake.fstat = [](int, struct stat* status) {
        *status = {};
        status->st_mode = S_IFCHR | 0600;
        status->st_rdev = 0xFC01;
        return 0;
    };
    fake.realpath = [](const char*, char*) { return ::strdup("/sys/bus/dax"); };
    fake.open = [](const char* path, int, mode_t) {
        EXPECT_TRUE(std::string(path).ends_with("/size"));
        return 12345;
    };
    fake.close = [](int fd) { return fd == 12345 ? 0 : ::close(fd); };
    fake.pread = [](int, void* bytes, size_t, off_t offset) -> ssize_t {
        if (offset > 0) return 0;
        std::memcpy(bytes, "134217728\n", 10);
        return 10;
    };
    const ScopedCalls scoped(fake);
    EXPECT_EQ(file.fs_kind(), FileSystem::devdax);
    EXPECT_EQ(file.size(), 134'217'728u);
}

}  // namespace
