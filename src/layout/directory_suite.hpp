#pragma once

// What the tests of a pool in a directory stand on: a pool, and a look at its files as other programs have it.

#include "tests/folder.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <pmemcpy/pmemcpy.hpp>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <functional>
#include <numeric>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace pmemcpy::layout {

namespace fs = std::filesystem;

class directory_layout : public testing::Test {
protected:
    std::string path() const { return here_ / "pool/"; }
    static Options options(Mode mode = Mode::create_or_update) {
        Options chosen;
        chosen.mode = mode;
        chosen.max_bytes = 64 << 20;
        chosen.chunk_bytes = 64 << 10;
        return chosen;
    }
    void open(Mode mode = Mode::create_or_update) { pmem_.mmap(path(), options(mode)); }
    void reopen(Mode mode = Mode::create_or_update) {
        pmem_.munmap();
        open(mode);
    }
    fs::path in(const std::string& name) const { return here_ / ("pool/" + name); }
    std::vector<double> doubles_of(const std::string& name) const {
        std::ifstream file(in(name), std::ios::binary);
        std::ostringstream text;
        text << file.rdbuf();
        const std::string bytes = text.str();
        std::vector<double> values(bytes.size() / sizeof(double));
        if (!values.empty()) std::memcpy(values.data(), bytes.data(), values.size() * sizeof(double));
        return values;
    }
    std::vector<fs::path> payloads() const {
        std::vector<fs::path> found;
        for (const auto& entry : fs::directory_iterator(in(".data"))) found.push_back(entry.path());
        return found;
    }
    /// Every file below the directory but the pool's own.
    std::set<std::string> names() const {
        std::set<std::string> found;
        for (auto i = fs::recursive_directory_iterator(in("")); i != fs::recursive_directory_iterator();
             ++i) {
            const std::string name = i->path().filename();
            if (name.front() == '.') i.disable_recursion_pending();
            if (name.front() != '.' && !i->is_directory()) found.insert(fs::relative(i->path(), in("")));
        }
        return found;
    }
    static std::vector<double> ramp(std::size_t count, double first = 0) {
        std::vector<double> values(count);
        std::iota(values.begin(), values.end(), first);
        return values;
    }
    void store(const std::string& id, const std::vector<double>& values, Codec codec = {}) {
        ArrayOptions array;
        array.codec = codec;
        pmem_.alloc<double>(id, Dimensions{values.size()}, array);
        pmem_.store<double>(id, values.data(), Box{{0}, {values.size()}});
    }
    std::vector<double> load(const std::string& id, std::size_t count) {
        std::vector<double> values(count);
        pmem_.load<double>(id, values.data(), Box{{0}, {count}});
        return values;
    }
    void expect_error(Code code, const std::string& word, const std::function<void()>& f) {
        try {
            f();
            ADD_FAILURE() << "no error, expected " << name_of(code);
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), code) << error.what();
            EXPECT_NE(std::string(error.what()).find(word), std::string::npos) << error.what();
        }
    }
    /// True if the child was killed before it was done.
    static bool dies(const std::function<void()>& work) {
        const pid_t child = ::fork();
        if (child == 0) {
            try {
                work();
                ::_exit(0);
            } catch (const std::exception& error) {
                std::fprintf(stderr, "in the child: %s\n", error.what());
                ::_exit(1);
            }
        }
        int status = 0;
        EXPECT_EQ(::waitpid(child, &status, 0), child);
        EXPECT_TRUE(WIFSIGNALED(status) || WEXITSTATUS(status) == 0);
        return WIFSIGNALED(status);
    }

    Folder here_;
    PMEM pmem_;
};

}  // namespace pmemcpy::layout
