#include "os/map.hpp"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string>

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <pmemcpy/error.hpp>

#include "os/calls.hpp"

namespace {

using namespace pmemcpy;
using namespace pmemcpy::os;

TEST(os, a_mapping_starts_at_a_huge_page_and_sees_the_file_grow_under_it) {
    File file = File::create_unnamed("/dev/shm/unnamed", 0600);
    file.allocate(0, 4096);
    Mapping map(file, std::uint64_t{64} << 30);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(map.base()) % huge_page_bytes, 0u);
    map.base()[0] = std::byte{1};
    file.allocate(4096, 4096);
    map.base()[5000] = std::byte{2};
    const Mapping other(file, 8192, {.access = Access::read});
    EXPECT_EQ(other.base()[0], std::byte{1});
    EXPECT_EQ(other.base()[5000], std::byte{2});
    map.sync(4100, 100);
}

TEST(os, a_mapping_may_start_inside_the_file) {
    File file = File::create_unnamed("/dev/shm/unnamed", 0600);
    file.allocate(0, 2 * huge_page_bytes);
    file.write_exactly("x", 1, huge_page_bytes);
    const Mapping map(file, 4096, {.access = Access::read, .offset = huge_page_bytes});
    EXPECT_EQ(map.base()[0], std::byte{'x'});
}

TEST(os, pages_are_populated_and_collapsed) {
    File file = File::create_unnamed("/dev/shm/unnamed", 0600);
    file.allocate(0, 2 * huge_page_bytes);
    Mapping map(file, 4 * huge_page_bytes);
    EXPECT_TRUE(map.populate(100, huge_page_bytes));
    std::memset(map.base(), 3, 2 * huge_page_bytes);
    EXPECT_TRUE(map.collapse(0, 100));  // no whole huge page in it: nothing to do
    // Whether it can depends on the kernel; that the bytes stay does not.
    (void)map.collapse(0, 4 * huge_page_bytes);
    EXPECT_EQ(map.base()[2 * huge_page_bytes - 1], std::byte{3});
}

TEST(os, one_page_that_cannot_be_collapsed_does_not_end_it_for_the_others) {
    static int collapsed;
    collapsed = 0;
    Calls fake = system_calls();
    fake.madvise = [](void* address, size_t length, int advice) {
        if (advice != 25) return ::madvise(address, length, advice);
        const bool is_second = reinterpret_cast<std::uintptr_t>(address) / huge_page_bytes % 2 == 1;
        if (length > huge_page_bytes || is_second) {
            errno = EINVAL;
            return -1;
        }
        ++collapsed;
        return 0;
    };
    const ScopedCalls scoped(fake);
    File file = File::create_unnamed("/dev/shm/unnamed", 0600);
    Mapping map(file, 4 * huge_page_bytes);
    EXPECT_FALSE(map.collapse(0, 4 * huge_page_bytes));
    EXPECT_EQ(collapsed, 2);
}

TEST(os, map_sync_is_unsupported_on_tmpfs) {
    const File file = File::create_unnamed("/dev/shm/unnamed", 0600);
    try {
        const Mapping map(file, 4096, {.map_sync = true});
        FAIL();
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), Code::unsupported);
    }
}

TEST(os, a_child_does_not_inherit_a_mapping) {
    File file = File::create_unnamed("/dev/shm/unnamed", 0600);
    file.write_exactly("inherited", 9, 0);
    file.resize(4096);
    const Mapping map(file, 4096);
    const pid_t child = ::fork();
    if (child == 0) {
        std::signal(SIGSEGV, SIG_DFL);
        // A sanitizer may have put memory of its own there, so that it is the content that counts.
        std::_Exit(std::memcmp(map.base(), "inherited", 9) == 0 ? 1 : 0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_FALSE(WIFEXITED(status) && WEXITSTATUS(status) == 1);
}

TEST(os, a_child_inherits_a_mapping_that_is_to_be_inherited_and_unmaps_its_own) {
    File file = File::create_unnamed("/dev/shm/unnamed", 0600);
    file.write_exactly("inherited", 9, 0);
    file.resize(4096);
    Mapping map(file, 4096, {.is_inherited = true});
    const pid_t child = ::fork();
    if (child == 0) {
        const bool is_there = std::memcmp(map.base(), "inherited", 9) == 0;
        map.unmap();
        std::_Exit(is_there ? 0 : 1);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
    EXPECT_EQ(std::memcmp(map.base(), "inherited", 9), 0);
}

// The kernel leaves a hole where the parent's mapping was. The child unmapped "its copy" there, and with it what it had come to keep in
// that place: a pool of its own, or memory of malloc.
TEST(os, a_childs_copy_of_a_mapping_leaves_alone_what_the_child_has_there) {
    File file = File::create_unnamed("/dev/shm/unnamed", 0600);
    file.resize(4096);
    Mapping map(file, 4096);
    Mapping moved(file, 4096);
    Mapping target;
    const pid_t child = ::fork();
    if (child == 0) {
        std::signal(SIGSEGV, SIG_DFL);
        char* own[2] = {};
        for (int i = 0; i < 2; ++i) {
            void* const there = (i == 0 ? map : moved).base();
            void* const mine =
                ::mmap(there, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
            if (mine != there) std::_Exit(2);
            own[i] = static_cast<char*>(mine);
            *own[i] = 'm';
        }
        map.unmap();
        target = std::move(moved);
        target = Mapping();
        std::_Exit(*own[0] == 'm' && *own[1] == 'm' && !map.is_mapped() ? 0 : 1);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
    EXPECT_EQ(map.base()[0], std::byte{0});  // nor did it take anything from its parent
}

TEST(os, a_limit_on_address_space_is_named) {
    Calls fake = system_calls();
    fake.mmap = [](void*, size_t, int, int, int, off_t) {
        errno = ENOMEM;
        return MAP_FAILED;
    };
    const File file = File::create_unnamed("/dev/shm/unnamed", 0600);
    const ScopedCalls scoped(fake);
    try {
        const Mapping map(file, 4 * huge_page_bytes);
        FAIL() << "mapped";
    } catch (const pmemcpy::Error& error) {
        EXPECT_EQ(error.kind(), pmemcpy::Code::no_space);
        EXPECT_NE(std::string(error.what()).find("ulimit -v"), std::string::npos) << error.what();
    }
}

TEST(os, a_failed_msync_is_an_io_error) {
    File file = File::create_unnamed("/dev/shm/unnamed", 0600);
    file.allocate(0, 4096);
    Mapping map(file, 4096);
    Calls fake = system_calls();
    fake.msync = [](void*, size_t, int) {
        errno = EIO;
        return -1;
    };
    const ScopedCalls scoped(fake);
    try {
        map.sync(0, 4096);
        FAIL();
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), Code::io_error);
    }
}

}  // namespace
