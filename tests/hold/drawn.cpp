#include "drawn.hpp"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "base/hash.hpp"

namespace pmemcpy::hold {

std::uint64_t drawn_seed() {
    static const std::uint64_t seed = [] {
        const char* asked = std::getenv("PMEMCPY_SEED");
        const auto day = std::chrono::duration_cast<std::chrono::hours>(
                             std::chrono::system_clock::now().time_since_epoch())
                             .count() /
                         24;
        const std::uint64_t drawn = asked != nullptr ? std::stoull(asked) : static_cast<std::uint64_t>(day);
        std::printf("PMEMCPY_SEED=%llu\n", static_cast<unsigned long long>(drawn));
        return drawn;
    }();
    return seed;
}

bool is_long() { return std::getenv("PMEMCPY_LONG") != nullptr; }

bool is_drawn(std::size_t number, std::size_t one_in) {
    if (is_long()) return true;
    // One of each so many, so that no seed draws none.
    const std::uint64_t both[] = {drawn_seed(), number / one_in};
    return base::xxh3_64(both, sizeof both) % one_in == number % one_in;
}

}  // namespace pmemcpy::hold
