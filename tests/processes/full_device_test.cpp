// A device that is full: a tmpfs of 16 MiB under a pool that may grow to more.

#include "worker.hpp"

#include <sched.h>
#include <sys/mount.h>

namespace {

using namespace processes;
using pmemcpy::Code;
using pmemcpy::Error;
using pmemcpy::PMEM;

constexpr int not_permitted = 77;
constexpr std::size_t value_bytes = 1 << 20;

std::string value(std::size_t number) {
    return std::string(value_bytes, static_cast<char>('a' + number % 26));
}

// The number of the values that are there, each of them whole; -1 if one is not.
int count_whole(const PMEM& pmem) {
    int count = 0;
    for (const std::string& id : pmem.ids("big/")) {
        if (pmem.load<std::string>(id) != value(std::stoul(id.substr(4)))) return -1;
        ++count;
    }
    return count;
}

// Stores until no more goes in. Returns how many did; -1 for another error than it should be.
int fill_up(PMEM& pmem) {
    for (int i = 0;; ++i) {
        try {
            pmem.store("big/" + std::to_string(i), value(static_cast<std::size_t>(i)));
        } catch (const Error& error) {
            std::cerr << error.what() << "\n";
            return error.kind() == Code::no_space ? i : -1;
        }
    }
}

// In a mount namespace of its own, with a file system of its own, which goes when the process does.
int fill_a_tmpfs(const Arguments& arguments) {
    const std::string& where = arguments[0];
    if (::unshare(CLONE_NEWNS) != 0 || ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount("none", where.c_str(), "tmpfs", 0, "size=16m") != 0) {
        return not_permitted;
    }
    const std::string path = where + "/pool" + arguments[1];
    PMEM pmem;
    pmemcpy::Options options;
    options.max_bytes = 256 << 20;
    options.chunk_bytes = 64 << 10;
    pmem.mmap(path, options);
    pmem.store("keep", 42);
    const int stored = fill_up(pmem);
    if (stored < 10 || stored > 16) return 1;
    if (pmem.load<int>("keep") != 42 || count_whole(pmem) != stored) return 2;
    // What failed has left nothing, and room made is room that can be used.
    for (int i = 0; i < 100; ++i) {
        pmem.erase("big/3");
        pmem.store("big/3", value(3));
    }
    if (count_whole(pmem) != stored || !pmem.verify().empty()) return 3;
    pmem.munmap();
    pmem.mmap(path, options);
    if (pmem.load<int>("keep") != 42 || count_whole(pmem) != stored) return 4;
    // Somebody else takes the rest of the file system: the pool needs nothing of it.
    std::ofstream(where + "/other") << std::string(16 << 20, 'x');
    pmem.store("keep", 43);
    pmem.erase("big/5");
    for (int i = 0; i < 1000; ++i) pmem.store("small " + std::to_string(i), i);
    return pmem.load<int>("keep") == 43 && count_whole(pmem) == stored - 1 ? 0 : 5;
}
const Job fill_a_tmpfs_job("fill_a_tmpfs", fill_a_tmpfs);

class FullTmpfs : public ::testing::TestWithParam<const char*> {};

TEST_P(FullTmpfs, says_no_space_and_keeps_every_value) {
    const Folder folder;
    const std::string slash = std::string(GetParam()) == "directory" ? "/" : "";
    Worker worker("fill_a_tmpfs", Arguments{folder.path(), slash});
    const int status = worker.wait();
    if (status == not_permitted) GTEST_SKIP() << "mounting is not permitted here";
    EXPECT_EQ(status, 0);
}
INSTANTIATE_TEST_SUITE_P(layouts, FullTmpfs, ::testing::Values("file", "directory"),
                         [](const auto& layout) { return std::string(layout.param); });

}  // namespace
