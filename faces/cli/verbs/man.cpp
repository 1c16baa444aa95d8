#include <fmt/core.h>

#include <algorithm>
#include <memory>

#include "cli/call/exit_code.hpp"
#include "cli/call/invocation.hpp"
#include "cli/shell/manual.hpp"
#include "cli/terminal/sink.hpp"

namespace pmemcpy::cli {

namespace {

struct Arguments {
    std::string verb;
    std::optional<std::string> folder;
};

void write(const std::string& path, const std::string& text) {
    Sink sink(path);
    sink.write(text);
    sink.finish();
}

int man(const Arguments& arguments, const Grammar& grammar) {
    const Edition edition{PMEMCPY_VERSION, PMEMCPY_DATE};
    if (arguments.folder) {
        if (!arguments.verb.empty())
            throw Error(Code::invalid_argument,
                        "man --into writes the manuals of all verbs, not that of one");
        write(*arguments.folder + "/pmemcpy.1", manual_of_command(grammar, edition));
        for (const VerbGrammar& verb : grammar.verbs)
            write(fmt::format("{}/pmemcpy-{}.1", *arguments.folder, verb.name),
                  manual_of_verb(verb, edition));
        return exit_ok;
    }
    if (arguments.verb.empty()) {
        write("", manual_of_command(grammar, edition));
        return exit_ok;
    }
    const auto verb = std::find_if(grammar.verbs.begin(), grammar.verbs.end(),
                                   [&](const VerbGrammar& its) { return its.name == arguments.verb; });
    if (verb == grammar.verbs.end())
        throw Error(Code::not_found,
                    fmt::format("there is no verb '{}'; pmemcpy --help lists them", arguments.verb));
    write("", manual_of_verb(*verb, edition));
    return exit_ok;
}

}  // namespace

void add_man(CLI::App& command, Invocation& invocation) {
    const auto arguments = std::make_shared<Arguments>();
    Verb(command, invocation, "man", "Print a manual page, for man -l")
        .takes("VERB", arguments->verb, "The verb (default: the command)")
        .takes("--into", arguments->folder, "Write the manuals of all into this folder")
        .is_hidden()
        .runs([arguments, &command](bool) { return man(*arguments, grammar_of(command)); });
}

}  // namespace pmemcpy::cli
