#include "tier/pattern.hpp"

#include <algorithm>
#include <functional>
#include <utility>

namespace pmemcpy::tier {

namespace {

std::vector<std::int64_t> distance_between(const Box& from, const Box& to) {
    if (!(from.count == to.count)) return {};
    std::vector<std::int64_t> distance;
    bool is_same = true;
    for (int d = 0; d < from.size(); ++d) {
        distance.push_back(static_cast<std::int64_t>(to.offset[d] - from.offset[d]));
        is_same = is_same && distance.back() == 0;
    }
    return is_same ? std::vector<std::int64_t>{} : distance;
}

// Nothing below zero.
std::optional<Box> moved(const Box& box, const std::vector<std::int64_t>& distance) {
    Box next = box;
    for (int d = 0; d < box.size(); ++d) {
        const std::int64_t by = distance[static_cast<std::size_t>(d)];
        if (by < 0 && next.offset[d] < static_cast<Extent>(-by)) return std::nullopt;
        next.offset[d] += static_cast<Extent>(by);
    }
    return next;
}

}  // namespace

std::size_t Pattern::Hash::operator()(const Box& box) const {
    std::size_t hash = 0;
    for (int d = 0; d < box.size(); ++d) {
        hash = hash * 0x9e3779b97f4a7c15 + std::hash<Extent>()(box.offset[d]);
        hash = hash * 0x9e3779b97f4a7c15 + std::hash<Extent>()(box.count[d]);
    }
    return hash;
}

void Pattern::add_later(const Box& seen, std::size_t most, std::vector<Box>& boxes) {
    if (seen.offset.empty()) return;
    Box at_zero = seen;
    at_zero.offset[0] = 0;
    if (parts_.size() == most_remembered && !parts_.contains(at_zero)) parts_.clear();
    const auto [found, is_new] = parts_.try_emplace(at_zero, Part{.time = seen.offset[0]});
    Part& part = found->second;
    if (is_new || part.time == seen.offset[0]) return;
    const auto distance = static_cast<std::int64_t>(seen.offset[0] - part.time);
    const bool is_steady = distance == std::exchange(part.distance, distance);
    part.time = seen.offset[0];
    if (!is_steady) return;
    std::vector<std::int64_t> later(static_cast<std::size_t>(seen.size()), 0);
    later[0] = distance;
    std::size_t times = 0;
    for (std::optional<Box> box = moved(seen, later); box && times < std::min(most, most_times_ahead);
         box = moved(*box, later), ++times) {
        if (std::find(boxes.begin(), boxes.end(), *box) == boxes.end()) boxes.push_back(*box);
    }
}

std::vector<Box> Pattern::next(const Box& seen, std::size_t most) {
    if (last_ && *last_ == seen) return {};
    std::vector<Box> boxes;
    std::vector<std::int64_t> distance = last_ ? distance_between(*last_, seen) : std::vector<std::int64_t>{};
    if (!distance.empty() && distance == distance_) {
        for (std::optional<Box> box = moved(seen, distance); box && boxes.size() < most;
             box = moved(*box, distance))
            boxes.push_back(*box);
    }
    add_later(seen, most, boxes);
    if (boxes.empty()) {
        auto after = followed_by_.find(seen);
        while (after != followed_by_.end() && boxes.size() < most &&
               std::find(boxes.begin(), boxes.end(), after->second) == boxes.end()) {
            boxes.push_back(after->second);
            after = followed_by_.find(after->second);
        }
    }
    if (last_) {
        if (followed_by_.insert_or_assign(*last_, seen).second) remembered_.push_back(*last_);
        if (remembered_.size() > most_remembered) {
            followed_by_.erase(remembered_.front());
            remembered_.pop_front();
        }
    }
    last_ = seen;
    distance_ = std::move(distance);
    return boxes;
}

}  // namespace pmemcpy::tier
