#pragma once

#include <nanobind/nanobind.h>

#include <mutex>
#include <pmemcpy/error.hpp>
#include <pmemcpy/pmemcpy.hpp>
#include <shared_mutex>
#include <utility>

namespace pmemcpy::python {

/// While this lives its thread asks a function of the user's what is going to be read. Who closes the pool waits for it, so it must not
/// wait for the pool.
class InPrefetcher {
public:
    InPrefetcher() { is_in_one_ = true; }
    ~InPrefetcher() { is_in_one_ = false; }
    InPrefetcher(const InPrefetcher&) = delete;
    InPrefetcher& operator=(const InPrefetcher&) = delete;
    /// Errors: busy.
    static void refuse_if_in_one() {
        if (is_in_one_)
            throw Error(Code::busy,
                        "a function that says what is going to be read must not use a pool itself");
    }

private:
    static thread_local bool is_in_one_;
};

/// A PMEM that any thread may close while others are in a call: close() waits for them, later calls find it closed.
class Pool {
public:
    Pool(const std::string& path, const Options& options) {
        const nanobind::gil_scoped_release released;
        pmem_.mmap(path, options);
    }
    /// The same pool as another object has open.
    Pool(const Pool& open, const Options& options);

    /// What f does with the PMEM, while other threads run Python.
    template <class F>
    auto call(F&& f) const {
        InPrefetcher::refuse_if_in_one();
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

inline Pool::Pool(const Pool& open, const Options& options) {
    open.call([&](const PMEM& there) { pmem_.mmap(there, options); });
}

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
