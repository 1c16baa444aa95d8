#pragma once

// A root for namespaces, and one user's way with them; two users meet in tests/sharing.

#include <pmemcpy/namespaces.hpp>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>

#include <pmemcpy/pmemcpy.hpp>
#include <pmemcpy/repair.hpp>
#include <pmemcpy/scope.hpp>

#include "os/access.hpp"
#include "os/calls.hpp"
#include "spaces/marker.hpp"
#include "tests/folder.hpp"

namespace pmemcpy::spaces_suite {

namespace fs = std::filesystem;

// The tests that use it have one thread.
class Environment {
public:
    // NOLINTBEGIN(concurrency-mt-unsafe)
    explicit Environment(const char* root) { root == nullptr ? ::unsetenv(name_) : ::setenv(name_, root, 1); }
    ~Environment() { ::unsetenv(name_); }
    // NOLINTEND(concurrency-mt-unsafe)

private:
    static constexpr const char* name_ = "PMEMCPY_ROOT";
};

class Namespaces : public testing::Test {
protected:
    std::string root() const { return folder_.path(); }
    std::string path(const std::string& name) const { return folder_ / name; }
    std::vector<std::string> names() const {
        std::vector<std::string> all;
        for (const Namespace& known : namespaces(root())) all.push_back(known.name);
        return all;
    }
    static Options small() {
        Options options;
        options.max_bytes = 8 << 20;
        options.chunk_bytes = 64 << 10;
        return options;
    }
    void make_pool(const std::string& file, Options options = small()) {
        PMEM pmem;
        pmem.mmap(path(file), options);
    }
    bool has_lists() {
        try {
            create_namespace("lists", root());
            grant("lists", {Grantee::user, "daemon"}, Permission::read, root());
        } catch (const Error& error) {
            if (error.kind() == Code::unsupported) return false;
            throw;
        }
        drop_namespace("lists", Drop::only_empty, root());
        return true;
    }

    Folder folder_;
    Environment environment_{folder_.path().c_str()};
};

inline void expect_error(Code code, const std::string& part, const std::function<void()>& call) {
    try {
        call();
        ADD_FAILURE() << "no error that tells: " << part;
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), code) << error.what();
        EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    }
}

}  // namespace pmemcpy::spaces_suite
