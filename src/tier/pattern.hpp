#pragma once

#include <pmemcpy/box.hpp>

#include <cstddef>
#include <deque>
#include <optional>
#include <unordered_map>
#include <vector>

namespace pmemcpy::tier {

/// Which blocks of one array are likely to be read next, by those that were: one after the other or at equal distances, in any dimension;
/// the same part at the next index of the first dimension, which is time in many arrays, though others of the same time are read in between; or,
/// where no distance repeats, as it went the last time that the same block was read.
class Pattern {
public:
    static constexpr std::size_t most_remembered = 1024;
    static constexpr std::size_t most_times_ahead = 2;

    /// Up to `most` boxes that may be read after this one, the next first. Not all of them need be blocks.
    std::vector<Box> next(const Box& seen, std::size_t most);

private:
    struct Hash {
        std::size_t operator()(const Box& box) const;
    };
    struct Part {
        Extent time = 0;
        std::int64_t distance = 0;  // from the time before
    };
    /// Where this part will be read next, if it was at equal distances of the first dimension.
    void add_later(const Box& seen, std::size_t most, std::vector<Box>& boxes);

    std::unordered_map<Box, Part, Hash> parts_;  // by their boxes at time 0
    std::optional<Box> last_;
    std::vector<std::int64_t> distance_;  // between the last two
    std::unordered_map<Box, Box, Hash> followed_by_;
    std::deque<Box> remembered_;  // the keys, the oldest first
};

}  // namespace pmemcpy::tier
