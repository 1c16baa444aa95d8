// Which file an export makes of objects that become private, or are erased, while it reads them.

#include "tests/folder.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdint>
#include <functional>
#include <pmemcpy/exchange.hpp>
#include <pmemcpy/pmemcpy.hpp>
#include <pmemcpy/scope.hpp>
#include <string>
#include <vector>

namespace pmemcpy {
namespace {

namespace fs = std::filesystem;

class exporting : public testing::Test {
protected:
    exporting() : bytes_(8192, std::byte{7}) {
        Options options;
        options.max_bytes = 32 << 20;
        options.wipe = true;
        pool_.mmap(here_ / "pool", options);
        pool_.alloc<std::byte>("a", {bytes_.size()});
        pool_.store("a", bytes_.data(), Box::whole({bytes_.size()}));
    }

    std::string file() const { return here_ / "a.npy"; }

    /// Exports "a" in eight pieces; `meanwhile` gets the number of each one that was read.
    ExchangeReport export_pieces(const std::function<void(int)>& meanwhile, bool only_shared = false) {
        int piece = 0;
        ExportOptions options;
        options.from = "a";
        options.only_shared = only_shared;
        options.piece_bytes = 1024;
        options.progress = [&](std::uint64_t, std::uint64_t) { meanwhile(++piece); };
        return export_file(here_ / "pool", file(), options);
    }
    bool is_for_its_owner() const {
        struct stat there {};
        EXPECT_EQ(::stat(file().c_str(), &there), 0);
        return (there.st_mode & 0077) == 0;
    }

    Folder here_;
    std::vector<std::byte> bytes_;
    PMEM pool_;
};

// The export asked for the scope by name when all was written. An object that was erased by then counted as not private, so others could
// open the file with its elements.
TEST_F(exporting, of_a_private_object_that_is_erased_makes_a_file_for_its_owner) {
    set_scope(pool_, "a", Scope::own);
    const ExchangeReport report = export_pieces([&](int piece) {
        if (piece == 8) pool_.erase("a");
    });
    EXPECT_EQ(report.private_objects, 1U);
    EXPECT_TRUE(is_for_its_owner());
}

TEST_F(exporting, of_what_becomes_private_and_is_erased_makes_a_file_for_its_owner) {
    const ExchangeReport report = export_pieces([&](int piece) {
        if (piece == 1) set_scope(pool_, "a", Scope::own);
        if (piece == 8) pool_.erase("a");
    });
    EXPECT_EQ(report.private_objects, 1U);
    EXPECT_TRUE(is_for_its_owner());
}

// The same with --only-shared, which promises that nothing private is in the file.
TEST_F(exporting, of_shared_objects_alone_reads_nothing_that_has_become_private) {
    try {
        export_pieces(
            [&](int piece) {
                if (piece == 1) set_scope(pool_, "a", Scope::own);
                if (piece == 8) pool_.erase("a");
            },
            true);
        ADD_FAILURE() << "no error";
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), Code::not_found) << error.what();
    }
    EXPECT_FALSE(fs::exists(file()));
}

// One more that has become private and shared again between two looks: all that was read of it was shared.
TEST_F(exporting, of_what_is_shared_again_is_whole_and_open_to_others) {
    for (const bool only_shared : {false, true}) {
        const ExchangeReport report = export_pieces(
            [&](int piece) {
                if (piece == 1) set_scope(pool_, "a", Scope::own);
                if (piece == 1) set_scope(pool_, "a", Scope::shared);
            },
            only_shared);
        EXPECT_EQ(report.private_objects, 0U);
        EXPECT_EQ(report.bytes, bytes_.size());
        EXPECT_FALSE(is_for_its_owner());
        fs::remove(file());
    }
}

TEST_F(exporting, of_a_private_side_is_private_and_has_nothing_shared) {
    private_side(pool_).store("b", std::int64_t{7});
    const std::string side = private_side(pool_).info().path;
    ExportOptions options;
    options.from = "b";
    EXPECT_EQ(export_file(side, file(), options).private_objects, 1U);
    EXPECT_TRUE(is_for_its_owner());
    options.only_shared = options.overwrite = true;
    EXPECT_THROW(export_file(side, file(), options), Error);
}

}  // namespace
}  // namespace pmemcpy
