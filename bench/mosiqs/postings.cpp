#include "postings.hpp"

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
    std::string path(group);
    if (!path.empty()) path += '/';
    const auto object = static_cast<std::uint32_t>(ids_.size());
    ids_.emplace_back(*paths_.insert(paths_.end(), path += name));  // they come in order, mostly
    if (!made_) return object;
    at(made_->members, group).push_back(object);
    const std::string_view id = ids_.back();
    for (std::size_t i = 0; i + 3 <= id.size(); ++i) {
        Objects& objects = made_->trigrams[trigram(id.data() + i)];
        if (objects.empty() || objects.back() != object) objects.push_back(object);
    }
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
    if (made_) at(made_->group_attributes, group) = attributes;
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
    if (!made_ || text.size() < 3) {
        for (const std::string& path : paths_) {
            if (path.find(text) != std::string::npos) ids.push_back(path);
        }
        return;
    }
    // Of the lists of all three bytes in the text, the shortest; the names in it are looked at.
    const Objects* fewest = nullptr;
    for (std::size_t i = 0; i + 3 <= text.size(); ++i) {
        const auto found = made_->trigrams.find(trigram(text.data() + i));
        if (found == made_->trigrams.end()) return;
        if (fewest == nullptr || found->second.size() < fewest->size()) fewest = &found->second;
    }
    for (const std::uint32_t object : *fewest) {
        if (ids_[object].find(text) != std::string_view::npos) ids.emplace_back(ids_[object]);
    }
}

void Postings::members(std::string_view group, std::vector<std::string>& ids) const {
    if (made_) {
        const auto found = made_->members.find(group);
        if (found != made_->members.end()) append(found->second, ids);
        return;
    }
    std::string begin(group);
    begin += '/';
    for (auto it = paths_.lower_bound(begin); it != paths_.end() && it->starts_with(begin); ++it)
        ids.push_back(*it);
}

std::optional<std::uint64_t> Postings::count_attributes(std::string_view group) const {
    if (!made_) return std::nullopt;
    const auto found = made_->group_attributes.find(group);
    return found == made_->group_attributes.end() ? 0 : found->second;
}

void Postings::append(const Objects& objects, std::vector<std::string>& ids) const {
    for (const std::uint32_t object : objects) ids.emplace_back(ids_[object]);
}

}  // namespace mosiqs
