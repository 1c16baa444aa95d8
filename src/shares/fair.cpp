#include "shares/fair.hpp"

#include <algorithm>

namespace pmemcpy::shares {

namespace {

constexpr std::uint64_t lead_bytes = 1 << 20;

std::uint64_t less(std::uint64_t from, std::uint64_t what) { return from - std::min(from, what); }

std::uint64_t weight_of(const Party& party) { return std::max<std::uint64_t>(party.weight, 1); }

}  // namespace

Standing standing_of(std::span<const Party> all, std::size_t mine, std::uint64_t total_bytes,
                     bool may_not_leave) {
    std::uint64_t free = total_bytes;
    std::uint64_t divided = total_bytes;
    double weights = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
        const bool is_here = i == mine || all[i].is_here;
        free = less(free, all[i].used_bytes);
        if (!is_here) divided = less(divided, all[i].used_bytes);
        if (is_here) weights += static_cast<double>(weight_of(all[i]));
    }
    const auto part_of = [&](const Party& party) {
        return static_cast<std::uint64_t>(static_cast<double>(divided) *
                                          (static_cast<double>(weight_of(party)) / weights));
    };
    std::uint64_t kept = 0;  // for others; each at most what there is, so that the sum cannot overflow
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (i != mine && all[i].is_here && (all[i].needs || may_not_leave))
            kept += less(part_of(all[i]), all[i].used_bytes);
    }
    const Party& self = all[mine];
    Standing standing;
    standing.part_bytes = part_of(self);
    const std::uint64_t own = less(standing.part_bytes, self.used_bytes);
    standing.room_bytes = std::min(free, std::max(own, less(free, kept)));
    standing.excess_bytes = std::min(less(self.used_bytes, standing.part_bytes), less(kept, free));
    return standing;
}

std::uint64_t lead_allowed(std::uint64_t my_weight, std::uint64_t its_weight) {
    return lead_bytes / std::max<std::uint64_t>(my_weight, 1) +
           lead_bytes / std::max<std::uint64_t>(its_weight, 1);
}

}  // namespace pmemcpy::shares
