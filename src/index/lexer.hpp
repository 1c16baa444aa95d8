#pragma once

#include <cstddef>
#include <pmemcpy/query.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace pmemcpy::index {

struct Token {
    enum class Kind { word, text, number, sign, end };
    Kind kind = Kind::end;
    std::string text{};     // of a word or sign, or what a text in quotes means
    Literal value{false};   // of a number
    std::size_t begin = 0;  // in the query, in bytes
    std::size_t end = 0;
    bool is_joined = false;  // nothing parts it from the token before
};

/// The words, texts, numbers and signs of a query; last one of Kind::end.
/// Errors: invalid_argument, as refuse().
std::vector<Token> tokens_of(std::string_view query);

/// "column 9: WHAT", the query and a mark below it. Columns count characters. Errors: invalid_argument or `code`, always.
[[noreturn]] void refuse(std::string_view query, std::size_t at, const std::string& what,
                         Code code = Code::invalid_argument);

/// In quotes, as a query has texts.
std::string in_quotes(std::string_view text);
/// Whether it can stand in a query without quotes: letters, digits and _, no digit first.
bool is_word(std::string_view text);

}  // namespace pmemcpy::index
