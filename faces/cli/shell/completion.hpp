#pragma once

#include <string>

#include "cli/call/grammar.hpp"

namespace pmemcpy::cli {

/// What a shell reads to complete the words of the command: verbs, options, pools as files, and the ids in a pool, for
/// which it runs `pmemcpy ls`, a component of an id at a time.
std::string bash_completion(const Grammar& grammar);
std::string zsh_completion(const Grammar& grammar);
std::string fish_completion(const Grammar& grammar);

}  // namespace pmemcpy::cli
