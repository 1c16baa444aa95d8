#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "library.hpp"

namespace mosiqs {

enum class Kind {
    equal,       // an attribute has this value
    between,     // or one in a range
    containing,  // the id has this text in it
    members,     // the objects under a group
    attributes,  // how many attributes a group has
};

struct Question {
    Kind kind = Kind::equal;
    std::string key;   // of an attribute
    Value value;       // equal
    double first = 0;  // between
    double last = 0;
    std::string text;  // of an id, or a group
};

/// Questions of one kind, and what the right answers are.
struct Questions {
    std::vector<Question> all;
    std::uint64_t expected = unknown;                      // how many each finds
    std::vector<std::vector<std::string>> expected_ids{};  // of the first ones, sorted

    static constexpr std::uint64_t unknown = ~std::uint64_t{0};
};

/// Of many small variables: `point`, `range` (of 100) or `substring`.
Questions questions_of_records(const std::string& what, std::uint64_t count, std::uint64_t seed);
/// Of the paper's Table I: `contains` (Q1), `members` (Q2) or `attributes` (Q3).
Questions questions_of_granules(const std::string& what, std::uint64_t files);
/// From a file: a line of JSON each, such as ["units", "K"] for a value, or ["name", "contains", "temp"].
/// Errors: std::runtime_error.
Questions questions_of_file(const std::string& path);

/// How many there are; where they are objects, their ids in `ids`, which was empty.
std::uint64_t ask(Library& library, const Question& question, std::vector<std::string>& ids);

struct Rate {
    std::uint64_t questions = 0;
    double seconds = 0;
    std::uint64_t found = 0;
    std::uint64_t compared = 0;     // so many answers were looked at before
    std::uint64_t fingerprint = 0;  // of their ids, the same for all libraries that find the same
    bool verified = false;
};

/// Asks them one after another, again and again, for so many seconds, and at least one. The first answers are
/// compared with what they should be, before the clock starts; how many there are is compared for all.
Rate ask_all(Library& library, const Questions& questions, double seconds);

}  // namespace mosiqs
