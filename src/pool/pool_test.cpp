// Length: one rule of the room after another, all of the same small pool.
#include "pool/pool.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <pmemcpy/error.hpp>
#include <thread>
#include <utility>

#include "os/calls.hpp"
#include "os/map.hpp"
#include "os/process.hpp"
#include "pool/geometry.hpp"
#include "tests/folder.hpp"

namespace pmemcpy::pool {
namespace {

/// A Lifecycle that only counts.
struct Counting final : Lifecycle {
    void rebuild() override { ++rebuilds; }
    bool scavenge(std::uint64_t) override {
        ++scavenges;
        return leaves_empty;
    }
    bool leave() override { return leaves_empty; }
    int rebuilds = 0;
    int scavenges = 0;
    bool leaves_empty = true;
};

constexpr auto nobody = [](std::uint64_t, std::uint64_t, bool) {};  // notes the holes

/// A process that has the pool open for writing.
struct Attached {
    explicit Attached(const std::string& path) : pool(path, false, MapSync::automatic) {
        pool.attach(lifecycle);
    }
    ~Attached() { pool.detach(lifecycle); }
    Attached(const Attached&) = delete;
    Attached& operator=(const Attached&) = delete;

    Counting lifecycle;
    Pool pool;
};

constexpr int advice_collapse = 25;  // MADV_COLLAPSE, which older headers lack

/// Faults that writing to each page of `bytes` at `data` takes. A sanitizer's note of each write would be a fault too.
__attribute__((no_sanitize("thread"), no_sanitize("address"), noinline)) std::uint64_t faults_of_writing(
    std::byte* data, std::uint64_t bytes) {
    constexpr std::uint64_t page = 4096;
    volatile std::byte* const pages = data;
    const std::uint64_t before = os::page_faults();
    for (std::uint64_t at = 0; at < bytes; at += page) pages[at] = std::byte{1};
    return os::page_faults() - before;
}

class pool : public ::testing::Test {
protected:
    pool() {
        shape_.max_bytes = 4 << 20;
        shape_.chunk_bytes = 64 << 10;
    }

    void expect(Code code, const std::function<void()>& call) {
        try {
            call();
            ADD_FAILURE() << "expected " << name_of(code);
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), code) << error.what();
        }
    }
    void create_with_huge_chunks() {
        shape_.max_bytes = 64 << 20;
        shape_.chunk_bytes = os::huge_page_bytes;
        Pool::create(path_, shape_);
    }
    /// A process that attaches and dies without a word.
    void attach_and_die() {
        const pid_t child = ::fork();
        if (child == 0) {
            Counting lifecycle;
            Pool mine(path_, false, MapSync::automatic);
            mine.attach(lifecycle);
            ::_exit(0);
        }
        ::waitpid(child, nullptr, 0);
    }

    Folder folder_{"/dev/shm"};  // where what a pool takes counts as memory
    std::string path_ = folder_ / "p";
    Shape shape_;
};

std::string order;

// So there is no moment at which a power loss would leave a part of a pool under its name.
TEST_F(pool, is_on_the_medium_as_a_whole_before_it_has_a_name) {
    os::Calls fake = os::system_calls();
    fake.mmap = [](void* at, std::size_t length, int access, int flags, int fd, off_t offset) {
        if (fd >= 0) order += "map ";
        return os::system_calls().mmap(at, length, access, flags, fd, offset);
    };
    fake.munmap = [](void* at, std::size_t length) {
        return order += "unmap ", os::system_calls().munmap(at, length);
    };
    fake.fdatasync = [](int fd) { return order += "sync ", os::system_calls().fdatasync(fd); };
    fake.fsync = [](int fd) { return order += "sync_directory ", os::system_calls().fsync(fd); };
    fake.linkat = [](int from, const char* old_name, int to, const char* name, int flags) {
        return order += "name ", os::system_calls().linkat(from, old_name, to, name, flags);
    };
    {
        const os::ScopedCalls listening(fake);
        Pool::create(path_, shape_);
    }
    EXPECT_TRUE(order.ends_with("unmap sync name sync_directory ")) << order;
}

TEST_F(pool, refuses_sizes_that_make_no_pool) {
    expect(Code::invalid_argument, [&] { lay_out(3000, 1 << 20); });
    expect(Code::invalid_argument, [&] { lay_out(64 << 10, 64 << 10); });
    expect(Code::invalid_argument, [&] { lay_out(default_chunk_bytes, largest_pool_bytes + 1); });
    EXPECT_EQ(lay_out(default_chunk_bytes, largest_pool_bytes).max_bytes % default_chunk_bytes, 0U);
}

// It said invalid_argument, though the user had named no size.
TEST_F(pool, without_a_limit_has_no_space_where_the_file_system_has_not_enough) {
    os::Calls fake = os::system_calls();
    fake.fstatvfs = [](int fd, struct statvfs* status) {
        const int result = os::system_calls().fstatvfs(fd, status);
        status->f_bavail = (64 << 10) / status->f_frsize;
        return result;
    };
    const os::ScopedCalls small(fake);
    shape_.max_bytes = 0;
    expect(Code::no_space, [&] { Pool::create(path_, shape_); });
    shape_.chunk_bytes = 0;
    expect(Code::invalid_argument, [&] { Pool::create(path_, shape_); });
    EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_F(pool, notices_every_flipped_bit_of_a_superblock) {
    Pool::create(path_, shape_);
    const Pool opened(path_, false, MapSync::automatic);
    Superblock super = opened.super();
    ASSERT_TRUE(is_consistent(super));
    auto* bytes = reinterpret_cast<unsigned char*>(&super);
    for (std::size_t bit = 0; bit < 8 * sizeof super; ++bit) {
        bytes[bit / 8] ^= static_cast<unsigned char>(1U << (bit % 8));
        EXPECT_FALSE(is_consistent(super)) << "bit " << bit;
        bytes[bit / 8] ^= static_cast<unsigned char>(1U << (bit % 8));
    }
}

TEST_F(pool, is_created_once) {
    Pool::create(path_, shape_);
    expect(Code::already_exists, [&] { Pool::create(path_, shape_); });
}

TEST_F(pool, is_scanned_only_after_a_crash) {
    Pool::create(path_, shape_);
    Counting first;
    {
        Pool mine(path_, false, MapSync::automatic);
        mine.attach(first);
        mine.detach(first);
    }
    EXPECT_EQ(first.rebuilds, 0);
    attach_and_die();
    Counting second;
    Pool mine(path_, false, MapSync::automatic);
    mine.attach(second);
    EXPECT_EQ(second.rebuilds, 1);
    mine.detach(second);
}

TEST_F(pool, is_not_scanned_while_somebody_is_attached) {
    Pool::create(path_, shape_);
    Counting survivor;
    Pool mine(path_, false, MapSync::automatic);
    mine.attach(survivor);
    attach_and_die();
    Counting other;
    Pool theirs(path_, false, MapSync::automatic);
    theirs.attach(other);
    EXPECT_EQ(other.rebuilds, 0);
    EXPECT_EQ(other.scavenges, 1) << "the dead process's slot is cleaned up by whoever comes next";
    EXPECT_EQ(theirs.count_attached(), 2U);
    theirs.detach(other);
    mine.detach(survivor);
}

// On a disk the run-time file outlives a power loss, with its mark. The first process then died before it reset the file, and the next
// one joined the session of before, whose memory was gone.
TEST_F(pool, believes_no_mark_of_another_boot) {
    if (os::boot_id() == 0) GTEST_SKIP() << "this kernel names no boot";
    Pool::create(path_, shape_);
    const auto rebuilds_behind_a_dead_first = [&] {
        static bool is_held;
        is_held = true;
        os::Calls fake = os::system_calls();
        fake.fcntl_lock = [](int fd, int command, struct flock* lock) {
            const bool is_first = lock->l_start == static_cast<off_t>(attach_byte) && lock->l_type == F_WRLCK;
            if (!is_first || !std::exchange(is_held, false))
                return os::system_calls().fcntl_lock(fd, command, lock);
            errno = EAGAIN;  // it has the lock just now, and is killed
            return -1;
        };
        const os::ScopedCalls scope(fake);
        return Attached(path_).lifecycle.rebuilds;
    };
    attach_and_die();
    EXPECT_EQ(rebuilds_behind_a_dead_first(), 0);  // of this boot: the memory of the dead is there
    attach_and_die();
    const std::uint64_t other = ~os::boot_id();
    os::File::open(path_ + ".rt", O_RDWR).write_exactly(&other, sizeof other, offsetof(RuntimeHeader, boot));
    EXPECT_EQ(rebuilds_behind_a_dead_first(), 1);
}

// A reader's view of what a writer overwrote made the pool "not closed cleanly" for all readers that came later.
TEST_F(pool, in_which_a_view_keeps_something_is_read_by_others_and_scanned_by_the_next_writer) {
    Pool::create(path_, shape_);
    Counting keeping;
    keeping.leaves_empty = false;
    {
        Pool mine(path_, false, MapSync::automatic);
        mine.attach(keeping);
        mine.detach(keeping);
    }
    EXPECT_EQ(keeping.scavenges, 1) << "the last one out looks at what its own slot keeps";
    Counting reading;
    {
        Pool reader(path_, true, MapSync::automatic);
        reader.attach(reading);
        reader.detach(reading);
    }
    Counting writing;
    Pool writer(path_, false, MapSync::automatic);
    writer.attach(writing);
    EXPECT_EQ(writing.rebuilds, 1);
    writer.detach(writing);
}

TEST_F(pool, counts_the_changes_of_names_and_says_nothing_while_one_is_on_its_way) {
    Pool::create(path_, shape_);
    std::optional<std::uint64_t> before;
    {
        Attached attached(path_);
        Pool& mine = attached.pool;
        before = mine.names_count();
        ASSERT_TRUE(before);
        EXPECT_EQ(mine.names_count(), before);
        {
            const Pool::NamesChange change(mine);
            const Pool::NamesChange another(mine);
            EXPECT_FALSE(mine.names_count());
        }
        ASSERT_TRUE(mine.names_count());
        EXPECT_NE(mine.names_count(), before);
        before = mine.names_count();
        mine.state().names.value += 1;  // a process that died in one
        EXPECT_FALSE(mine.names_count());
    }
    const Attached again(path_);
    ASSERT_TRUE(again.pool.names_count());
    EXPECT_NE(again.pool.names_count(), before);
}

TEST_F(pool, grows_to_its_maximum_and_no_further) {
    Pool::create(path_, shape_);
    Attached attached(path_);
    Pool& mine = attached.pool;
    const std::uint64_t all = mine.super().chunk_count;
    {
        const Pool::NameLock lock(mine);
        while (mine.usable_chunks() < all) mine.grow(1, nobody);
        expect(Code::no_space, [&] { mine.grow(1, nobody); });
    }
    mine.promise(all - 1, 1);
    std::memset(mine.at(mine.chunk_offset(all - 1)), 1,
                mine.super().chunk_bytes);  // no SIGBUS at the very end
}

// Each store into a pool that grew met a fault for each 4 KiB, and took five times as long as the copy.
TEST_F(pool, makes_huge_pages_where_the_kernel_can_make_them) {
    create_with_huge_chunks();
    Attached attached(path_);
    Pool& mine = attached.pool;
    const std::uint64_t first = mine.usable_chunks();
    static bool can = true;
    os::Calls fake = os::system_calls();
    fake.madvise = [](void* address, size_t length, int advice) {
        const int result = ::madvise(address, length, advice);
        if (advice == advice_collapse && result != 0) can = false;
        return result;
    };
    const os::ScopedCalls watched(fake);
    {
        const Pool::NameLock lock(mine);
        mine.grow(8, nobody);
    }
    mine.promise(first, 8);
    const std::uint64_t faults =
        faults_of_writing(mine.at(mine.chunk_offset(first)), 8 * mine.super().chunk_bytes);
    if (!can) GTEST_SKIP() << "this kernel makes no huge pages of a tmpfs";
    EXPECT_LE(faults, 8U);
}

TEST_F(pool, makes_small_pages_where_there_are_no_huge_ones) {
    create_with_huge_chunks();
    Attached attached(path_);
    Pool& mine = attached.pool;
    const std::uint64_t first = mine.usable_chunks();
    os::Calls fake = os::system_calls();
    fake.madvise = [](void* address, size_t length, int advice) {
        if (advice != advice_collapse) return ::madvise(address, length, advice);
        errno = EINVAL;
        return -1;
    };
    const std::uint64_t before = mine.file().allocated_bytes();
    {
        const os::ScopedCalls replaced(fake);
        const Pool::NameLock lock(mine);
        mine.grow(8, nobody);
        mine.promise(first, 8);
    }
    EXPECT_GE(mine.file().allocated_bytes(), before + 8 * mine.super().chunk_bytes)
        << "all of it is promised";
    std::memset(mine.at(mine.chunk_offset(first)), 1, 8 * mine.super().chunk_bytes);
}

// Each store would wait for a look through all of memory.
TEST_F(pool, that_finds_no_huge_page_does_not_look_again_at_once) {
    create_with_huge_chunks();
    Attached attached(path_);
    Pool& mine = attached.pool;
    const std::uint64_t first = mine.usable_chunks();
    static int looks = 0;
    looks = 0;
    os::Calls fake = os::system_calls();
    fake.madvise = [](void* address, size_t length, int advice) {
        if (advice != advice_collapse) return ::madvise(address, length, advice);
        ++looks;
        errno = EINVAL;
        return -1;
    };
    {
        const os::ScopedCalls replaced(fake);
        const Pool::NameLock lock(mine);
        mine.grow(8, nobody);
        for (std::uint64_t i = first; i < first + 8; ++i) mine.promise(i, 1);
    }
    EXPECT_GT(looks, 0);
    EXPECT_LT(looks, 8);
}

// The file system is full after some of what was asked: what was had by then is given back, for nobody knows of it.
TEST_F(pool, keeps_nothing_of_a_promise_that_failed) {
    create_with_huge_chunks();
    Attached attached(path_);
    Pool& mine = attached.pool;
    static int left = 0;
    os::Calls fake = os::system_calls();
    fake.fallocate = [](int fd, int mode, off_t offset, off_t length) {
        if (mode != 0 || left-- > 0) return ::fallocate(fd, mode, offset, length);
        errno = ENOSPC;
        return -1;
    };
    const std::uint64_t first = mine.usable_chunks();
    {
        const Pool::NameLock lock(mine);
        mine.grow(8, nobody);
    }
    const std::uint64_t before = mine.file().allocated_bytes();
    for (int successes = 0; successes < 9; ++successes) {
        left = successes;
        const os::ScopedCalls replaced(fake);
        expect(Code::no_space, [&] { mine.promise(first, 8); });
        EXPECT_EQ(mine.file().allocated_bytes(), before) << "after " << successes << " calls";
    }
}

// On tmpfs an overrun of the cgroup would not be an error but a kill.
TEST_F(pool, grows_no_further_than_its_memory_cgroup_allows) {
    Pool::create(path_, shape_);
    Attached attached(path_);
    Pool& mine = attached.pool;
    static std::string made_up;
    made_up = folder_ / "made_up";
    const auto say = [](const std::string& name, const std::string& text) {
        std::filesystem::create_directories(std::filesystem::path(made_up + name).parent_path());
        std::ofstream(made_up + name) << text;
    };
    say("/proc/self/mountinfo", "30 24 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
    say("/proc/self/cgroup", "0::/job\n");
    say("/sys/fs/cgroup/job/memory.max", "1000000\n");
    say("/sys/fs/cgroup/job/memory.current", "800000\n");
    os::Calls fake = os::system_calls();
    fake.open = [](const char* path, int flags, mode_t mode) {
        const std::string there = made_up + path;
        return os::system_calls().open(std::filesystem::exists(there) ? there.c_str() : path, flags, mode);
    };
    const std::uint64_t before = mine.usable_chunks();
    {
        const os::ScopedCalls replaced(fake);
        const Pool::NameLock lock(mine);
        mine.grow(3, nobody);  // 192 KiB of 200,000 bytes
        expect(Code::no_space, [&] { mine.grow(4, nobody); });
    }
    EXPECT_EQ(mine.usable_chunks(), before + 3);
}

// Once, who only read was told that a DAX file system was behind the page cache.
TEST_F(pool, on_dax_a_reader_is_told_the_same_durability_as_a_writer) {
    Pool::create(path_, shape_);
    os::Calls dax = os::system_calls();
    dax.mmap = [](void* at, size_t length, int protection, int flags, int fd, off_t offset) {
        constexpr int validate_only = MAP_SHARED_VALIDATE & ~MAP_SHARED;
        if ((flags & MAP_SYNC) != 0) flags &= ~(MAP_SYNC | validate_only);
        return os::system_calls().mmap(at, length, protection, flags, fd, offset);
    };
    const os::ScopedCalls replaced(dax);
    Counting lifecycle;
    Pool writer(path_, false, MapSync::automatic);
    writer.attach(lifecycle);
    Pool reader(path_, true, MapSync::automatic);
    EXPECT_EQ(reader.durability(), writer.durability());
    EXPECT_TRUE(reader.probe().map_sync);
    writer.detach(lifecycle);
}

TEST_F(pool, keeps_a_reader_out_of_what_needs_recovery) {
    Pool::create(path_, shape_);
    attach_and_die();
    Counting lifecycle;
    Pool reader(path_, true, MapSync::automatic);
    expect(Code::busy, [&] { reader.attach(lifecycle); });
}

TEST_F(pool, refuses_another_runtime_file_while_in_use) {
    Pool::create(path_, shape_);
    Counting lifecycle;
    Pool mine(path_, false, MapSync::automatic);
    mine.attach(lifecycle);
    std::filesystem::remove(path_ + ".rt");
    Pool theirs(path_, false, MapSync::automatic);
    expect(Code::busy, [&] { theirs.attach(lifecycle); });
    mine.detach(lifecycle);
    theirs.attach(lifecycle);
    theirs.detach(lifecycle);
}

// A store waited for all of a long move of others, and for its turn behind it, while the room it needed had long been there.
TEST_F(pool, who_waits_for_room_goes_on_once_it_is_there) {
    Pool::create(path_, shape_);
    Attached one(path_);
    Attached other(path_);
    const auto never = [] { return false; };
    const auto tells_of_room_made_by_others = [&](Pool& its) {
        int looks = 0;
        const Pool::RoomLock waited(its, 0, [&] { return ++looks == 3; });
        return !waited && looks == 3;
    };
    {
        const Pool::RoomLock makes_room(one.pool, 0, never);
        EXPECT_TRUE(makes_room);
        EXPECT_TRUE(tells_of_room_made_by_others(other.pool)) << "another process";
        std::thread([&] { EXPECT_TRUE(tells_of_room_made_by_others(one.pool)) << "another thread"; }).join();
        EXPECT_TRUE(Pool::RoomLock(other.pool, 1, never)) << "of another level";
    }
    EXPECT_TRUE(Pool::RoomLock(other.pool, 0, never));
}

TEST_F(pool, stays_latched_after_a_sync_that_failed) {
    const Folder on_disk(std::filesystem::temp_directory_path());
    Counting lifecycle;
    try {
        Pool::create(on_disk / "p", shape_);
        Pool mine(on_disk / "p", false, MapSync::automatic);
        mine.attach(lifecycle);
        if (mine.durability() == Durability::page) {
            os::Calls broken = os::system_calls();
            broken.fdatasync = [](int) {
                errno = EIO;
                return -1;
            };
            {
                const os::ScopedCalls replaced(broken);
                expect(Code::io_error, [&] { mine.sync(); });
            }
            expect(Code::io_error, [&] { mine.check_writable(); });
            mine.detach(lifecycle);
            Pool again(on_disk / "p", false, MapSync::automatic);
            expect(Code::io_error, [&] { again.attach(lifecycle); });
        } else {
            mine.detach(lifecycle);
        }
    } catch (const Error& error) {
        if (error.kind() != Code::unsupported) ADD_FAILURE() << error.what();
    }
}

}  // namespace
}  // namespace pmemcpy::pool
