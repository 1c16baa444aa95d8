#pragma once

#include <chrono>
#include <memory>
#include <optional>

namespace pmemcpy {

namespace store {
class Watching;
}

/// Waits for what any process stores under one id; made by PMEM::watch().
/// Sharing: costs those who store a call to the kernel each while anybody waits, and nothing when nobody does. Of the first
///     40 ms nothing is missed either, but may be told late. Keeps the pool mapped until it is dropped, as a view does.
/// Example: for (Watch u = pmem.watch("u"); u.wait();) plot(pmem.load<...>("u"));
class Watch {
public:
    /// Sleeps until what readers see under the id is another than at the last call (at first: than when this was made): stored,
    /// committed, erased or renamed. What came in between counts once. False when the time was over, or a signal came.
    /// Writing in place through update() is not noticed.
    /// Errors: corrupt, io_error; busy in a forked child.
    bool wait(std::optional<std::chrono::nanoseconds> at_most = {});

private:
    friend class PMEM;
    explicit Watch(std::shared_ptr<store::Watching> watching) : watching_(std::move(watching)) {}
    std::shared_ptr<store::Watching> watching_;
};

}  // namespace pmemcpy
