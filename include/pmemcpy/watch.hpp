#pragma once

#include <chrono>
#include <memory>
#include <optional>

namespace pmemcpy {

namespace store {
class Watching;
}

/// Waits for stores of any process under one id; made by PMEM::watch().
/// Sharing: while any process waits, each store costs a call to the kernel; else nothing. Stores in the first
///     40 ms are not missed, but may be told late. Keeps the pool mapped until it is dropped, as a view does.
/// Example: for (Watch u = pmem.watch("u"); u.wait();) plot(pmem.load<...>("u"));
class Watch {
public:
    /// Sleeps until readers see something else under the id than at the last call (at first: than when the
    /// watch was made): stored, committed, erased or renamed. Several changes in between count once. Returns
    /// false when the time is over or a signal came. Does not notice writes in place through update().
    /// Errors: corrupt, io_error; busy in a forked child.
    bool wait(std::optional<std::chrono::nanoseconds> at_most = {});

private:
    friend class PMEM;
    explicit Watch(std::shared_ptr<store::Watching> watching) : watching_(std::move(watching)) {}
    std::shared_ptr<store::Watching> watching_;
};

}  // namespace pmemcpy
