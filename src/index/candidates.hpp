#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "index/doubts.hpp"

namespace pmemcpy::index {

/// Objects that a condition may mean, sorted by id, none twice.
///
/// Their ids lie one behind the other: a string of its own for each costs more than finding it. For the same reason a list that has been
/// gone through leaves its memory to the thread's next one; what is that large and is freed makes the allocator tidy up.
class CandidateList {
public:
    /// With the memory of an earlier one.
    static CandidateList begin();
    /// For the next begin().
    static void end(CandidateList&& list) noexcept;

    std::size_t size() const { return places_.size(); }
    std::string_view id(std::size_t i) const { return {ids_.data() + places_[i].begin, places_[i].length}; }
    /// It meets the condition; else somebody has to look.
    bool is_sure(std::size_t i) const { return places_[i].is_sure; }
    std::size_t count_sure() const;

    /// None that comes before the last one. Of those with the same id one stays, which is sure if one of them was.
    void add(std::string_view id, bool is_sure) {
        // Names next to each other begin alike, and mostly end in another digit.
        if (!places_.empty() && !ids_.empty() && !id.empty() && ids_.back() == id.back() &&
            this->id(size() - 1) == id) {
            places_.back().is_sure = places_.back().is_sure || is_sure;
            return;
        }
        places_.push_back({ids_.size(), static_cast<std::uint32_t>(id.size()), is_sure});
        ids_.append(id);
    }

private:
    struct Place {
        std::size_t begin;
        std::uint32_t length;
        bool is_sure;
    };
    std::string ids_;
    std::vector<Place> places_;
};

/// All that are in one of two lists; unlike add(), one that is in both is sure only if it is so in both.
CandidateList either(const CandidateList& a, const CandidateList& b);

/// Where no feed ever is.
inline constexpr std::uint64_t no_position = ~std::uint64_t{0};

/// What an index says of a question.
struct Candidates {
    CandidateList objects;
    std::vector<Doubt> doubts{};
    /// Of the feed, when they were told; no_position: some may be other things at any moment.
    std::uint64_t position = 0;
    std::vector<std::string> steps;
    bool may_inherit = false;  // some things that are asked for may lie in what these are in
};

}  // namespace pmemcpy::index
