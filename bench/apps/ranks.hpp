#pragma once

#include <mpi.h>

#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>

namespace domain3d {

/// The ranks that do the job.
class Ranks {
public:
    explicit Ranks(MPI_Comm comm) : comm_(comm) {
        MPI_Comm_rank(comm, &rank_);
        MPI_Comm_size(comm, &size_);
    }
    MPI_Comm comm() const { return comm_; }
    int rank() const { return rank_; }
    int size() const { return size_; }
    bool is_first() const { return rank_ == 0; }

    /// Another rank has failed, and has said why.
    struct Failed : std::exception {};

    /// Does `work` in all ranks and ends in all of them or in none: the lowest rank that failed says why, all
    /// throw Failed. Without that the others would wait for it forever. Inside, ranks must not wait for each
    /// other, except in calls that fail in all of them at once.
    template <class Work>
    void together(const Work& work) const {
        std::string failure;
        bool has_failed = false;
        try {
            work();
        } catch (const std::exception& error) {
            failure = error.what();
            has_failed = true;
        }
        const int mine = has_failed ? rank_ : size_;
        int first = size_;
        MPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, comm_);
        if (first == rank_) std::fprintf(stderr, "domain3d: rank %d: %s\n", rank_, failure.c_str());
        if (first != size_) throw Failed();
    }

    /// How long the slowest rank takes for `work`, which all begin at the same time.
    template <class Work>
    double slowest_seconds(const Work& work) const {
        MPI_Barrier(comm_);
        double mine = 0;
        together([&] {
            const double start = MPI_Wtime();
            work();
            mine = MPI_Wtime() - start;
        });
        double slowest = 0;
        MPI_Allreduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, comm_);
        return slowest;
    }

private:
    MPI_Comm comm_;
    int rank_ = 0;
    int size_ = 0;
};

}  // namespace domain3d
