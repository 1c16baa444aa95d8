#include <fmt/core.h>

#include <set>
#include <string_view>

#include "cli/shell/completion.hpp"

namespace pmemcpy::cli {

namespace {

constexpr const char* fish_head =
    R"fish(# Completes the words of pmemcpy in fish. Made by `pmemcpy completion fish`.

# The words before the cursor that are no options and no values of options: the verb and its arguments.
function __pmemcpy_words
    set -l is_value 0
    set -l words (commandline -opc)
    for word in $words[2..-1]
        if test $is_value = 1
            set is_value 0
        else if contains -- $word $__pmemcpy_valued
            set is_value 1
        else if not string match -q -- '-*' $word
            printf '%s\n' $word
        end
    end
end

# Whether the verb is $argv[1] and, if they are given, $argv[2] words are there: with $argv[3], or more.
function __pmemcpy_at
    set -l words (__pmemcpy_words)
    test (count $words) -gt 0; or return 1
    test $words[1] = $argv[1]; or return 1
    switch (count $argv)
        case 1
            return 0
        case 2
            test (count $words) -eq $argv[2]
        case 3
            test (count $words) -ge $argv[2]
    end
end

function __pmemcpy_has_no_verb
    test (count (__pmemcpy_words)) -eq 0
end

# The ids in a pool.
function __pmemcpy_ls
    set -l command (commandline -opc)[1]
    $command ls (string replace -r '^~/' $HOME/ -- $argv[1]) 2>/dev/null
end

function __pmemcpy_ids
    set -l words (__pmemcpy_words)
    __pmemcpy_ls $words[2]
end

# The pools of namespaces: NAME: and NAME:x. With $argv[1] behind the latter.
function __pmemcpy_spaces
    set -q PMEMCPY_ROOT; or return
    for space in $PMEMCPY_ROOT/*/
        set -l name (basename $space)
        printf '%s:\n' $name
        for pool in $space*.pmem
            string match -q -- shared.pmem (basename $pool)
            or printf '%s:%s%s\n' $name (basename $pool .pmem) $argv[1]
        end
    end
end

# A pool, or what is in it behind a colon.
function __pmemcpy_places
    set -l token (commandline -ct)
    set -l pool (string replace -r ':.*' '' -- $token)
    if string match -q -- '*:*' $token; and test -e (string replace -r '^~/' $HOME/ -- $pool)
        for id in (__pmemcpy_ls $pool)
            printf '%s\n' $pool:$id
        end
    else if string match -q -- '*:*' $token; and set -q PMEMCPY_ROOT; and test -d $PMEMCPY_ROOT/$pool
        set -l parts (string split : -- $token)
        if test (count $parts) -gt 2; and test -e $PMEMCPY_ROOT/$pool/$parts[2].pmem
            set pool $pool:$parts[2]
        else
            set pool $pool:
            __pmemcpy_spaces :
        end
        for id in (__pmemcpy_ls $pool)
            printf '%s\n' (string replace -r ':$' '' -- $pool):$id
        end
    else
        __pmemcpy_spaces
        __fish_complete_path $token
    end
end

)fish";

/// In single quotes.
std::string in_quotes(std::string_view text) {
    std::string out = "'";
    for (const char c : text) {
        if (c == '\'' || c == '\\') out += '\\';
        out += c;
    }
    return out + "'";
}

/// What fish is to offer: options of `complete`.
std::string offer_of(const Argument& argument) {
    switch (completes(argument)) {
        case Completes::nothing:
            return "";
        case Completes::word: {
            std::string words;
            for (const std::string& word : words_of(argument)) words += (words.empty() ? "" : " ") + word;
            return " -a " + in_quotes(words);
        }
        case Completes::file:
            return " -F -a '(__pmemcpy_spaces)'";
        case Completes::id:
            return " -a '(__pmemcpy_ids)'";
        case Completes::place:
            return " -a '(__pmemcpy_places)'";
    }
    return "";
}

std::string option_text(const Argument& option, const std::string& condition) {
    std::string text = "complete -c pmemcpy -n " + in_quotes(condition);
    for (const std::string& name : option.names)
        text += name.rfind("--", 0) == 0 ? " -l " + name.substr(2) : " -s " + name.substr(1);
    if (!option.is_flag()) text += " -r" + offer_of(option);
    return text + " -d " + in_quotes(option.help) + "\n";
}

std::string lines_of(const VerbGrammar& verb) {
    std::string text;
    for (const Argument& option : verb.options) text += option_text(option, "__pmemcpy_at " + verb.name);
    int words = 1;
    for (const Argument& argument : verb.arguments) {
        const std::string offer = offer_of(argument);
        if (!offer.empty()) {
            text += fmt::format("complete -c pmemcpy -n '__pmemcpy_at {} {}{}'{}\n", verb.name, words,
                                argument.repeats ? " more" : "", offer);
        }
        ++words;
    }
    return text;
}

}  // namespace

std::string fish_completion(const Grammar& grammar) {
    std::set<std::string> valued;
    for (const VerbGrammar& verb : grammar.verbs) {
        for (const Argument& option : verb.options) {
            if (!option.is_flag()) valued.insert(option.names.begin(), option.names.end());
        }
    }
    std::string text = fish_head;
    text += "set -g __pmemcpy_valued";
    for (const std::string& name : valued) text += " " + name;
    text += "\ncomplete -c pmemcpy -f\n";
    for (const Argument& option : grammar.command.options)
        text += option_text(option, "__pmemcpy_has_no_verb");
    for (const VerbGrammar& verb : grammar.verbs) {
        text += fmt::format("complete -c pmemcpy -n __pmemcpy_has_no_verb -a {} -d {}\n", verb.name,
                            in_quotes(verb.help));
    }
    for (const VerbGrammar& verb : grammar.verbs) text += lines_of(verb);
    return text;
}

}  // namespace pmemcpy::cli
