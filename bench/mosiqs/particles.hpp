#pragma once

#include <cstdint>
#include <string>

namespace mosiqs {

/// The kernels of the paper's Figures 6 to 8: VPIC-IO, which writes particles, and BDCATS-IO, which reads them.
struct ParticleTask {
    std::string work;  // write, read, use or produce
    std::string variant;
    std::string path;
    std::uint64_t size_bytes = 256;
    std::uint64_t count = 1000;  // of all processes together
    std::uint64_t seed = 1;
    int processes = 1;
    bool prepared = false;  // the medium's memory is there before the first store
};

struct ParticleResult {
    double seconds = 0;            // from the common start until all is stored, and others see it, or is read
    double indexed_seconds = 0;    // and until questions find it, too
    double computing_seconds = 0;  // of use and produce: the same without storing and loading
    bool verified = false;
};

/// write: each process stores its objects, each with the three attributes of the paper's Listing 1.
/// read: each loads, in a random order, what its neighbour has stored.
/// use: one process adds up all elements of all objects, in memory that it has loaded them to or where they lie.
/// produce: one process makes objects and stores them.
/// Errors: Unsupported; std::runtime_error with the library's message.
ParticleResult carry_out(const ParticleTask& task);

}  // namespace mosiqs
