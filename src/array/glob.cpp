#include <algorithm>
#include <pmemcpy/error.hpp>
#include <pmemcpy/glob.hpp>
#include <utility>

namespace pmemcpy {

namespace {

constexpr char32_t no_unicode =
    0x110000;  // from here on: bytes that are no UTF-8, each a character of its own

std::size_t length_of_character(unsigned char lead) {
    if (lead < 0xC0) return 1;
    return lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
}

char32_t take_character(std::string_view& text) {
    const auto lead = static_cast<unsigned char>(text.front());
    const std::size_t length = length_of_character(lead);
    char32_t character = length == 1 ? lead : lead & (0xFFU >> (length + 1));
    bool is_utf8 = lead < 0x80 || (length > 1 && length <= text.size());
    for (std::size_t i = 1; is_utf8 && i < length; ++i) {
        const auto byte = static_cast<unsigned char>(text[i]);
        is_utf8 = (byte & 0xC0) == 0x80;
        character = character << 6 | (byte & 0x3FU);
    }
    text.remove_prefix(is_utf8 ? length : 1);
    return is_utf8 ? character : no_unicode + lead;
}

}  // namespace

Glob::Glob(std::string_view pattern) : pattern_(pattern) {
    bool is_literal = true;
    bool begins_component = true;
    for (std::string_view rest = pattern_; !rest.empty();) {
        const char head = rest.front();
        if (head == '*') {
            parse_stars(rest, begins_component);
        } else if (head == '?') {
            rest.remove_prefix(1);
            tokens_.push_back({Token::Kind::any, 0, {}});
        } else if (head == '[') {
            parse_set(rest);
        } else {
            const std::string_view before = rest;
            const char32_t character = parse_literal(rest);
            tokens_.push_back({Token::Kind::character, character, {}});
            std::string_view text = before.substr(0, before.size() - rest.size());
            if (head == '\\') text.remove_prefix(1);
            if (is_literal) prefix_ += text;
        }
        is_literal = is_literal && tokens_.back().kind == Token::Kind::character;
        begins_component =
            tokens_.back().kind == Token::Kind::inside_group ||
            (tokens_.back().kind == Token::Kind::character && tokens_.back().character == U'/');
    }
}

void Glob::parse_stars(std::string_view& rest, bool begins_component) {
    const std::size_t stars = std::min(rest.find_first_not_of('*'), rest.size());
    rest.remove_prefix(stars);
    if (stars == 1) {
        tokens_.push_back({Token::Kind::some, 0, {}});
    } else if (begins_component && !rest.empty() && rest.front() == '/') {
        rest.remove_prefix(1);
        tokens_.push_back({Token::Kind::groups, 0, {}});
        tokens_.push_back({Token::Kind::inside_group, 0, {}});
    } else {
        tokens_.push_back({Token::Kind::all, 0, {}});
    }
}

void Glob::parse_set(std::string_view& rest) {
    const auto refuse_if_empty = [&] {
        if (rest.empty())
            throw Error(
                Code::invalid_argument,
                "the pattern '" + pattern_ + "' has a [ without a ]; for the character itself write \\[");
    };
    rest.remove_prefix(1);
    refuse_if_empty();
    Token set{Token::Kind::one_of, 0, {}};
    if (rest.front() == '!' || rest.front() == '^') {
        set.kind = Token::Kind::none_of;
        rest.remove_prefix(1);
    }
    do {  // a ] that comes first is one of the set
        refuse_if_empty();
        const char32_t first = parse_literal(rest);
        char32_t last = first;
        if (rest.size() >= 2 && rest[0] == '-' && rest[1] != ']') {
            rest.remove_prefix(1);
            last = parse_literal(rest);
        }
        set.ranges.push_back({first, last});
        refuse_if_empty();
    } while (rest.front() != ']');
    rest.remove_prefix(1);
    tokens_.push_back(std::move(set));
}

char32_t Glob::parse_literal(std::string_view& rest) {
    if (rest.front() == '\\') {
        rest.remove_prefix(1);
        if (rest.empty())
            throw Error(Code::invalid_argument,
                        "the pattern '" + pattern_ + "' ends in a \\; for the character itself write \\\\");
    }
    return take_character(rest);
}

// Follows all ways through the pattern at once, so that none has to be gone back.
bool Glob::matches(std::string_view id) const {
    Places here(tokens_.size() + 1);
    Places next(tokens_.size() + 1);
    reach(here, 0);
    while (!id.empty()) {
        const char32_t character = take_character(id);
        std::fill(next.begin(), next.end(), false);
        for (std::size_t place = 0; place < tokens_.size(); ++place) {
            if (here[place]) step(place, character, next);
        }
        here.swap(next);
    }
    return here.back();
}

/// What may be empty can be passed at once.
void Glob::reach(Places& places, std::size_t place) const {
    for (;; ++place) {
        places[place] = true;
        if (place == tokens_.size()) return;
        const Token::Kind kind = tokens_[place].kind;
        if (kind == Token::Kind::groups) {
            places[place + 1] = true;  // what leads out of there takes a character
            ++place;
        } else if (kind != Token::Kind::some && kind != Token::Kind::all) {
            return;
        }
    }
}

void Glob::step(std::size_t place, char32_t character, Places& next) const {
    const Token& token = tokens_[place];
    const bool is_slash = character == U'/';
    const auto is_in = [&](const Range& range) {
        return range.first <= character && character <= range.last;
    };
    switch (token.kind) {
        case Token::Kind::character:
            if (character == token.character) reach(next, place + 1);
            return;
        case Token::Kind::any:
            if (!is_slash) reach(next, place + 1);
            return;
        case Token::Kind::one_of:
        case Token::Kind::none_of: {
            const bool is_one = std::any_of(token.ranges.begin(), token.ranges.end(), is_in);
            if (!is_slash && is_one == (token.kind == Token::Kind::one_of)) reach(next, place + 1);
            return;
        }
        case Token::Kind::some:
            if (!is_slash) reach(next, place);
            return;
        case Token::Kind::all:
            reach(next, place);
            return;
        case Token::Kind::groups:
            return;
        case Token::Kind::inside_group:
            next[place] = true;
            if (is_slash) reach(next, place + 1);
            return;
    }
}

}  // namespace pmemcpy
