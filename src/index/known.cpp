#include "index/known.hpp"

#include <algorithm>
#include <array>
#include <pmemcpy/query.hpp>

namespace pmemcpy::index {

namespace {

struct Word {
    std::string_view text;
    Known known;
    Sort sort;
};

constexpr std::array<Word, 19> words = {{{"name", Known::name, Sort::text},
                                         {"group", Known::group, Sort::text},
                                         {"kind", Known::kind, Sort::text},
                                         {"dtype", Known::dtype, Sort::text},
                                         {"shape", Known::shape, Sort::shape},
                                         {"rank", Known::rank, Sort::number},
                                         {"bytes", Known::bytes, Sort::number},
                                         {"stored", Known::stored, Sort::number},
                                         {"blocks", Known::blocks, Sort::number},
                                         {"codec", Known::codec, Sort::text},
                                         {"scope", Known::scope, Sort::text},
                                         {"step", Known::step, Sort::number},
                                         {"changed", Known::changed, Sort::time},
                                         {"created", Known::created, Sort::time},
                                         {"creator", Known::creator, Sort::anything},
                                         {"min", Known::min, Sort::number},
                                         {"max", Known::max, Sort::number},
                                         {"mean", Known::mean, Sort::number},
                                         {"value", Known::value, Sort::anything}}};

const Word& entry_of(Known known) {
    return *std::find_if(words.begin(), words.end(), [&](const Word& one) { return one.known == known; });
}

constexpr std::array<std::string_view, 18> reserved = {
    "and", "or",  "not",  "in",    "exists", "contains", "begins", "under", "order",
    "by",  "asc", "desc", "limit", "count",  "true",     "false",  "now",   "attr"};

}  // namespace

std::optional<Known> known_of(std::string_view word) {
    const auto found =
        std::find_if(words.begin(), words.end(), [&](const Word& one) { return one.text == word; });
    if (found == words.end()) return {};
    return found->known;
}

std::string_view word_of(Known known) { return entry_of(known).text; }
bool is_known(const Key& key, Known known) {
    return key.means() != Key::Means::attribute && key.parts().front() == word_of(known);
}
std::optional<Known> known_of(const Key& key) {
    return key.means() == Key::Means::attribute ? std::nullopt : known_of(key.parts().front());
}
bool is_of_all(Known known) {
    return known == Known::name || known == Known::group || known == Known::kind || known == Known::scope;
}
Sort sort_of(Known known) { return entry_of(known).sort; }

Members members_of(Known known) {
    static constexpr std::array<std::string_view, 4> of_creator = {"user", "host", "program", "ranks"};
    if (known == Known::creator) return {false, of_creator};
    return {known == Known::shape || known == Known::value, {}};
}

bool has_members(Known known, std::span<const std::string> called) {
    const Members members = members_of(known);
    if (called.empty() || members.are_any) return true;
    return called.size() == 1 &&
           std::find(members.names.begin(), members.names.end(), called.front()) != members.names.end();
}

bool is_reserved(std::string_view word) {
    return std::find(reserved.begin(), reserved.end(), word) != reserved.end();
}

std::string list_of(std::span<const std::string_view> names) {
    std::string list;
    for (const std::string_view name : names) list.append(list.empty() ? "" : ", ").append(name);
    return list;
}

std::string list_of_known() {
    std::array<std::string_view, words.size()> names;
    std::transform(words.begin(), words.end(), names.begin(), [](const Word& word) { return word.text; });
    return list_of(names);
}

}  // namespace pmemcpy::index
