#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace pmemcpy::tier {

/// Which arrays are likely to be read next by those that were, where each time step has ids of its own: "u/0001" and then "u/0002", or "run.7/u"
/// and then "run.9/u". The last number in an id is its step.
class Series {
public:
    static constexpr std::size_t most_remembered = 1024;

    /// Up to `most` ids that may be read after this one, the next first: after two equal distances between steps. Not all of them need exist.
    std::vector<std::string> next(std::string_view id, std::size_t most);

private:
    struct Seen {
        std::uint64_t step = 0;
        std::int64_t distance = 0;  // from the step before; 0: there was none
        bool is_steady = false;     // the same as the one before it
    };
    std::unordered_map<std::string, Seen> seen_;  // by what stands around the number
    std::deque<std::string> remembered_;          // the keys, the oldest first
};

}  // namespace pmemcpy::tier
