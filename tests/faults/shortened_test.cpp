// A file that somebody cuts off while it is open.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <pmemcpy/error.hpp>
#include <pmemcpy/index.hpp>
#include <pmemcpy/pmemcpy.hpp>
#include <string>
#include <vector>

#include "tests/folder.hpp"

namespace pmemcpy {
namespace {

namespace fs = std::filesystem;

// A slab whose head is still in the file, and of whose units some are not, was counted unit by unit.
TEST(ShortenedFile, is_an_error_of_what_is_told_of_the_whole_pool) {
    const Folder folder;
    Options options;
    options.max_bytes = 32 << 20;
    for (std::uint64_t keep = 0; keep < 8 << 20; keep += 128 << 10) {
        const std::string path = folder / ("pool" + std::to_string(keep));
        {
            PMEM pmem;
            pmem.mmap(path, options);
            for (int i = 0; i < 300; ++i) pmem.store("v" + std::to_string(i), i);
            for (int i = 0; i < 300; ++i) pmem.store("g/" + std::to_string(i), std::string(7000, 'y'));
        }
        Options reading;
        reading.mode = Mode::read;
        PMEM reader;
        reader.mmap(path, reading);
        fs::resize_file(path, std::min<std::uint64_t>(keep, fs::file_size(path)));
        for (const std::function<void()>& call : std::vector<std::function<void()>>{
                 [&] { static_cast<void>(reader.info()); }, [&] { static_cast<void>(index_info(reader)); }}) {
            try {
                call();
            } catch (const Error& error) {
                EXPECT_EQ(error.kind(), Code::io_error) << keep << ": " << error.what();
            }
        }
        reader.munmap();
        fs::remove(path);
    }
}

// The state of the pool, which is written last, lay behind the end of the file.
TEST(ShortenedFile, is_left_as_it_is_by_who_closes_the_pool) {
    const Folder folder;
    Options options;
    options.max_bytes = 32 << 20;
    options.chunk_bytes = 64 << 10;
    for (const std::uint64_t keep :
         std::initializer_list<std::uint64_t>{0, 4096, 16 << 10, 64 << 10, 256 << 10}) {
        const std::string path = folder / ("pool" + std::to_string(keep));
        PMEM pmem;
        pmem.mmap(path, options);
        for (int i = 0; i < 300; ++i) pmem.store("g/" + std::to_string(i), std::string(7000, 'y'));
        ASSERT_GT(fs::file_size(path), keep);
        fs::resize_file(path, keep);
        try {
            pmem.munmap();
            ADD_FAILURE() << "closed with " << keep << " bytes left";
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), Code::io_error);
            EXPECT_NE(std::string(error.what()).find("has become shorter"), std::string::npos)
                << error.what();
        }
        EXPECT_FALSE(pmem.is_mapped());
        EXPECT_EQ(fs::file_size(path), keep);
    }
}

}  // namespace
}  // namespace pmemcpy
