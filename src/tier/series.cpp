#include "tier/series.hpp"

#include <algorithm>
#include <charconv>

namespace pmemcpy::tier {

namespace {

constexpr std::string_view digits = "0123456789";
constexpr std::size_t most_digits = 18;  // as many as any number of 64 bits, with a sign, has

// Where the number is in an id. Shape: empty, if there is none.
std::string_view number_in(std::string_view id) {
    const std::size_t last = id.find_last_of(digits);
    if (last == std::string_view::npos) return {};
    const std::size_t before = id.find_last_not_of(digits, last);
    const std::size_t first = before == std::string_view::npos ? 0 : before + 1;
    const std::string_view number = id.substr(first, last + 1 - first);
    return number.size() > most_digits ? std::string_view{} : number;
}

}  // namespace

std::vector<std::string> Series::next(std::string_view id, std::size_t most) {
    const std::string_view number = number_in(id);
    if (number.empty()) return {};
    std::uint64_t step = 0;
    std::from_chars(number.data(), number.data() + number.size(), step);
    const std::string front(id.substr(0, static_cast<std::size_t>(number.data() - id.data())));
    const std::string back(id.substr(front.size() + number.size()));
    const std::string key = front + '\0' + back;  // which no id has
    auto found = seen_.find(key);
    if (found == seen_.end()) {
        if (remembered_.size() == most_remembered) {
            seen_.erase(remembered_.front());
            remembered_.pop_front();
        }
        remembered_.push_back(key);
        seen_.emplace(key, Seen{.step = step});
        return {};
    }
    Seen& seen = found->second;
    if (step != seen.step) {
        const auto distance = static_cast<std::int64_t>(step - seen.step);
        seen.is_steady = distance == seen.distance;
        seen.distance = distance;
        seen.step = step;
    }
    std::vector<std::string> ids;
    // Also for the other blocks of the same step.
    for (std::uint64_t ahead = step; seen.is_steady && ids.size() < most;) {
        if (seen.distance < 0 && ahead < static_cast<std::uint64_t>(-seen.distance)) break;
        ahead += static_cast<std::uint64_t>(seen.distance);
        std::string text = std::to_string(ahead);
        if (number.size() > 1 && number.front() == '0')
            text.insert(0, number.size() - std::min(number.size(), text.size()), '0');
        ids.emplace_back(front).append(text).append(back);
    }
    return ids;
}

}  // namespace pmemcpy::tier
