#pragma once

#include <cstdint>

#include "os/calls.hpp"

namespace pmemcpy::fuzz {

/// The kernel as the pool's fuzzer wants it. The sanitizers do not see a stray access inside a mapping of ours, so
/// mappings lie far apart in address space that nobody may touch, and of a pool's mapping only the space that the file
/// system has promised may be touched, which is more as the pool grows. The clock advances only by being asked, and the
/// process has a number that never changes, so that an input always does the same.
class FencedKernel {
public:
    FencedKernel();
    ~FencedKernel();
    FencedKernel(const FencedKernel&) = delete;
    FencedKernel& operator=(const FencedKernel&) = delete;

    /// How files are to look: like those of a disk behind the page cache, or as they are.
    static void behind_page_cache(bool yes);
    /// Mappings of the last input that nobody has unmapped. Views may outlive a pool, but no input.
    static std::size_t mapped();

private:
    os::Calls previous_;
};

}  // namespace pmemcpy::fuzz
