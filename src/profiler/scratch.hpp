#pragma once

#include <cstdint>
#include <string>

#include "os/file.hpp"

namespace pmemcpy::profiler {

/// The file in which a place is measured: without a name, and allocated, so that what is measured is writing and not finding room.
struct Scratch {
    os::File file;
    bool is_direct =
        false;  ///< past the page cache; then addresses, offsets and sizes are multiples of `alignment`
};

inline constexpr std::size_t alignment = 4096;

/// `wants_direct`: O_DIRECT, if the file system lets it be. Errors: those of a place that cannot be written in, no_space.
Scratch make_scratch(const std::string& directory, std::uint64_t bytes, bool wants_direct);

}  // namespace pmemcpy::profiler
