#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "os/calls.hpp"

namespace pmemcpy::faults {

/// A way for a call to fail.
struct Fault {
    int error = 0;          ///< errno
    bool is_short = false;  ///< instead of an error it does half of what was asked
};

/// The kernel, of whose calls one fails. Calls that cannot fail in a way that a program could meet (the time, the process
/// id, dropping a lock, unmapping) are not counted.
class FailingKernel {
public:
    /// How the files' own kernel is to look: like a file system behind the page cache, or as it is.
    enum class Medium { memory, page };
    explicit FailingKernel(Medium medium);
    ~FailingKernel();
    FailingKernel(const FailingKernel&) = delete;
    FailingKernel& operator=(const FailingKernel&) = delete;

    /// Counts from here on, and lets call number `number` (1: the next one) fail; 0: none.
    void arm(std::uint64_t number, const Fault& fault = {});
    /// No call fails or is counted any more.
    void disarm();
    /// The names of the calls since arm(), in order.
    static const std::vector<std::string>& seen();

    /// How the call of this name may fail.
    static const std::vector<Fault>& faults_of(const std::string& name);

private:
    os::Calls previous_;
};

}  // namespace pmemcpy::faults
