#include "tier/bursts.hpp"

#include <algorithm>
#include <utility>

namespace pmemcpy::tier {

namespace {

// However large bursts are, so much of what `low` would keep is kept: it may be read again.
constexpr double least_part_of_low = 0.5;
// While one goes on whose end nobody knows, less: what a slow target has not taken by the time that all above are full is waited for.
constexpr double least_part_in_burst = 0.2;

}  // namespace

void Bursts::look(std::uint64_t now_ns, std::uint64_t stored_bytes) {
    const std::uint64_t before = std::min(seen_.value_or(stored_bytes), stored_bytes);
    const std::uint64_t since = stored_bytes - before;
    seen_ = stored_bytes;
    now_ += since;
    if (since != 0) {
        stored_at_ns_ = now_ns;
        is_quiet_ = false;
    } else if (!is_quiet_ && now_ns - stored_at_ns_ >= pause_ns) {
        before_.at(next_++ % remembered) = std::exchange(now_, 0);
        is_quiet_ = true;
    }
    is_soon_ = stored_at_ns_ != 0 && now_ns - stored_at_ns_ < soon_ns;
}

std::uint64_t Bursts::expected() const {
    return is_soon_ ? std::max(now_, *std::max_element(before_.begin(), before_.end())) : 0;
}

std::optional<std::uint64_t> emptied_to(const Watermarks& marks, std::uint64_t capacity, std::uint64_t used,
                                        const Bursts& bursts, bool is_top) {
    if (marks.high >= 1) return std::nullopt;  // nobody is to make room but who needs it
    const auto part = [&](double of) {
        return static_cast<std::uint64_t>(of * static_cast<double>(capacity));
    };
    const std::uint64_t high = part(marks.high);
    if (!bursts.is_quiet()) {
        const std::uint64_t to_come = is_top ? 0 : std::min(bursts.stored(), high);
        const std::uint64_t goal =
            std::max(high - to_come, std::min(high, part(marks.low * least_part_in_burst)));
        return used > goal ? std::optional(goal) : std::nullopt;
    }
    const std::uint64_t burst = std::min(bursts.expected(), high);
    if (used <= high - burst) return std::nullopt;
    const std::uint64_t goal =
        std::max(std::min(part(marks.low), high - burst), part(marks.low * least_part_of_low));
    return used > goal ? std::optional(goal) : std::nullopt;
}

}  // namespace pmemcpy::tier
