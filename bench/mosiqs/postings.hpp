#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "library.hpp"

namespace mosiqs {

/// The index of the stand-in for MIQS: in memory, and gone with the process. Numbers are in balanced search trees, texts in
/// hash tables, names in one piece of text; what a key leads to is a list of objects (a posting list).
class Postings {
public:
    /// Objects are numbered as they come.
    std::uint32_t add_object(std::string_view group, std::string_view name);
    void add(std::uint32_t object, std::string_view key, const Value& value);
    void add_group(std::string_view group, std::uint64_t attributes);
    /// Makes containing() fast, for who will ask often: the objects of each three bytes that stand in a name.
    void index_names();

    void equal(const std::string& key, const Value& value, std::vector<std::string>& ids) const;
    void between(const std::string& key, double first, double last, std::vector<std::string>& ids) const;
    void containing(std::string_view text, std::vector<std::string>& ids) const;
    void members(std::string_view group, std::vector<std::string>& ids) const;
    std::uint64_t count_attributes(std::string_view group) const;

private:
    using Objects = std::vector<std::uint32_t>;
    /// Texts are looked up as they are passed, without a copy.
    struct Hash {
        using is_transparent = void;
        std::size_t operator()(std::string_view text) const noexcept {
            return std::hash<std::string_view>{}(text);
        }
    };
    template <class T>
    using ByText = std::unordered_map<std::string, T, Hash, std::equal_to<>>;

    struct Column {
        ByText<Objects> texts;
        std::map<double, Objects> numbers;
    };
    std::string_view id(std::uint32_t object) const;
    void append(const Objects& objects, std::vector<std::string>& ids) const;

    std::string names_;                 // all ids, each with a newline behind it
    std::vector<std::uint64_t> begin_;  // of each id in names_
    ByText<Column> columns_;
    ByText<Objects> members_;
    ByText<std::uint64_t> group_attributes_;
    std::unordered_map<std::uint32_t, Objects> trigrams_;
};

}  // namespace mosiqs
