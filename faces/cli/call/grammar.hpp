#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace pmemcpy::cli {

/// What a verb takes, as the parser knows it.
struct Argument {
    std::vector<std::string> names;  ///< -o, --output; empty for one that is told by its place
    std::string value;               ///< what stands for the value in --help; empty for a flag
    std::string help;
    bool is_required = false;
    bool repeats = false;

    bool is_flag() const noexcept { return value.empty(); }
};

struct VerbGrammar {
    std::string name;
    std::string help;   ///< one sentence, without its dot
    std::string notes;  ///< paragraphs
    std::vector<Argument> options;
    std::vector<Argument> arguments;  ///< told by their places, in this order
};

/// The whole command. Completion and manual are made from it, so they know what the parser knows.
struct Grammar {
    VerbGrammar command;
    std::vector<VerbGrammar> verbs;
};

/// Of the parser with all its verbs, but for the hidden ones (verb.cpp).
Grammar grammar_of(const CLI::App& command);

/// What may stand for an argument.
enum class Completes {
    nothing,  ///< that a shell could know
    word,     ///< one of the words of its value, a|b|c
    file,
    id,     ///< in the pool that the verb's first argument is
    place,  ///< a file, or pool:id
};
Completes completes(const Argument& argument);

/// The words that a value of the form a|b|c allows.
std::vector<std::string> words_of(const Argument& argument);

}  // namespace pmemcpy::cli
