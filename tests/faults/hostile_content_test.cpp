// Pools that say what no pMEMCPY has written, with checksums that fit: whoever opens them must not be led outside of them.

#include <gtest/gtest.h>

#include <cstddef>
#include <filesystem>

#include <pmemcpy/pmemcpy.hpp>

#include "base/crc32c.hpp"
#include "tests/folder.hpp"
#include "tests/inside.hpp"

namespace pmemcpy::faults {
namespace {

namespace fs = std::filesystem;

class HostileContent : public ::testing::Test {
protected:
    std::string path() const { return folder_ / "pool"; }
    static Options options(Mode mode) {
        Options options;
        options.max_bytes = 8 << 20;
        options.chunk_bytes = 64 << 10;
        options.mode = mode;
        return options;
    }

    Folder folder_;
};

// The word that says where an entry hangs is derived and covered by no checksum; an erase believed it, and looked there.
TEST_F(HostileContent, a_home_that_lies_outside_the_pool_is_not_looked_at) {
    for (const std::uint64_t home :
         {~std::uint64_t{7}, std::uint64_t{1} << 50, std::uint64_t{8}, std::uint64_t{1000}}) {
        fs::remove(path());
        PMEM pmem;
        pmem.mmap(path(), options(Mode::exclusive));
        pmem.store("v", 1);
        pmem.set_attribute("v", "a", 1);
        pmem.munmap();
        {
            Inside inside(path());
            const auto attribute = inside.catalog().find_attribute(*inside.catalog().find("v"), "a");
            inside.pool().as<heap::RecordHeader>(attribute->offset()).home = home;
        }
        pmem.mmap(path(), options(Mode::update));
        pmem.remove_attribute("v", "a");
        EXPECT_TRUE(pmem.attributes("v").empty());
        pmem.store("v", 2);
        EXPECT_EQ(pmem.load<int>("v"), 2);
    }
}

// Where a slab has the words of its units is in its head, whose checksum anybody can compute.
TEST_F(HostileContent, a_slab_whose_words_lie_outside_of_it_is_none) {
    PMEM pmem;
    pmem.mmap(path(), options(Mode::exclusive));
    pmem.store("v", std::string(1'000, 'v'));
    pmem.munmap();
    {
        Inside inside(path());
        for (std::uint64_t i = 0; i < inside.pool().usable_chunks(); ++i) {
            auto& slab = inside.pool().as<heap::SlabHeader>(inside.pool().chunk_offset(i));
            if (slab.magic != heap::slab_magic || slab.links == 0) continue;
            slab.links = 0xfffffff0;
            slab.checksum = base::crc32c(0, &slab.kind, sizeof slab - offsetof(heap::SlabHeader, kind));
        }
    }
    pmem.mmap(path(), options(Mode::update));
    EXPECT_EQ(pmem.load<std::string>("v"), std::string(1'000, 'v'));
    for (int i = 0; i < 20; ++i) pmem.store("v", std::string(1'000, static_cast<char>('a' + i)));
    pmem.erase("v");
    EXPECT_FALSE(pmem.exists("v"));
}

// The size of a bare slab's units stands in the chunk table, which has no checksum: it decides where in the table of links
// somebody reads and writes.
TEST_F(HostileContent, a_bare_slab_with_units_of_a_size_that_there_is_not_is_none) {
    const std::string text(20'000, 'v');
    for (const std::uint64_t length : {0U, 1U, 31U, 33U, 513U, 1024U, 0x7fffffffU}) {
        fs::remove(path());
        PMEM pmem;
        pmem.mmap(path(), options(Mode::exclusive));
        pmem.store("v", text);
        pmem.munmap();
        int bare = 0;
        {
            Inside inside(path());
            for (std::uint64_t i = 0; i < inside.pool().usable_chunks(); ++i) {
                auto& word = inside.heap().chunk(i).word;
                if (heap::ChunkWord{word}.kind() != heap::ChunkKind::bare_slab) continue;
                word = heap::ChunkWord::make(heap::ChunkKind::bare_slab, 0, length).word;
                ++bare;
            }
        }
        EXPECT_EQ(bare, 1);
        pmem.mmap(path(), options(Mode::update));
        EXPECT_EQ(pmem.load<std::string>("v"), text);
        EXPECT_FALSE(pmem.verify().empty());
        for (int i = 0; i < 20; ++i) pmem.store("v", std::string(20'000, static_cast<char>('a' + i)));
        EXPECT_EQ(pmem.load<std::string>("v"), std::string(20'000, 't'));
        pmem.erase("v");
        EXPECT_FALSE(pmem.exists("v"));
    }
}

}  // namespace
}  // namespace pmemcpy::faults
