#pragma once

#include <memory>
#include <pmemcpy/mpi.hpp>
#include <vector>

#include "arguments.hpp"
#include "memory.hpp"
#include "ranks.hpp"
#include "report.hpp"
#include "source.hpp"

namespace domain3d {

/// The main job as one rank sees it: its box of each variable, in its own memory and in the pool.
class Job {
public:
    Job(const Arguments& arguments, const Ranks& ranks);
    /// Stores or loads, as often as asked, and verifies. Throws Ranks::Failed.
    Report run();

private:
    /// One rank's part of one variable.
    struct Part {
        pmemcpy::Box box;
        double* data;
    };

    void choose_source();
    void divide();
    Grid grid() const;
    void fill();
    void make_ready(int repetition);
    void write(pmemcpy::Mode mode);
    void read();
    void describe();
    double copy();
    void verify_written();
    void verify_read();
    bool shows_progress() const;
    std::uint64_t total_bytes() const;
    std::string folder() const;

    const Arguments& arguments_;
    const Ranks& ranks_;
    std::unique_ptr<Source> source_;
    std::vector<Part> parts_;
    Memory memory_;
    Memory file_;  // as large as memory_, beside the pool
    pmemcpy::Mode mode_ = pmemcpy::Mode::exclusive;
    pmemcpy::Durability durability_{};
};

}  // namespace domain3d
