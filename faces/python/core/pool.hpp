#pragma once

#include <nanobind/nanobind.h>

#include <mutex>
#include <pmemcpy/pmemcpy.hpp>
#include <shared_mutex>
#include <utility>

namespace pmemcpy::python {

/// A PMEM that any thread may close while others are in a call: close() waits for them, later calls find it closed.
class Pool {
public:
    Pool(const std::string& path, const Options& options) {
        const nanobind::gil_scoped_release released;
        pmem_.mmap(path, options);
    }

    /// What f does with the PMEM, while other threads run Python.
    template <class F>
    auto call(F&& f) const {
        const nanobind::gil_scoped_release released;
        const std::shared_lock lock(mutex_);
        return std::forward<F>(f)(pmem_);
    }

    /// Errors: busy when it comes from inside a call, such as verify's progress.
    void close();
    bool is_open() const {
        return call([](const PMEM& pmem) { return pmem.is_mapped(); });
    }

private:
    mutable std::shared_mutex mutex_;  // held shared by calls
    mutable PMEM pmem_;
};

/// While this lives its thread is in a callback to Python that a call makes, with Python's lock and the pool's.
class InCallback {
public:
    InCallback() { ++depth_; }
    ~InCallback() { --depth_; }
    InCallback(const InCallback&) = delete;
    InCallback& operator=(const InCallback&) = delete;
    static bool is_in_one() { return depth_ != 0; }

private:
    nanobind::gil_scoped_acquire acquired_;
    static thread_local int depth_;
};

}  // namespace pmemcpy::python
