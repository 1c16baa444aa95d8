// What becomes of the pool that an import has made, when the import fails.

#include "tests/folder.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <functional>
#include <pmemcpy/exchange.hpp>
#include <pmemcpy/pmemcpy.hpp>
#include <stdexcept>
#include <string>
#include <vector>

namespace pmemcpy {
namespace {

namespace fs = std::filesystem;

class importing : public testing::Test {
protected:
    explicit importing(const std::string& name) : name_(name) {}
    std::string pool() const { return here_ / name_; }
    std::string pool_file() const { return pool() + (pool().back() == '/' ? ".pool" : ""); }

    std::string file() const { return here_ / "a.npy"; }
    void write_file() const {
        std::string header = "{'descr': '<f8', 'fortran_order': False, 'shape': (1024,), }";
        header.resize(117, ' ');
        header += '\n';
        std::ofstream out(file(), std::ios::binary);
        out << std::string("\x93NUMPY\x01\x00", 8) << '\x76' << '\0' << header << std::string(8192, '\1');
    }

    /// `meanwhile` runs when the first elements have been stored, and then the import fails.
    void import(const std::function<void()>& meanwhile = {}) {
        write_file();
        ImportOptions options;
        options.max_bytes = 16 << 20;
        options.piece_bytes = 1024;
        options.progress = [&](std::uint64_t, std::uint64_t) {
            if (meanwhile) meanwhile();
            throw std::runtime_error("no more");
        };
        EXPECT_THROW(import_file(pool(), file(), options), std::runtime_error);
    }
    static std::int64_t value_in(const std::string& pool) {
        Options options;
        options.mode = Mode::read;
        PMEM pmem;
        pmem.mmap(pool, options);
        return pmem.load<std::int64_t>("theirs");
    }

    Folder here_;
    const std::string name_;
};

/// Into a file or a directory.
class failed_import : public importing, public testing::WithParamInterface<const char*> {
protected:
    failed_import() : importing(GetParam()) {}
};

class failed_import_into_a_directory : public importing {
protected:
    failed_import_into_a_directory() : importing("pool/") {}
};

TEST_P(failed_import, takes_the_pool_that_it_made_away) {
    import();
    EXPECT_FALSE(fs::exists(pool_file()));
    EXPECT_FALSE(fs::exists(pool_file() + ".rt"));
    EXPECT_FALSE(fs::exists(pool()));
}

// An import looked whether an array was there, and then stored into one that another process had made behind the look. It makes each as a
// new one now, so an array that came before stays, whenever it came.
TEST_P(failed_import, leaves_an_array_of_another_that_is_like_its_own) {
    PMEM theirs;
    Options small;
    small.max_bytes = 16 << 20;
    theirs.mmap(pool(), small);
    theirs.alloc<double>("a", {1024});
    const std::vector<double> numbers(1024, 7.0);
    theirs.store("a", numbers.data(), Box::whole({1024}));
    write_file();
    try {
        import_file(pool(), file());
        ADD_FAILURE() << "no error";
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), Code::already_exists) << error.what();
    }
    std::vector<double> now(1024);
    theirs.load("a", now.data(), Box::whole({1024}));
    EXPECT_EQ(now, numbers);
}

TEST_F(failed_import_into_a_directory, leaves_one_that_was_there) {
    fs::create_directory(pool());
    import();
    EXPECT_TRUE(fs::is_directory(pool()));
    EXPECT_TRUE(fs::is_empty(pool()));
}

// The import removed the pool by its name, though another process had put something into it.
TEST_P(failed_import, leaves_a_pool_that_another_has_put_something_into) {
    import([&] {
        PMEM other;
        other.mmap(pool());
        other.store("theirs", std::int64_t{7});
    });
    EXPECT_EQ(value_in(pool()), 7);
}

TEST_P(failed_import, leaves_a_pool_that_another_has_open) {
    PMEM other;
    import([&] { other.mmap(pool()); });
    other.store("theirs", std::int64_t{7});
    other.munmap();
    EXPECT_EQ(value_in(pool()), 7);
}

TEST_P(failed_import, leaves_a_pool_that_has_taken_its_place) {
    import([&] {
        fs::remove(pool_file());
        fs::remove(pool_file() + ".rt");
        PMEM other;
        other.mmap(pool());
        other.store("theirs", std::int64_t{7});
    });
    EXPECT_EQ(value_in(pool()), 7);
}

// All that lay in the directory of the pool was removed with it.
TEST_F(failed_import_into_a_directory, leaves_the_files_of_a_user) {
    const fs::path file = fs::path(pool()) / "notes.txt";
    import([&] { std::ofstream(file) << "mine"; });
    EXPECT_TRUE(fs::exists(file));
    EXPECT_FALSE(fs::exists(pool_file()));
}

INSTANTIATE_TEST_SUITE_P(layouts, failed_import, testing::Values("pool.pmem", "pool/"),
                         [](const auto& which) { return which.index == 0 ? "file" : "directory"; });

}  // namespace
}  // namespace pmemcpy
