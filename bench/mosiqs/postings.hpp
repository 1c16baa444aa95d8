#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "library.hpp"

namespace mosiqs {

/// The index of the stand-in for MIQS: in memory, and gone with the process. As the MOSIQS paper describes MIQS, and as its authors have
/// published it (HDF5Meta, in_mem_index.c), trees lead from names of attributes to values, from values to objects (posting lists), and
/// keep the objects' paths. Texts are in hash tables, which are looked up faster than the radix trees there.
///
/// What is asked of names or groups walks the tree of paths, for MIQS keeps nothing else for that. An index that was `made` for the
/// questions of Table I has a list for each of them, and is as fast as memory can be.
class Postings {
public:
    explicit Postings(bool is_made = false) {
        if (is_made) made_.emplace();
    }

    /// Objects are numbered as they come.
    std::uint32_t add_object(std::string_view group, std::string_view name);
    void add(std::uint32_t object, std::string_view key, const Value& value);
    void add_group(std::string_view group, std::uint64_t attributes);

    void equal(const std::string& key, const Value& value, std::vector<std::string>& ids) const;
    void between(const std::string& key, double first, double last, std::vector<std::string>& ids) const;
    void containing(std::string_view text, std::vector<std::string>& ids) const;
    void members(std::string_view group, std::vector<std::string>& ids) const;
    /// Only of one that was made for it: MIQS leads from attributes to objects, not back.
    std::optional<std::uint64_t> count_attributes(std::string_view group) const;

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
    struct Made {
        ByText<Objects> members;
        ByText<std::uint64_t> group_attributes;
        std::unordered_map<std::uint32_t, Objects>
            trigrams;  // the objects of each three bytes that stand in a name
    };
    void append(const Objects& objects, std::vector<std::string>& ids) const;

    std::set<std::string, std::less<>> paths_;
    std::vector<std::string_view> ids_;  // by number; they lie in the tree
    ByText<Column> columns_;
    std::optional<Made> made_;
};

}  // namespace mosiqs
