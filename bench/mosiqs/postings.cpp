#include "postings.hpp"

#include <algorithm>
#include <cstring>

namespace mosiqs {
namespace {

std::uint32_t trigram(const char* text) {
    std::uint32_t three = 0;
    std::memcpy(&three, text, 3);
    return three;
}

template <class Map>
typename Map::mapped_type& at(Map& map, std::string_view key) {
    const auto found = map.find(key);
    return found != map.end() ? found->second : map.try_emplace(std::string(key)).first->second;
}

}  // namespace

std::uint32_t Postings::add_object(std::string_view group, std::string_view name) {
    const auto object = static_cast<std::uint32_t>(begin_.size());
    begin_.push_back(names_.size());
    if (!group.empty()) (names_ += group) += '/';
    (names_ += name) += '\n';
    at(members_, group).push_back(object);
    return object;
}

void Postings::add(std::uint32_t object, std::string_view key, const Value& value) {
    Column& column = at(columns_, key);
    if (const auto* text = std::get_if<std::string>(&value)) {
        at(column.texts, *text).push_back(object);
    } else if (const auto* whole = std::get_if<std::int64_t>(&value)) {
        column.numbers[static_cast<double>(*whole)].push_back(object);
    } else {
        column.numbers[std::get<double>(value)].push_back(object);
    }
}

void Postings::add_group(std::string_view group, std::uint64_t attributes) {
    at(group_attributes_, group) = attributes;
}

void Postings::index_names() {
    trigrams_.clear();
    for (std::uint32_t object = 0; object < begin_.size(); ++object) {
        const std::string_view name = id(object);
        for (std::size_t i = 0; i + 3 <= name.size(); ++i) {
            Objects& objects = trigrams_[trigram(name.data() + i)];
            if (objects.empty() || objects.back() != object) objects.push_back(object);
        }
    }
}

void Postings::equal(const std::string& key, const Value& value, std::vector<std::string>& ids) const {
    const auto column = columns_.find(key);
    if (column == columns_.end()) return;
    if (const auto* text = std::get_if<std::string>(&value)) {
        const auto found = column->second.texts.find(*text);
        if (found != column->second.texts.end()) append(found->second, ids);
        return;
    }
    const double number = std::holds_alternative<std::int64_t>(value)
                              ? static_cast<double>(std::get<std::int64_t>(value))
                              : std::get<double>(value);
    const auto found = column->second.numbers.find(number);
    if (found != column->second.numbers.end()) append(found->second, ids);
}

void Postings::between(const std::string& key, double first, double last,
                       std::vector<std::string>& ids) const {
    const auto column = columns_.find(key);
    if (column == columns_.end()) return;
    const auto& numbers = column->second.numbers;
    for (auto it = numbers.lower_bound(first); it != numbers.end() && it->first <= last; ++it)
        append(it->second, ids);
}

void Postings::containing(std::string_view text, std::vector<std::string>& ids) const {
    if (!trigrams_.empty() && text.size() >= 3) {
        // Of the lists of all three bytes in the text, the shortest; the names in it are looked at.
        const Objects* fewest = nullptr;
        for (std::size_t i = 0; i + 3 <= text.size(); ++i) {
            const auto found = trigrams_.find(trigram(text.data() + i));
            if (found == trigrams_.end()) return;
            if (fewest == nullptr || found->second.size() < fewest->size()) fewest = &found->second;
        }
        for (const std::uint32_t object : *fewest) {
            if (id(object).find(text) != std::string_view::npos) ids.emplace_back(id(object));
        }
        return;
    }
    const char* from = names_.data();
    const char* const end = from + names_.size();
    while (from < end) {
        const void* found = ::memmem(from, static_cast<std::size_t>(end - from), text.data(), text.size());
        if (found == nullptr) return;
        const auto place = static_cast<std::uint64_t>(static_cast<const char*>(found) - names_.data());
        const auto next = std::upper_bound(begin_.begin(), begin_.end(), place);
        const std::string_view name = id(static_cast<std::uint32_t>(next - begin_.begin() - 1));
        if (place + text.size() <= static_cast<std::uint64_t>(name.data() - names_.data()) + name.size())
            ids.emplace_back(name);
        from = next == begin_.end() ? end : names_.data() + *next;
    }
}

void Postings::members(std::string_view group, std::vector<std::string>& ids) const {
    const auto found = members_.find(group);
    if (found != members_.end()) append(found->second, ids);
}

std::uint64_t Postings::count_attributes(std::string_view group) const {
    const auto found = group_attributes_.find(group);
    return found == group_attributes_.end() ? 0 : found->second;
}

std::string_view Postings::id(std::uint32_t object) const {
    const std::uint64_t end = object + 1 < begin_.size() ? begin_[object + 1] : names_.size();
    return std::string_view(names_).substr(begin_[object], end - begin_[object] - 1);
}

void Postings::append(const Objects& objects, std::vector<std::string>& ids) const {
    for (const std::uint32_t object : objects) ids.emplace_back(id(object));
}

}  // namespace mosiqs
