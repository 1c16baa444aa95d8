#pragma once

#include "base/hash.hpp"
#include "os/process.hpp"

#include <array>
#include <cstdint>

namespace pmemcpy::pool {

/// A number that hardly any other process draws, nor this one at another moment. Not from std::random_device, whose constructor
/// asks the processor what it can: in a virtual machine that takes as long as the rest of an attachment.
inline std::uint64_t draw() {
    const std::array<std::uint64_t, 3> moment{os::wall_ns(), os::monotonic_ns(), os::process_id()};
    return base::xxh3_64(moment.data(), sizeof moment);
}

}  // namespace pmemcpy::pool
