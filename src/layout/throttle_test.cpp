#include "layout/throttle.hpp"

#include <filesystem>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "tests/folder.hpp"

namespace pmemcpy::layout {
namespace {

// The file had a length and no space, so that on a full target the first block that was copied there was a SIGBUS; and it had the umask of
// who came first.
TEST(throttle, has_a_file_with_space_for_all_who_may_write_the_target) {
    const Folder target;
    std::filesystem::permissions(target.path(), std::filesystem::perms(01777));
    const mode_t before = ::umask(077);
    Throttle one(target.path(), Limits{});
    Throttle two(target.path(), Limits{});
    ::umask(before);
    struct stat status {};
    ASSERT_EQ(::stat((target / "pmemcpy-pace").c_str(), &status), 0);
    EXPECT_GE(status.st_blocks * 512, 4096);
    EXPECT_EQ(status.st_mode & 0777, 0666u);
}

}  // namespace
}  // namespace pmemcpy::layout
