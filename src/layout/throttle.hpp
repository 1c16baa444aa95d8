#pragma once

#include "os/map.hpp"

#include <cstdint>
#include <memory>
#include <string>

namespace pmemcpy::layout {

/// How fast a target may be used at most.
struct Limits {
    double write_bytes_per_second = 0;
    double write_latency_s = 0;
    double read_bytes_per_second = 0;
    double read_latency_s = 0;
};

/// Makes accesses to a directory wait, so that those of all processes of the node take as long as its limits say. They share two words in
/// a file of the directory: until when it is busy writing, and reading. Who may not write that file keeps the limits for himself.
class Throttle {
public:
    enum class Way { write, read };
    Throttle(const std::string& directory, const Limits& limits);
    /// Waits for so many bytes.
    void take(Way way, std::uint64_t bytes);

private:
    Limits limits_;
    std::unique_ptr<os::Mapping> shared_;
    std::uint64_t own_[2] = {0, 0};
    std::uint64_t* busy_until_ns_;
};

}  // namespace pmemcpy::layout
