// A communicator that spans nodes: the ranks are told that every other one of them is on another node.
// usage: two_nodes POOL
#include <pmemcpy/pmemcpy.hpp>
#include <string>

#include "check.hpp"

namespace {

bool nodes_are_two = false;

int node() { return nodes_are_two ? mpi_test::rank() % 2 : 0; }

// What mmap() throws in this rank, or nothing.
struct Outcome {
    pmemcpy::Code code{};
    std::string message;
};

Outcome outcome_of_mmap(pmemcpy::PMEM& pmem, const std::string& path, const pmemcpy::Options& options) {
    try {
        pmem.mmap(path, MPI_COMM_WORLD, options);
        return {};
    } catch (const pmemcpy::Error& error) {
        return {error.kind(), error.what()};
    }
}

void expect_the_same_in_all_ranks(const Outcome& outcome) {
    std::string first = outcome.message;
    int length = static_cast<int>(first.size());
    MPI_Bcast(&length, 1, MPI_INT, 0, MPI_COMM_WORLD);
    first.resize(static_cast<std::size_t>(length));
    MPI_Bcast(first.data(), length, MPI_CHAR, 0, MPI_COMM_WORLD);
    EXPECT_EQUAL(outcome.message, first);
}

void spanning_is_an_error_in_all_ranks(const std::string& path) {
    nodes_are_two = true;
    pmemcpy::PMEM pmem;
    const Outcome outcome = outcome_of_mmap(pmem, path, {});
    EXPECT_EQUAL(static_cast<int>(outcome.code), static_cast<int>(pmemcpy::Code::invalid_argument));
    EXPECT_EQUAL(outcome.message.find("nodes") != std::string::npos, true);
    EXPECT_EQUAL(pmem.is_mapped(), false);
    expect_the_same_in_all_ranks(outcome);
}

void per_node_gives_each_node_its_pool(const std::string& path) {
    nodes_are_two = true;
    // Real nodes would have one path each for themselves; these two need two.
    pmemcpy::PMEM pmem;
    const Outcome outcome =
        outcome_of_mmap(pmem, path + ".node" + std::to_string(node()), {.per_node = true});
    EXPECT_EQUAL(outcome.message, "");
    pmem.store("node", node());
    EXPECT_EQUAL(pmem.load<int>("node"), node());
    EXPECT_EQUAL(pmem.ids().size(), 1u);
}

void one_rank_that_fails_fails_all(const std::string& path) {
    nodes_are_two = false;
    for (const int failing : {0, mpi_test::size() - 1}) {
        pmemcpy::PMEM pmem;
        const bool fails = mpi_test::rank() == failing;
        const Outcome outcome = outcome_of_mmap(pmem, fails ? path + ".missing/pool" : path, {});
        EXPECT_EQUAL(static_cast<int>(outcome.code), static_cast<int>(pmemcpy::Code::not_found));
        EXPECT_EQUAL(pmem.is_mapped(), false);
        expect_the_same_in_all_ranks(outcome);
    }
}

}  // namespace

// The test double: MPI lets a program define any of its functions and reach the real one by its P name.
extern "C" int MPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info, MPI_Comm* split) {
    EXPECT_EQUAL(type, MPI_COMM_TYPE_SHARED);
    return PMPI_Comm_split(comm, node(), key, split);
}

int main(int argc, char** argv) {
    return mpi_test::main_with(argc, argv, [&] {
        const std::string path = argv[1];
        spanning_is_an_error_in_all_ranks(path);
        per_node_gives_each_node_its_pool(path);
        one_rank_that_fails_fails_all(path);
    });
}
