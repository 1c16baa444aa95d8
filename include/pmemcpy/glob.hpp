#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace pmemcpy {

/// A pattern for ids, as shells have them for paths: `?` is one character, `*` any number of them, `[a-z]` one of
/// these and `[!a-z]` one that is none of these; no `/` is meant by any of them. `**` is anything, and `**/` any
/// number of groups, none too. A `\` takes the meaning from the character behind it.
/// Cost: at most the pattern's length times the id's; no pattern takes longer.
class Glob {
public:
    /// Errors: invalid_argument for a `[` without a `]`, and for a `\` at the end.
    explicit Glob(std::string_view pattern);

    bool matches(std::string_view id) const;
    /// What every id that matches begins with.
    const std::string& prefix() const noexcept { return prefix_; }

    /// Whether there is a character in it that makes a text a pattern.
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
