#pragma once

#include "heap/format.hpp"

#include <cstdint>

namespace pmemcpy::heap {

/// Notices when a chain leads back into itself: a scribbled pool says anything, and a bound on the hops alone would take
/// hours in a large one. Remembers one link, and at each power of two the one that is met then (Brent).
class Hops {
public:
    /// False when this link has been met before.
    bool take(Link link) {
        if (link == met_) return false;
        if (++taken_ == next_) {
            met_ = link;
            next_ *= 2;
        }
        return true;
    }

private:
    Link met_{};
    std::uint64_t taken_ = 0;
    std::uint64_t next_ = 1;
};

}  // namespace pmemcpy::heap
