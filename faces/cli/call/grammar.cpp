#include "cli/call/grammar.hpp"

#include <algorithm>

namespace pmemcpy::cli {

// Told by the names that all verbs use for the same things.
Completes completes(const Argument& argument) {
    const std::string& value = argument.value;
    const auto is_one_of = [&](std::initializer_list<const char*> names) {
        return std::any_of(names.begin(), names.end(), [&](const char* name) { return value == name; });
    };
    if (value.find('|') != std::string::npos) return Completes::word;
    if (is_one_of({"POOL", "OLD", "NEW", "OUTPUT", "FILE"})) return Completes::file;
    if (is_one_of({"ID", "IDS", "PREFIX", "GLOB", "PATTERN"})) return Completes::id;
    if (is_one_of({"PLACE", "A", "B"})) return Completes::place;
    return Completes::nothing;
}

std::vector<std::string> words_of(const Argument& argument) {
    std::vector<std::string> words(1);
    for (const char c : argument.value) {
        if (c == '|') {
            words.emplace_back();
        } else {
            words.back() += c;
        }
    }
    return words;
}

}  // namespace pmemcpy::cli
