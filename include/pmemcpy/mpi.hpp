#pragma once

// The only place that knows MPI: header only, so that one installed library serves Open MPI, MPICH and none.

#include <mpi.h>

#include <exception>
#include <pmemcpy/pmemcpy.hpp>
#include <string>

namespace pmemcpy {

/// Opens a pool from all ranks of a communicator. No other call is collective, and destructors make no MPI
/// call.
template <>
struct Collective<MPI_Comm> {
    static void mmap(PMEM& pmem, const std::string& path, MPI_Comm comm, Options options) {
        int rank = 0;
        int size = 0;
        MPI_Comm_rank(comm, &rank);
        MPI_Comm_size(comm, &size);
        MPI_Comm node = MPI_COMM_NULL;
        MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
        int node_rank = 0;
        int node_size = 0;
        MPI_Comm_rank(node, &node_rank);
        MPI_Comm_size(node, &node_size);
        if (options.rank < 0) options.rank = rank;
        if (options.ranks == 0) options.ranks = size;

        Outcome outcome;
        if (smallest(node_size, comm) < size && !options.per_node) {
            outcome = {Code::invalid_argument, path +
                                                   ": the communicator spans several nodes, which cannot "
                                                   "share memory; set Options::per_node "
                                                   "for a pool on each node, or split the communicator"};
        }
        // The first rank of a node makes the pool, so that the others find it whole.
        if (outcome.ok() && node_rank == 0) outcome = attempt(pmem, path, options);
        outcome = agree(outcome, comm);
        if (outcome.ok() && node_rank != 0) {
            // Only the first may replace or insist on a new pool.
            if (options.mode != Mode::read) options.mode = Mode::update;
            outcome = attempt(pmem, path, options);
        }
        outcome = agree(outcome, comm);
        MPI_Comm_free(&node);
        if (outcome.ok()) return;
        pmem.munmap();
        throw Error(outcome.code, outcome.message);
    }

private:
    struct Outcome {
        Code code = Code{};
        std::string message;
        bool ok() const { return code == Code{}; }
    };

    static Outcome attempt(PMEM& pmem, const std::string& path, const Options& options) {
        try {
            pmem.mmap(path, options);
            return {};
        } catch (const Error& error) {
            return {error.kind(), error.what()};
        } catch (const std::exception& error) {
            // Such as no memory: the other ranks must hear of that too.
            return {Code::io_error, path + ": " + error.what()};
        }
    }

    static int smallest(int value, MPI_Comm comm) {
        int least = 0;
        MPI_Allreduce(&value, &least, 1, MPI_INT, MPI_MIN, comm);
        return least;
    }

    /// The outcome of the lowest rank that failed, in every rank.
    static Outcome agree(Outcome outcome, MPI_Comm comm) {
        int rank = 0;
        int size = 0;
        MPI_Comm_rank(comm, &rank);
        MPI_Comm_size(comm, &size);
        const int first = smallest(outcome.ok() ? size : rank, comm);
        if (first == size) return {};
        int code = static_cast<int>(outcome.code);
        int length = static_cast<int>(outcome.message.size());
        MPI_Bcast(&code, 1, MPI_INT, first, comm);
        MPI_Bcast(&length, 1, MPI_INT, first, comm);
        outcome.message.resize(static_cast<std::size_t>(length));
        MPI_Bcast(outcome.message.data(), length, MPI_CHAR, first, comm);
        outcome.code = static_cast<Code>(code);
        return outcome;
    }
};

}  // namespace pmemcpy
