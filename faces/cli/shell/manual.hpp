#pragma once

#include <string>

#include "cli/call/grammar.hpp"

namespace pmemcpy::cli {

/// What the head and the foot of a page say.
struct Edition {
    std::string version;
    std::string date;
};

/// pmemcpy(1): what the command is, and its verbs; as roff with the macros of man(7).
std::string manual_of_command(const Grammar& grammar, const Edition& edition);
/// pmemcpy-VERB(1).
std::string manual_of_verb(const VerbGrammar& verb, const Edition& edition);

}  // namespace pmemcpy::cli
