#pragma once

// What the tests of private objects stand on.

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <pmemcpy/error.hpp>
#include <pmemcpy/scope.hpp>
#include <string>
#include <vector>

#include "tests/folder.hpp"

namespace pmemcpy {

class scope : public testing::Test {
protected:
    std::string path() const { return folder_ / "run.pmem"; }
    std::string own_path() const { return path() + ".private-" + std::to_string(::geteuid()); }

    Options small(bool wipe = false) const {
        Options options;
        options.max_bytes = 32 << 20;
        options.chunk_bytes = 64 << 10;
        options.wipe = wipe;
        return options;
    }
    PMEM open(const Options& options) const {
        PMEM pool;
        pool.mmap(path(), options);
        return pool;
    }

    /// The files beside the pool's private side, and the pool, in which the text stands.
    std::vector<std::string> files_with(const std::string& text) const {
        std::vector<std::string> found;
        std::error_code gone;  // the index is made anew in the background
        for (std::filesystem::recursive_directory_iterator at(folder_.path()), end; at != end;
             at.increment(gone)) {
            if (!at->is_regular_file(gone) || at->path().string().starts_with(own_path())) continue;
            std::ifstream file(at->path(), std::ios::binary);
            const std::string all{std::istreambuf_iterator<char>(file), {}};
            if (all.find(text) != std::string::npos) found.push_back(at->path());
        }
        return found;
    }
    void expect_nowhere(const std::string& text) const {
        EXPECT_EQ(files_with(text), std::vector<std::string>{}) << text;
    }

    static std::string repeated(const std::string& text, std::size_t bytes) {
        std::string all;
        while (all.size() < bytes) all += text;
        return all;
    }

    Folder folder_;
};

inline void expect_error(Code code, const std::function<void()>& call) {
    try {
        call();
        ADD_FAILURE() << "no error";
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), code) << error.what();
    }
}

}  // namespace pmemcpy
