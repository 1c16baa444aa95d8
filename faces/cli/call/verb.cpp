#include <CLI/CLI.hpp>
#include <cctype>
#include <cstdlib>
#include <set>
#include <sstream>
#include <utility>

#include "cli/call/grammar.hpp"
#include "cli/call/invocation.hpp"
#include "cli/call/mistaken.hpp"

namespace pmemcpy::cli {

namespace {

// CLI11 takes an argument in brackets for a list of several where several are allowed, and an id or a glob may well be in
// brackets. So such a one gets a character behind it that no argument can have, until it is where it belongs.
constexpr char guard = '\0';

std::string guarded(std::string argument) {
    if (!argument.empty() && argument.front() == '[' && argument.back() == ']') argument += guard;
    // And a negative number is no option.
    char* end = nullptr;
    if (argument.size() > 1 && argument.front() == '-') std::strtod(argument.c_str(), &end);
    if (end != nullptr && *end == '\0' && end != argument.c_str()) argument.insert(argument.begin(), guard);
    return argument;
}

std::string unguarded(std::string argument) {
    std::erase(argument, guard);
    return argument;
}

/// --box BOX says more than --box TEXT; of a positional argument the name says it all.
void name_value(CLI::Option* option) {
    std::string name = option->get_lnames().empty() ? "" : option->get_lnames()[0];
    for (char& c : name) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    option->type_name(name);
}

/// In lines that a terminal shows whole; those that begin with a space stay as they are.
std::string wrapped(const std::string& text) {
    constexpr std::size_t widest = 100;
    std::string out;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        while (line.size() > widest && line[0] != ' ') {
            const std::size_t at = line.rfind(' ', widest);
            if (at == std::string::npos) break;
            out += line.substr(0, at) + "\n";
            line.erase(0, at + 1);
        }
        out += line + "\n";
    }
    return out;
}

template <class Into>
CLI::Option* add_text(CLI::App& app, const char* name, Into& into, const char* help) {
    CLI::Option* option = app.add_option(name, into, help)->transform(unguarded);
    name_value(option);
    return option;
}

Argument argument_of(const CLI::Option& option) {
    Argument argument;
    for (const std::string& name : option.get_snames()) argument.names.push_back("-" + name);
    for (const std::string& name : option.get_lnames()) argument.names.push_back("--" + name);
    if (option.get_items_expected_max() > 0)
        argument.value = option.get_positional() ? option.get_name(true) : option.get_type_name();
    argument.help = option.get_description();
    argument.is_required = option.get_required();
    argument.repeats = option.get_items_expected_max() > 1;
    return argument;
}

VerbGrammar verb_of(const CLI::App& app) {
    VerbGrammar verb;
    verb.name = app.get_name();
    verb.help = app.get_description();
    verb.notes = app.get_footer();
    for (const CLI::Option* option : app.get_options()) {
        (option->get_positional() ? verb.arguments : verb.options).push_back(argument_of(*option));
    }
    return verb;
}

}  // namespace

void parse(CLI::App& command, int argc, const char* const* argv) {
    std::vector<std::string> arguments;  // as CLI11 wants them: the last one first
    for (int i = argc - 1; i > 0; --i) arguments.push_back(guarded(argv[i]));
    command.parse(std::move(arguments));
}

void add_under(const char* heading, void (*add)(CLI::App&, Invocation&), CLI::App& command,
               Invocation& invocation) {
    const std::size_t before = command.get_subcommands({}).size();
    add(command, invocation);
    const std::vector<CLI::App*> verbs = command.get_subcommands({});
    for (std::size_t i = before; i < verbs.size(); ++i) {
        if (!verbs[i]->get_group().empty()) verbs[i]->group(heading);
    }
}

std::string advice_after(const CLI::App& command, const std::string& problem) {
    const std::vector<CLI::App*> given = command.get_subcommands();
    if (!given.empty()) return problem + "; `pmemcpy " + given.front()->get_name() + " --help` tells more";
    const std::vector<std::string> strange = command.remaining();
    if (strange.empty() || strange.front().front() == '-') return problem + "; `pmemcpy --help` tells more";
    std::set<std::string> verbs;
    for (const CLI::App* verb : command.get_subcommands({})) verbs.insert(verb->get_name());
    return "there is no verb '" + strange.front() + "': " + advice_on(strange.front(), verbs);
}

Grammar grammar_of(const CLI::App& command) {
    Grammar grammar;
    grammar.command = verb_of(command);
    for (const CLI::App* verb : command.get_subcommands({})) {
        if (!verb->get_group().empty()) grammar.verbs.push_back(verb_of(*verb));
    }
    return grammar;
}

Verb::Verb(CLI::App& command, Invocation& invocation, const char* name, const char* help)
    : app_(*command.add_subcommand(name, help)), invocation_(invocation) {}

Verb& Verb::needs(const char* name, std::string& into, const char* help) {
    add_text(app_, name, into, help)->required();
    return *this;
}

Verb& Verb::needs(const char* name, std::vector<std::string>& into, const char* help) {
    add_text(app_, name, into, help)->required();
    return *this;
}

Verb& Verb::takes(const char* name, std::string& into, const char* help) {
    add_text(app_, name, into, help);
    return *this;
}

Verb& Verb::takes(const char* name, std::optional<std::string>& into, const char* help) {
    add_text(app_, name, into, help);
    return *this;
}

Verb& Verb::takes(const char* name, std::optional<std::uint64_t>& into, const char* help) {
    name_value(app_.add_option(name, into, help));
    return *this;
}

Verb& Verb::takes(const char* name, bool& into, const char* help) {
    app_.add_flag(name, into, help);
    return *this;
}

Verb& Verb::takes(const char* name, std::vector<std::string>& into, const char* help) {
    add_text(app_, name, into, help);
    return *this;
}

Verb& Verb::takes(const char* name, std::uint64_t& into, const char* help) {
    name_value(app_.add_option(name, into, help));
    return *this;
}

Verb& Verb::takes(const char* name, double& into, const char* help) {
    name_value(app_.add_option(name, into, help));
    return *this;
}

Verb& Verb::takes_one_of(const char* name, std::string& into, std::vector<std::string> choices,
                         const char* help) {
    add_text(app_, name, into, help)->check(CLI::IsMember(std::move(choices)));
    return *this;
}

Verb& Verb::tells(const char* text) {
    app_.footer(wrapped(text));
    return *this;
}

Verb& Verb::answers_with_one() {
    one_is_an_answer_ = true;
    return *this;
}

Verb& Verb::takes_json(const char* help, const char* excludes) {
    CLI::Option* json = app_.add_flag("--json", invocation_.json, help);
    if (excludes != nullptr) json->excludes(app_.get_option(excludes));
    return *this;
}

Verb& Verb::is_hidden() {
    app_.group("");
    return *this;
}

void Verb::runs(std::function<int(bool json)> run) {
    Invocation& invocation = invocation_;
    app_.callback([&invocation, one_is_an_answer = one_is_an_answer_, run = std::move(run)] {
        invocation.one_is_an_answer = one_is_an_answer;
        invocation.run = [&invocation, run] { return run(invocation.json); };
    });
}

}  // namespace pmemcpy::cli
