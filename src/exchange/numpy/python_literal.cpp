#include "exchange/numpy/python_literal.hpp"

#include <cstdint>
#include <pmemcpy/error.hpp>
#include <string>

#include "exchange/numpy/text.hpp"

namespace pmemcpy::exchange {

namespace {

using Json = nlohmann::json;

constexpr int deepest_literal = 32;

class Parser {
public:
    explicit Parser(std::string_view text) : text_(text) {}

    Json whole() {
        Json value = any(0);
        skip_space();
        if (at_ != text_.size()) fail("something follows the end");
        return value;
    }

private:
    [[noreturn]] void fail(const std::string& what) const {
        throw Error(Code::corrupt, what + " at character " + std::to_string(at_));
    }
    void skip_space() { at_ = std::min(text_.find_first_not_of(" \t\n\r\f", at_), text_.size()); }
    char peek() {
        skip_space();
        if (at_ == text_.size()) fail("it ends too early");
        return text_[at_];
    }
    bool take(char wanted) {
        if (peek() != wanted) return false;
        ++at_;
        return true;
    }
    void expect(char wanted) {
        if (!take(wanted)) fail(std::string("no '") + wanted + "' where one belongs");
    }
    bool take_word(std::string_view word) {
        if (text_.substr(at_, word.size()) != word) return false;
        at_ += word.size();
        return true;
    }

    Json any(int depth) {
        if (depth > deepest_literal) fail("nested too deep");
        switch (peek()) {
            case '{':
                return dict(depth);
            case '[':
                return list(depth);
            case '(':
                return tuple(depth);
            case '\'':
            case '"':
                return text();
            default:
                if (take_word("True")) return true;
                if (take_word("False")) return false;
                return number();
        }
    }

    Json dict(int depth) {
        Json found = Json::object();
        expect('{');
        while (!take('}')) {
            if (peek() != '\'' && peek() != '"') fail("a key that is no text");
            const std::string key = text();
            if (found.contains(key)) fail("the key '" + key + "' for the second time");
            expect(':');
            found[key] = any(depth + 1);
            if (peek() != '}') expect(',');
        }
        return found;
    }

    Json list(int depth) {
        Json found = Json::array();
        expect('[');
        while (!take(']')) {
            found.push_back(any(depth + 1));
            if (peek() != ']') expect(',');
        }
        return found;
    }

    // Of one element only with a comma: without it these are just brackets.
    Json tuple(int depth) {
        Json found = Json::array();
        bool has_comma = false;
        expect('(');
        while (!take(')')) {
            found.push_back(any(depth + 1));
            if (peek() == ')') continue;
            expect(',');
            has_comma = true;
        }
        if (found.size() != 1 || has_comma) return found;
        Json only = std::move(found[0]);
        return only;
    }

    Json number() {
        const std::size_t first = at_;
        std::uint64_t value = 0;
        for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_) {
            const auto digit = static_cast<std::uint64_t>(text_[at_] - '0');
            if (__builtin_mul_overflow(value, std::uint64_t{10}, &value) ||
                __builtin_add_overflow(value, digit, &value))
                fail("a number of more than 64 bits");
        }
        if (at_ == first) fail("something that does not belong in a header");
        if (at_ < text_.size() && text_[at_] == 'L') ++at_;  // as Python 2 wrote it
        return value;
    }

    std::string text() {
        const char quote = text_[at_++];
        std::string found;
        for (;;) {
            if (at_ == text_.size() || text_[at_] == '\n') fail("a text that does not end");
            const char next = text_[at_++];
            if (next == quote) return found;
            if (next == '\\') {
                escape(found);
            } else {
                found += next;
            }
        }
    }

    void escape(std::string& into) {
        if (at_ == text_.size()) fail("a text that does not end");
        constexpr std::string_view letters = "\\'\"abfnrtv", meant = "\\'\"\a\b\f\n\r\t\v";
        const char letter = text_[at_++];
        if (const std::size_t known = letters.find(letter); known != std::string_view::npos) {
            into += meant[known];
            return;
        }
        const int digits = letter == 'x' ? 2 : letter == 'u' ? 4 : letter == 'U' ? 8 : 0;
        if (digits == 0) fail("an escape that Python does not have");
        std::uint32_t character = 0;
        for (int i = 0; i < digits; ++i) {
            constexpr std::string_view hexadecimal = "0123456789abcdef";
            const char digit = at_ < text_.size() ? text_[at_++] : ' ';
            const std::size_t value =
                hexadecimal.find(digit >= 'A' && digit <= 'F' ? static_cast<char>(digit + 32) : digit);
            if (value == std::string_view::npos) fail("an escape that does not end");
            character = character * 16 + static_cast<std::uint32_t>(value);
        }
        if (!append_utf8(into, character)) fail("a character that Unicode does not have");
    }

    std::string_view text_;
    std::size_t at_ = 0;
};

}  // namespace

Json parse_python_literal(std::string_view utf8) { return Parser(utf8).whole(); }

}  // namespace pmemcpy::exchange
