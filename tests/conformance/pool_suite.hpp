#pragma once

// What every suite of the conformance tests stands on: a fresh pool for each test, once per layout, used through
// the public API alone. A new layout joins the list in layouts() and has to keep every promise that is tested here.

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <functional>
#include <initializer_list>
#include <pmemcpy/pmemcpy.hpp>
#include <source_location>
#include <string>
#include <string_view>

#include "tests/folder.hpp"

namespace pmemcpy::conformance {

/// Expects an Error of that kind whose message says what the user needs to know.
inline void expect_error(Code code, const std::function<void()>& call,
                         std::initializer_list<std::string_view> words = {},
                         std::source_location where = std::source_location::current()) {
    const auto line = static_cast<int>(where.line());
    try {
        call();
        ADD_FAILURE_AT(where.file_name(), line)
            << "expected the error " << name_of(code) << ", and there was none";
    } catch (const Error& error) {
        const std::string message = error.what();
        if (error.kind() != code) {
            ADD_FAILURE_AT(where.file_name(), line) << "expected the error " << name_of(code) << ", found "
                                                    << name_of(error.kind()) << ": " << message;
        }
        for (const std::string_view word : words) {
            if (message.find(word) == std::string::npos) {
                ADD_FAILURE_AT(where.file_name(), line)
                    << "no \"" << word << "\" in the message: " << message;
            }
        }
    }
}

/// Small enough that a test can fill it, with chunks so small that runs and slabs both occur.
inline Options small_pool(Layout layout = Layout::automatic) {
    Options options;
    options.layout = layout;
    options.max_bytes = 64ULL << 20;
    options.chunk_bytes = 64ULL << 10;
    return options;
}

/// What is taken when nothing waits any more: on page media what was replaced keeps its space until the next sync (law 10).
inline PoolInfo settled_info(PMEM& pmem) {
    if (pmem.durability() == Durability::page) pmem.sync();
    return pmem.info();
}

class PoolSuite : public testing::TestWithParam<Layout> {
protected:
    /// The path of a pool in this test's directory, spelled as the layout wants it.
    std::string path(const std::string& name = "pool") const {
        return directory_ / (name + (GetParam() == Layout::directory ? "/" : ""));
    }
    Options options() const { return small_pool(GetParam()); }
    Options options(Mode mode) const {
        Options chosen = options();
        chosen.mode = mode;
        return chosen;
    }
    void open() { pmem.mmap(path(), options()); }
    void reopen(const Options& chosen) {
        pmem.munmap();
        pmem.mmap(path(), chosen);
    }
    void reopen() { reopen(options()); }

    /// Does something to the pool in a process of its own, which is then killed without closing anything. The pool
    /// must not be open here, so that nobody vouches for its links and the next to open it recovers it by a scan.
    void in_killed_process(const std::function<void(PMEM&)>& work) {
        ASSERT_FALSE(pmem.is_mapped());
        const pid_t child = ::fork();
        if (child == 0) {
            try {
                PMEM own;
                own.mmap(path(), options());
                work(own);
                ::kill(::getpid(), SIGKILL);
            } catch (const std::exception& error) {
                std::fprintf(stderr, "in the child: %s\n", error.what());
            }
            ::_exit(1);
        }
        int status = 0;
        ASSERT_EQ(::waitpid(child, &status, 0), child);
        ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
            << "the child failed before it was killed";
    }

    Folder directory_;
    PMEM pmem;
};

inline auto layouts() { return testing::Values(Layout::file, Layout::directory); }

inline std::string name_of_layout(const testing::TestParamInfo<Layout>& info) {
    return info.param == Layout::directory ? "directory" : "file";
}

}  // namespace pmemcpy::conformance

/// A suite of tests (TEST_P) over all layouts.
#define PMEMCPY_SUITE(suite)                                                    \
    class suite : public ::pmemcpy::conformance::PoolSuite {};                  \
    INSTANTIATE_TEST_SUITE_P(layouts, suite, ::pmemcpy::conformance::layouts(), \
                             ::pmemcpy::conformance::name_of_layout)
