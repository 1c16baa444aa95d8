#include "signatures.hpp"

#include <gtest/gtest.h>

#include "tests/folder.hpp"

namespace {

const auto equal = [](const auto& found, const auto& expected) { EXPECT_EQ(found, expected); };

}  // namespace

TEST(signatures, of_the_papers_figure_2_are_as_printed) {
    const pmemcpy::Folder folder;
    std::string filename = folder / "pool";
    pmemcpy::PMEM pmem;
    pmem.mmap(filename);
    signatures::call_all(pmem, "", equal);
    pmem.munmap();
    EXPECT_FALSE(pmem.is_mapped());
}

TEST(signatures, of_the_posters_figure_4_are_as_printed) {
    const pmemcpy::Folder folder;
    std::string filename = folder / "pool";
    pmap::PMEM pmem;
    pmem.mmap(filename);
    signatures::call_all(pmem, "", equal);
    pmem.munmap();
}
