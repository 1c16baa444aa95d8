#pragma once

#include "operate/job.hpp"
#include "store/store.hpp"

#include <memory>
#include <pmemcpy/operations.hpp>
#include <string>
#include <vector>

namespace pmemcpy::operate {

/// Operates in the background on what has hints, as long as this lives. A crash loses none of it: what was not done is found again by whoever
/// does this next.
class Operator {
public:
    /// `cores`: it runs on these; empty: on all.
    explicit Operator(const std::string& path, std::vector<unsigned> cores = {});
    /// The pool that the program has open, and no other that has its name by now.
    explicit Operator(const store::Store& program);
    /// Does not wait for a function that is called in a process of its own: that is left to the next.
    ~Operator();
    Operator(const Operator&) = delete;
    Operator& operator=(const Operator&) = delete;

    void set_function(const std::string& name, Operate function);
    Operate function(const std::string& name) const;
    /// Until nothing that was stored before is left which this process can do, or another one is at.
    void wait();

private:
    class Worker;
    std::unique_ptr<Worker> worker_;
};

}  // namespace pmemcpy::operate
