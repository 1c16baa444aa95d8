#pragma once

#include <pmemcpy/tiers.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace pmemcpy::tier {

/// How much is stored at a time by those who compute in between, seen by somebody who looks now and then.
class Bursts {
public:
    /// So long without a store, and it is quiet.
    static constexpr std::uint64_t pause_ns = 50'000'000;
    /// Past this time after one it is not the next burst that room is kept for: what is read may come up into it.
    static constexpr std::uint64_t soon_ns = 1'000'000'000;

    /// What all together have stored until now. If that is less than before, counting has begun anew.
    void look(std::uint64_t now_ns, std::uint64_t stored_bytes);
    bool is_quiet() const { return is_quiet_; }
    /// As much as the largest of the last few times, if the last was a short time ago: more is not likely to come at once.
    std::uint64_t expected() const;
    /// Of the burst that goes on.
    std::uint64_t stored() const { return now_; }
    /// How much more it may well be: what the largest of the last few times was more, or several times what it is beyond that.
    std::uint64_t to_come() const;

private:
    std::uint64_t largest() const;

    static constexpr std::size_t remembered = 4;

    std::optional<std::uint64_t> seen_;
    std::uint64_t stored_at_ns_ = 0;
    bool is_quiet_ = true;
    bool is_soon_ = false;
    std::uint64_t now_ = 0;  // of the burst that goes on
    std::array<std::uint64_t, remembered> before_{};
    std::size_t next_ = 0;
};

/// How much is to stay in a target of which so much is used; nothing, if it may stay as it is. While somebody stores, of the pool only what
/// keeps it from being full, for what goes down from there takes the bandwidth of those who store. A target below it makes room
/// meanwhile for as much again as has been stored since the last pause: the longer a burst has lasted the longer it is likely to last, and a
/// slow target that only begins when all above are full has lost that time. In between, so far that the next burst meets no
/// target that is being emptied.
std::optional<std::uint64_t> emptied_to(const Watermarks& marks, std::uint64_t capacity, std::uint64_t used,
                                        const Bursts& bursts, bool is_top);

/// How much is to stay in the pool while somebody stores, of what can go straight to a slow target that nobody stores to: as much goes as may
/// well come. To be wrong costs little, for such a target has not taken much until the pool is full; to wait for that costs as much as it would have
/// taken.
std::optional<std::uint64_t> drained_to(const Watermarks& marks, std::uint64_t capacity, std::uint64_t used,
                                        const Bursts& bursts);

}  // namespace pmemcpy::tier
