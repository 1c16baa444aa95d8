#pragma once

#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <sstream>

// What a test under MPI needs: a claim that fails in one rank ends all, so that none waits for the others.

namespace mpi_test {

inline int rank() {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}

inline int size() {
    int size = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    return size;
}

[[noreturn]] inline void fail(const std::string& why) {
    std::fprintf(stderr, "rank %d: %s\n", rank(), why.c_str());
    std::fflush(stderr);
    MPI_Abort(MPI_COMM_WORLD, 1);
    std::abort();
}

template <class A, class B>
void expect_equal(const A& found, const B& expected, const char* what, int line) {
    if (found == expected) return;
    std::ostringstream text;
    text << "line " << line << ": " << what << " is " << found << " and not " << expected;
    fail(text.str());
}

/// The whole program: `test` between MPI_Init and MPI_Finalize.
template <class Test>
int main_with(int argc, char** argv, const Test& test) {
    MPI_Init(&argc, &argv);
    try {
        test();
    } catch (const std::exception& error) {
        fail(error.what());
    }
    MPI_Finalize();
    return 0;
}

}  // namespace mpi_test

#define EXPECT_EQUAL(found, expected) ::mpi_test::expect_equal((found), (expected), #found, __LINE__)
