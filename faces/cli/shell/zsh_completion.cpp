#include <fmt/core.h>

#include <string_view>

#include "cli/shell/completion.hpp"

namespace pmemcpy::cli {

namespace {

constexpr const char* zsh_head = R"zsh(#compdef pmemcpy
# Completes the words of pmemcpy in zsh. Made by `pmemcpy completion zsh`.

# The ids in a pool, a component at a time.
_pmemcpy_ids_of() {
    local pool=${${(Q)1}/#\~\//$HOME/}
    local -a ids
    ids=(${(f)"$(${(Q)command} ls $pool 2>/dev/null)"})
    _multi_parts / ids
}

_pmemcpy_id() { _pmemcpy_ids_of $line[1] }

# A pool: a file, or in a namespace NAME: and NAME:x.
_pmemcpy_pool() {
    local -a names
    if [[ -n $PMEMCPY_ROOT && $PREFIX != */* ]]; then
        if [[ $PREFIX == *:* ]]; then
            names=($PMEMCPY_ROOT/${PREFIX%%:*}/*.pmem(N:t:r))
            names=(${names:#shared})
            compadd -p ${PREFIX%%:*}: -- $names
        else
            names=($PMEMCPY_ROOT/*(N/:t))
            compadd -S : -- $names
        fi
    fi
    _files -F '*.rt'
}

# A pool, or what is in it behind a colon.
_pmemcpy_place() {
    local pool=${PREFIX%%:*} in_space=${${PREFIX#*:}%%:*}
    if [[ -n $PMEMCPY_ROOT && $PREFIX == *:*:* && -e $PMEMCPY_ROOT/$pool/$in_space.pmem ]]; then
        compset -P 2 '*:'
        _pmemcpy_ids_of $pool:$in_space
    elif [[ -n $PMEMCPY_ROOT && $PREFIX == *:* && $pool != */* && ! -e $pool && -d $PMEMCPY_ROOT/$pool ]]; then
        compset -P 1 '*:'
        _pmemcpy_ids_of $pool:
    elif [[ $PREFIX == *:* && -e ${${(Q)pool}/#\~\//$HOME/} ]]; then
        compset -P 1 '*:'
        _pmemcpy_ids_of $pool
    else
        _pmemcpy_pool
    fi
}

_pmemcpy() {
    local curcontext=$curcontext command=$words[1] state line
    local -A opt_args
    local -a verbs
)zsh";

constexpr const char* zsh_behind = R"zsh(        esac
        ;;
    esac
}

if [[ $funcstack[1] == _pmemcpy ]]; then _pmemcpy "$@"; else compdef _pmemcpy pmemcpy; fi
)zsh";

/// In single quotes, with a backslash before what _arguments would take for its own.
std::string escaped(std::string_view text, std::string_view special) {
    std::string out;
    for (const char c : text) {
        if (c == '\'') {
            out += "'\\''";
            continue;
        }
        if (special.find(c) != std::string_view::npos) out += '\\';
        out += c;
    }
    return out;
}

std::string action_of(const Argument& argument) {
    switch (completes(argument)) {
        case Completes::nothing:
            return " ";
        case Completes::word: {
            std::string words;
            for (const std::string& word : words_of(argument)) words += (words.empty() ? "" : " ") + word;
            return "(" + words + ")";
        }
        case Completes::file:
            return "_pmemcpy_pool";
        case Completes::id:
            return "_pmemcpy_id";
        case Completes::place:
            return "_pmemcpy_place";
    }
    return " ";
}

/// As _arguments wants it: '(-o --output)'{-o,--output}'[Write a file]:OUTPUT:_files'.
std::string zsh_option_text(const Argument& option, std::string excludes) {
    std::string names;
    for (const std::string& name : option.names) {
        names += (names.empty() ? "" : ",") + name;
        excludes += (excludes.empty() ? "" : " ") + name;
    }
    const std::string name = option.names.size() > 1 ? "'{" + names + "}'" : names;
    const std::string value = option.is_flag() ? "" : fmt::format(":{}:{}", option.value, action_of(option));
    return fmt::format("'({}){}[{}]{}'", excludes, name, escaped(option.help, "[]:\\"), value);
}

std::string zsh_case_of(const VerbGrammar& verb) {
    std::string text = fmt::format("        {})\n            _arguments", verb.name);
    for (const Argument& option : verb.options) text += " \\\n                " + zsh_option_text(option, "");
    int place = 0;
    for (const Argument& argument : verb.arguments) {
        const std::string where =
            argument.repeats ? "*" : std::to_string(++place) + (argument.is_required ? "" : ":");
        text += fmt::format(" \\\n                '{}:{}:{}'", where, escaped(argument.value, ":\\"),
                            action_of(argument));
    }
    return text + "\n            ;;\n";
}

}  // namespace

std::string zsh_completion(const Grammar& grammar) {
    std::string text = zsh_head;
    text += "    verbs=(\n";
    for (const VerbGrammar& verb : grammar.verbs)
        text += fmt::format("        '{}:{}'\n", verb.name, escaped(verb.help, ":\\"));
    text += "    )\n    _arguments -C";
    for (const Argument& option : grammar.command.options)
        text += " \\\n        " + zsh_option_text(option, "- *");
    text +=
        " \\\n        '1: :->verb' \\\n        '*:: :->rest'\n    case $state in\n    verb) _describe verb "
        "verbs ;;\n"
        "    rest)\n        case $words[1] in\n";
    for (const VerbGrammar& verb : grammar.verbs) text += zsh_case_of(verb);
    return text + zsh_behind;
}

}  // namespace pmemcpy::cli
