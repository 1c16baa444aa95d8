#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace pmemcpy::shares {

/// A pool that uses a directory, as the arithmetic sees it.
struct Party {
    std::uint64_t weight = 1;
    std::uint64_t used_bytes = 0;
    bool is_here = false;  ///< somebody has it open for writing
    bool needs = false;    ///< found no room within its part lately
};

/// What one of them may do.
struct Standing {
    std::uint64_t part_bytes = 0;    ///< its fair part
    std::uint64_t room_bytes = 0;    ///< that it may take now
    std::uint64_t excess_bytes = 0;  ///< that it is to give back now
};

/// Of `total_bytes` that all may use together, what the absent have left there is nobody's part; the rest is divided among those who are here, in
/// proportion to their weights. Whoever is within its part may take what is free. Whoever would exceed it may take of what is free only
/// what the others leave of their parts: those of them that need room, or, if `may_not_leave`, all that are here. `may_not_leave`: what is put
/// there cannot give way to others later. What exceeds the part, and others need, is to go.
Standing standing_of(std::span<const Party> all, std::size_t mine, std::uint64_t total_bytes,
                     bool may_not_leave);

/// Over which difference of virtual time whoever is ahead waits. Without any they would write in turns, each idle while the other writes.
std::uint64_t lead_allowed(std::uint64_t my_weight, std::uint64_t its_weight);

}  // namespace pmemcpy::shares
