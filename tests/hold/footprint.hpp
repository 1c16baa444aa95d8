#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "accesses.hpp"

namespace pmemcpy::hold {

/// Which words of shared memory some accesses have read and written.
class Footprint {
public:
    void add(std::span<const Access> accesses) {
        for (const Access& access : accesses) {
            if (access.word + access.words > marks_.size()) marks_.resize(access.word + access.words + 4096);
            for (std::uint32_t i = access.word; i < access.word + access.words; ++i) {
                if (marks_[i] == 0) touched_.push_back(i);
                marks_[i] |= access.writes() ? written : read;
            }
        }
    }
    /// Whether the access and these, made the other way round, may come to something else.
    bool conflicts(const Access& access) const {
        const std::uint8_t minded = access.writes() ? read | written : written;
        for (std::uint32_t i = access.word; i < access.word + access.words && i < marks_.size(); ++i) {
            if ((marks_[i] & minded) != 0) return true;
        }
        return false;
    }
    void clear() {
        for (const std::uint32_t i : touched_) marks_[i] = 0;
        touched_.clear();
    }

private:
    static constexpr std::uint8_t read = 1, written = 2;
    std::vector<std::uint8_t> marks_;
    std::vector<std::uint32_t> touched_;
};

}  // namespace pmemcpy::hold
