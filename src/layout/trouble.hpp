#pragma once

#include <pmemcpy/error.hpp>

#include <cstdint>

namespace pmemcpy::layout {

/// Why nothing is put into a target for a while. On media: the numbers are part of the format.
enum class Trouble : std::uint8_t {
    none = 0,
    full = 1,     // of what is not this pool's: it had room by its capacity
    failed = 2,   // the device: EIO, a read-only file system, memory that is gone
    corrupt = 3,  // what was just written was read back as something else
    slow = 4,     // a hundred times slower than the hierarchy says
};

/// The memory of the block that was to be copied is gone, or has other bytes than when it was stored: it is not the target's fault.
struct SourceDamage : Error {
    using Error::Error;
};

/// A target that other pools use too has room no longer, by what is theirs: that is no trouble of the target, and may be otherwise soon.
struct PartIsFull : Error {
    using Error::Error;
};

}  // namespace pmemcpy::layout
