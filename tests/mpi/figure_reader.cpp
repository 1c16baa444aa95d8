// Reads what Figure 3 or Figure 6 has left, on any number of ranks.
// usage: figure_reader POOL WRITERS ELEMENTS-OF-EACH
#include <cmath>
#include <pmemcpy/pmemcpy.hpp>
#include <set>
#include <string>
#include <vector>

#include "check.hpp"

namespace {

// Zeros, which must have come from the pool: the buffer held something else, and an element that nobody
// stored would be not_found.
void load_my_part(const pmemcpy::PMEM& pmem, std::size_t elements) {
    const auto rank = static_cast<std::size_t>(mpi_test::rank());
    const auto ranks = static_cast<std::size_t>(mpi_test::size());
    const std::size_t offset = elements * rank / ranks;
    const std::size_t count = elements * (rank + 1) / ranks - offset;
    std::vector<double> data(count + 1, std::nan(""));
    pmem.load<double>("A", data.data(), 1, &offset, &count);
    for (std::size_t i = 0; i < count; ++i) EXPECT_EQUAL(data[i], 0.0);
    EXPECT_EQUAL(std::isnan(data[count]), true);
}

void look_at_all(const pmemcpy::PMEM& pmem, std::size_t writers, std::size_t each) {
    int ndims = 0;
    std::size_t dims = 0;
    pmem.load_dims("A", &ndims, nullptr);
    EXPECT_EQUAL(ndims, 1);
    pmem.load_dims("A", &ndims, &dims);
    EXPECT_EQUAL(dims, writers * each);
    EXPECT_EQUAL(pmem.ids().size(), 1u);

    std::set<pmemcpy::Extent> offsets;
    for (const pmemcpy::BlockInfo& block : pmem.blocks("A")) {
        EXPECT_EQUAL(block.box.count[0], each);
        EXPECT_EQUAL(block.box.offset[0], each * static_cast<std::size_t>(block.writer_rank));
        EXPECT_EQUAL(block.min_as<double>(), 0.0);
        EXPECT_EQUAL(block.max_as<double>(), 0.0);
        offsets.insert(block.box.offset[0]);
    }
    EXPECT_EQUAL(offsets.size(), writers);
    EXPECT_EQUAL(pmem.creation("A").ranks, writers);
    EXPECT_EQUAL(pmem.verify().size(), 0u);
    EXPECT_EQUAL(pmem.load<std::vector<std::uint64_t>>("A#dims").at(0), writers * each);
}

}  // namespace

int main(int argc, char** argv) {
    return mpi_test::main_with(argc, argv, [&] {
        if (argc != 4) mpi_test::fail("usage: figure_reader POOL WRITERS ELEMENTS-OF-EACH");
        const std::size_t writers = std::stoul(argv[2]);
        const std::size_t each = std::stoul(argv[3]);
        pmemcpy::PMEM pmem;
        pmem.mmap(argv[1], MPI_COMM_WORLD, {.mode = pmemcpy::Mode::read});
        load_my_part(pmem, writers * each);
        if (mpi_test::rank() == 0) look_at_all(pmem, writers, each);
        pmem.munmap();
    });
}
