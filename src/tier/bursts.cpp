#include "tier/bursts.hpp"

#include <algorithm>
#include <utility>

#include "tier/hierarchy.hpp"

namespace pmemcpy::tier {

namespace {

// However large bursts are, so much of what `low` would keep is kept: it may be read again.
constexpr double least_part_of_low = 0.5;
// While one goes on whose end nobody knows, less: what a slow target has not taken by the time that all above are full is waited for.
constexpr double least_part_in_burst = 0.2;
// One burst in three is so much longer than it is by now, if how long they last is anybody's guess. With three times as much even the first
// short burst of a program goes to a slow target, from which it is flushed more slowly.
constexpr std::uint64_t times_more = 2;

std::optional<std::uint64_t> with_room_for(std::uint64_t to_come, const Watermarks& marks,
                                           std::uint64_t capacity, std::uint64_t used) {
    const std::uint64_t high = part_of(capacity, marks.high);
    const std::uint64_t least = std::min(high, part_of(capacity, marks.low * least_part_in_burst));
    const std::uint64_t goal = std::max(high - std::min(to_come, high), least);
    return used > goal ? std::optional(goal) : std::nullopt;
}

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

std::uint64_t Bursts::largest() const { return *std::max_element(before_.begin(), before_.end()); }

std::uint64_t Bursts::expected() const { return is_soon_ ? std::max(now_, largest()) : 0; }

std::uint64_t Bursts::to_come() const {
    const std::uint64_t known = largest();
    return now_ <= known ? known - now_ : times_more * (now_ - known);
}

std::optional<std::uint64_t> emptied_to(const Watermarks& marks, std::uint64_t capacity, std::uint64_t used,
                                        const Bursts& bursts, bool is_top) {
    if (marks.high >= 1) return std::nullopt;  // nobody is to make room but who needs it
    if (!bursts.is_quiet()) return with_room_for(is_top ? 0 : bursts.stored(), marks, capacity, used);
    const std::uint64_t high = part_of(capacity, marks.high);
    const std::uint64_t burst = std::min(bursts.expected(), high);
    if (used <= high - burst) return std::nullopt;
    const std::uint64_t goal = std::max(std::min(part_of(capacity, marks.low), high - burst),
                                        part_of(capacity, marks.low * least_part_of_low));
    return used > goal ? std::optional(goal) : std::nullopt;
}

std::optional<std::uint64_t> drained_to(const Watermarks& marks, std::uint64_t capacity, std::uint64_t used,
                                        const Bursts& bursts) {
    if (marks.high >= 1 || bursts.is_quiet()) return std::nullopt;
    return with_room_for(bursts.to_come(), marks, capacity, used);
}

}  // namespace pmemcpy::tier
