#include "index/lexer.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <limits>
#include <pmemcpy/error.hpp>
#include <system_error>

namespace pmemcpy::index {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
// All of UTF-8 beyond ASCII are letters: attributes are called `größe` too.
bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           static_cast<unsigned char>(c) >= 0x80;
}

constexpr std::array<std::string_view, 17> signs = {"..", "==", "!=", "<=", ">=", "=", "<", ">", "~",
                                                    "(",  ")",  ",",  ".",  "+",  "-", "?", "@"};
struct Mistake {
    std::string_view sign;
    const char* advice;
};
constexpr std::array<Mistake, 6> mistakes = {{{"&&", "write `and`"},
                                              {"||", "write `or`"},
                                              {"<>", "write `!=`"},
                                              {"!", "write `not`"},
                                              {"&", "write `and`"},
                                              {"|", "write `or`"}}};

constexpr std::size_t usual_tokens = 8;  // of a query; of a key alone, in so many bytes, fewer
constexpr std::size_t bytes_of_token = 8;

class Lexer {
public:
    explicit Lexer(std::string_view query) : query_(query) {}

    std::vector<Token> run() {
        tokens_.reserve(std::min(usual_tokens, 2 + query_.size() / bytes_of_token));
        while (skip_space(), at_ < query_.size()) {
            const std::size_t begin = at_;
            Token token = one();
            token.begin = begin;
            token.end = at_;
            token.is_joined = !tokens_.empty() && tokens_.back().end == begin;
            tokens_.push_back(std::move(token));
        }
        Token end;
        end.begin = end.end = query_.size();
        tokens_.push_back(end);
        return std::move(tokens_);
    }

private:
    std::string_view rest() const { return query_.substr(at_); }
    void skip_space() { at_ = std::min(query_.find_first_not_of(" \t\r\n", at_), query_.size()); }

    Token one() {
        const char c = query_[at_];
        if (is_letter(c)) return word();
        if (is_digit(c)) return number();
        if (c == '"' || c == '\'') return text(c);
        for (const Mistake& mistake : mistakes) {
            if (rest().starts_with(mistake.sign) && !rest().starts_with("!="))
                refuse(query_, at_,
                       "there is no '" + std::string(mistake.sign) + "' here; " + mistake.advice);
        }
        for (const std::string_view sign : signs) {
            if (!rest().starts_with(sign)) continue;
            at_ += sign.size();
            return {Token::Kind::sign, std::string(sign)};
        }
        refuse(query_, at_, "a query has no such character");
    }

    Token word() {
        const std::size_t begin = at_;
        while (at_ < query_.size() && (is_letter(query_[at_]) || is_digit(query_[at_]))) ++at_;
        return {Token::Kind::word, std::string(query_.substr(begin, at_ - begin))};
    }

    std::size_t digits(std::size_t from) const {
        while (from < query_.size() && is_digit(query_[from])) ++from;
        return from;
    }

    Token number() {
        const bool is_member =
            !tokens_.empty() && tokens_.back().kind == Token::Kind::sign && tokens_.back().text == ".";
        std::size_t end = digits(at_);
        bool is_float = false;
        if (!is_member && end + 1 < query_.size() && query_[end] == '.' && is_digit(query_[end + 1])) {
            is_float = true;
            end = digits(end + 1);
        }
        if (!is_member && end < query_.size() && (query_[end] == 'e' || query_[end] == 'E')) {
            std::size_t exponent = end + 1;
            if (exponent < query_.size() && (query_[exponent] == '-' || query_[exponent] == '+')) ++exponent;
            if (exponent < query_.size() && is_digit(query_[exponent])) {
                is_float = true;
                end = digits(exponent);
            }
        }
        const std::string_view text = query_.substr(at_, end - at_);
        Token token{Token::Kind::number, std::string(text)};
        std::uint64_t whole = 0;
        double broken = 0;
        const char* last = text.data() + text.size();
        if (!is_float && std::from_chars(text.data(), last, whole).ec == std::errc{}) {
            constexpr auto most_signed = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
            token.value = whole <= most_signed ? Literal(static_cast<std::int64_t>(whole)) : Literal(whole);
        } else if (std::from_chars(text.data(), last, broken).ec == std::errc{}) {
            token.value = Literal(broken);
        } else {
            refuse(query_, at_, "no number of 64 bits is as large or as small");
        }
        at_ = end;
        return token;
    }

    Token text(char quote) {
        const std::size_t begin = at_++;
        std::string meant;
        for (;; ++at_) {
            if (at_ >= query_.size())
                refuse(query_, begin, "this text has no end; its second quote is missing");
            const char c = query_[at_];
            if (c == quote) break;
            if (c != '\\') {
                meant += c;
                continue;
            }
            ++at_;
            const char escaped = at_ < query_.size() ? query_[at_] : '\0';
            if (escaped == 'n') {
                meant += '\n';
            } else if (escaped == 't') {
                meant += '\t';
            } else if (escaped == '"' || escaped == '\'' || escaped == '\\') {
                meant += escaped;
            } else {  // the \ of a glob, say
                meant += '\\';
                --at_;
            }
        }
        ++at_;
        return {Token::Kind::text, std::move(meant)};
    }

    std::string_view query_;
    std::size_t at_ = 0;
    std::vector<Token> tokens_;
};

std::size_t characters(std::string_view text) {
    return static_cast<std::size_t>(std::count_if(
        text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

}  // namespace

std::vector<Token> tokens_of(std::string_view query) { return Lexer(query).run(); }

void refuse(std::string_view query, std::size_t at, const std::string& what, Code code) {
    const std::size_t column = characters(query.substr(0, at));
    std::string line(query);
    std::replace_if(
        line.begin(), line.end(), [](char c) { return c == '\n' || c == '\t' || c == '\r'; }, ' ');
    throw Error(code, "in the query, column " + std::to_string(column + 1) + ": " + what + "\n  " + line +
                          "\n  " + std::string(column, ' ') + "^");
}

std::string in_quotes(std::string_view text) {
    std::string out = "\"";
    for (const char c : text) {
        if (c == '\n') {
            out += "\\n";
        } else if (c == '\t') {
            out += "\\t";
        } else {
            if (c == '"' || c == '\\') out += '\\';
            out += c;
        }
    }
    return out += '"';
}

bool is_word(std::string_view text) {
    return !text.empty() && !is_digit(text.front()) &&
           std::all_of(text.begin(), text.end(), [](char c) { return is_letter(c) || is_digit(c); });
}

}  // namespace pmemcpy::index
