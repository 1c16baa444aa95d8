#include "cli/watch/processes.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <pmemcpy/pmemcpy.hpp>

#include "tests/folder.hpp"

using namespace pmemcpy;
using namespace pmemcpy::cli;

namespace {

/// A process that has a pool open, in a certain mode, until this goes.
class Other {
public:
    Other(const std::string& path, Mode mode) {
        std::array<int, 2> to_us{};
        std::array<int, 2> to_it{};
        if (pipe(to_us.data()) != 0 || pipe(to_it.data()) != 0) std::abort();
        pid_ = fork();
        if (pid_ == 0) {
            close(to_it[1]);
            Options options;
            options.mode = mode;
            PMEM pmem;
            pmem.mmap(path, options);
            char byte = 0;
            if (write(to_us[1], &byte, 1) != 1 || read(to_it[0], &byte, 1) != 0) _exit(1);
            _exit(0);
        }
        close(to_it[0]);
        close(to_us[1]);
        wait_ = to_it[1];
        char byte = 0;
        is_open = read(to_us[0], &byte, 1) == 1;
        close(to_us[0]);
    }
    ~Other() {
        close(wait_);
        waitpid(pid_, nullptr, 0);
    }
    Other(const Other&) = delete;
    Other& operator=(const Other&) = delete;

    std::uint64_t pid() const { return static_cast<std::uint64_t>(pid_); }
    bool is_open = false;

private:
    pid_t pid_ = 0;
    int wait_ = -1;
};

}  // namespace

TEST(cli_processes, are_those_that_have_the_pool_open) {
    const Folder folder;
    for (const std::string& path : {folder / "pool", folder / "directory" + "/"}) {
        Options options;
        options.max_bytes = 64 << 20;
        PMEM pmem;
        pmem.mmap(path, options);
        EXPECT_TRUE(processes_at(path).empty());  // this one does not count
        pmem.munmap();
        const Other writer(path, Mode::update);
        const Other reader(path, Mode::read);
        ASSERT_TRUE(writer.is_open && reader.is_open);
        const auto found = processes_at(path);
        ASSERT_EQ(found.size(), 2U) << path;
        EXPECT_EQ(found[0].pid, writer.pid());
        EXPECT_TRUE(found[0].is_writing);
        EXPECT_EQ(found[1].pid, reader.pid());
        EXPECT_FALSE(found[1].is_writing);
        EXPECT_GT(found[1].resident_bytes, 0U);
        EXPECT_NE(found[1].command.find("processes_test"), std::string::npos) << found[1].command;
        EXPECT_FALSE(found[1].user.empty());
    }
}

TEST(cli_processes, are_none_where_there_is_no_pool) {
    EXPECT_TRUE(processes_at("/nothing/of/that/name").empty());
}
