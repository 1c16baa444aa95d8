#include "layout/mapping_cache.hpp"

#include <utility>

namespace pmemcpy::layout {

MappingCache::Shared MappingCache::find(std::uint64_t number, std::uint64_t length) {
    const std::lock_guard lock(mutex_);
    const auto found = by_number_.find(number);
    if (found == by_number_.end() || found->second->mapping->size() < length) return nullptr;
    entries_.splice(entries_.begin(), entries_, found->second);
    return found->second->mapping;
}

void MappingCache::add(std::uint64_t number, Shared mapping) {
    Shared unmapped_without_the_lock;
    const std::lock_guard lock(mutex_);
    if (const auto found = by_number_.find(number); found != by_number_.end()) {
        unmapped_without_the_lock = std::exchange(found->second->mapping, std::move(mapping));
        return;
    }
    entries_.push_front({number, std::move(mapping)});
    by_number_[number] = entries_.begin();
    if (entries_.size() <= most_) return;
    unmapped_without_the_lock = std::move(entries_.back().mapping);
    by_number_.erase(entries_.back().number);
    entries_.pop_back();
}

void MappingCache::drop(std::uint64_t number) {
    Shared unmapped_without_the_lock;
    const std::lock_guard lock(mutex_);
    const auto found = by_number_.find(number);
    if (found == by_number_.end()) return;
    unmapped_without_the_lock = std::move(found->second->mapping);
    entries_.erase(found->second);
    by_number_.erase(found);
}

std::vector<std::uint64_t> MappingCache::next(std::size_t count) {
    const std::lock_guard lock(mutex_);
    std::vector<std::uint64_t> numbers;
    while (numbers.size() < count && numbers.size() < by_number_.size()) {
        auto found = by_number_.upper_bound(last_);
        if (found == by_number_.end()) found = by_number_.begin();
        last_ = found->first;
        numbers.push_back(last_);
    }
    return numbers;
}

std::size_t MappingCache::size() const {
    const std::lock_guard lock(mutex_);
    return entries_.size();
}

}  // namespace pmemcpy::layout
