#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace pmemcpy {

/// A pattern for ids, as shells have for paths. `?` matches one character, `*` any number, `[a-z]` one of a
/// set and `[!a-z]` one outside it. None of these matches `/`. `**` matches anything, and `**/` any number of
/// groups, also none. A `\` makes the next character literal.
/// Cost: at most the pattern's length times the id's, for any pattern.
class Glob {
public:
    /// Parses a pattern. Errors: invalid_argument for a `[` without a `]`, and for a `\` at the end.
    explicit Glob(std::string_view pattern);

    bool matches(std::string_view id) const;
    /// The beginning that all matching ids share.
    const std::string& prefix() const noexcept { return prefix_; }

    /// True if the text has a character that makes it a pattern.
    static bool is_glob(std::string_view text) {
        return text.find_first_of("*?[\\") != std::string_view::npos;
    }

private:
    struct Range {
        char32_t first;
        char32_t last;
    };
    struct Token {
        enum class Kind { character, any, one_of, none_of, some, all, groups, inside_group };
        Kind kind;
        char32_t character = 0;
        std::vector<Range> ranges;
    };
    using Places = std::vector<bool>;  // in the pattern; the last is its end

    void parse_stars(std::string_view& rest, bool begins_component);
    void parse_set(std::string_view& rest);
    char32_t parse_literal(std::string_view& rest);
    void reach(Places& places, std::size_t place) const;
    void step(std::size_t place, char32_t character, Places& next) const;

    std::string pattern_;
    std::vector<Token> tokens_;
    std::string prefix_;
};

}  // namespace pmemcpy
