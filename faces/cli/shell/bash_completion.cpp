#include <fmt/core.h>

#include "cli/shell/completion.hpp"

namespace pmemcpy::cli {

namespace {

// What does not depend on the grammar. The line is cut into words here and not by bash, for which a colon parts words; but
// what is offered has to begin where bash's last word begins.
constexpr const char* bash_head =
    R"bash(# Completes the words of pmemcpy in bash. Made by `pmemcpy completion bash`.

# Offers the ids in pool $1 that begin with $2, up to the next /; behind the prefix $3.
_pmemcpy_ids() {
    local id rest pool=${1/#\~\//$HOME/}
    local -A seen=()
    while IFS= read -r id; do
        [[ $id == "$2"* ]] || continue
        rest=${id#"$2"}
        [[ $rest != */* ]] || id=$2${rest%%/*}/
        seen[$id]=1
    done < <("${words[0]}" ls "$pool" 2>/dev/null)
    for id in "${!seen[@]}"; do
        [[ $id != */ ]] || compopt -o nospace 2>/dev/null
        printf -v id %q "$id"
        COMPREPLY+=("$3$id")
    done
}

# Offers the pools of namespaces that begin with $1: NAME: and NAME:x. With $2 behind each of the latter.
_pmemcpy_spaces() {
    local pool name
    [[ ${PMEMCPY_ROOT-} && $1 != */* ]] || return
    if [[ $1 != *:* ]]; then
        for pool in "$PMEMCPY_ROOT/$1"*/; do
            [[ -d $pool ]] || continue
            name=${pool%/}
            COMPREPLY+=("${name##*/}:")
            compopt -o nospace 2>/dev/null
        done
        return
    fi
    for pool in "$PMEMCPY_ROOT/${1%%:*}/${1#*:}"*.pmem; do
        name=${pool##*/}
        [[ ! -e $pool || $name == shared.pmem ]] || COMPREPLY+=("${1%%:*}:${name%.pmem}${2-}")
    done
}

_pmemcpy_files() {
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -f -X '*.rt' -- "${1/#\~\//$HOME/}")
    _pmemcpy_spaces "$1"
}

# A pool, or what is in it behind a colon.
_pmemcpy_place() {
    local pool=${1%%:*} pool_in_space=${1#*:}
    pool_in_space=${pool_in_space%%:*}
    while [[ $pool != "$1" && ! -e ${pool/#\~\//$HOME/} ]]; do
        local rest=${1#"$pool":}
        [[ $rest == *:* ]] || break
        pool+=:${rest%%:*}
    done
    if [[ $1 == "$pool":* && -e ${pool/#\~\//$HOME/} ]]; then
        _pmemcpy_ids "$pool" "${1#"$pool":}" "$pool:"
    elif [[ ${PMEMCPY_ROOT-} && $1 == *:*:* && -e $PMEMCPY_ROOT/${1%%:*}/$pool_in_space.pmem ]]; then
        _pmemcpy_ids "${1%%:*}:$pool_in_space" "${1#*:*:}" "${1%%:*}:$pool_in_space:"
    elif [[ ${PMEMCPY_ROOT-} && $1 == *:* && $1 != */*:* && -d $PMEMCPY_ROOT/${1%%:*} ]]; then
        _pmemcpy_spaces "$1" :
        _pmemcpy_ids "${1%%:*}:" "${1#*:}" "${1%%:*}:"
    else
        _pmemcpy_files "$1"
    fi
}

_pmemcpy_words() {
    mapfile -t COMPREPLY < <(compgen -W "$1" -- "$2")
}

_pmemcpy() {
    local line=${COMP_LINE:0:COMP_POINT} words word options='' valued='' verb='' kind='' last=''
    local -a places=() kinds=()
    # shellcheck disable=SC2162 # a backslash before a space keeps a word together
    read -a words <<<"$line"
    [[ $line != *[[:space:]] ]] || words+=('')
    local cur=${words[-1]} previous=''
    COMPREPLY=()
    for word in "${words[@]:1:${#words[@]}-2}"; do
        if [[ $previous && " $valued " == *" $previous "* ]]; then
            previous=''
            continue
        fi
        previous=$word
        [[ $word != -* ]] || continue
        if [[ $verb ]]; then
            places+=("$word")
            continue
        fi
        verb=$word
        case $verb in
)bash";

constexpr const char* behind = R"bash(        esac
    done
    if [[ ! $verb ]]; then
        _pmemcpy_words "$verbs $global" "$cur"
        return
    fi
    if [[ $previous && " $valued " == *" $previous "* ]]; then
        [[ " $files " != *" $previous "* ]] || _pmemcpy_files "$cur"
        return
    fi
    if [[ $cur == -* ]]; then
        _pmemcpy_words "$options" "$cur"
        return
    fi
    if ((${#places[@]} < ${#kinds[@]})); then kind=${kinds[${#places[@]}]}; else kind=$last; fi
    case $kind in
    file) _pmemcpy_files "$cur" ;;
    id) _pmemcpy_ids "${places[0]}" "$cur" '' ;;
    place) _pmemcpy_place "$cur" ;;
    word:*) _pmemcpy_words "${kind#word:}" "$cur" ;;
    esac
    if [[ $COMP_WORDBREAKS == *:* && $cur == *:* ]]; then
        local begun=${cur%"${cur##*:}"}
        COMPREPLY=("${COMPREPLY[@]#"$begun"}")
    fi
}

complete -F _pmemcpy pmemcpy
)bash";

std::string names_of(const std::vector<Argument>& options, bool (*wanted)(const Argument&)) {
    std::string names;
    for (const Argument& option : options) {
        if (!wanted(option)) continue;
        for (const std::string& name : option.names) names += (names.empty() ? "" : " ") + name;
    }
    return names;
}

bool any(const Argument&) { return true; }
bool has_value(const Argument& option) { return !option.is_flag(); }
bool has_file(const Argument& option) { return !option.is_flag() && completes(option) == Completes::file; }

std::string kind_of(const Argument& argument) {
    switch (completes(argument)) {
        case Completes::nothing:
            return "none";
        case Completes::word: {
            std::string kind = "word:";
            for (const std::string& word : words_of(argument)) kind += word + " ";
            kind.pop_back();
            return "'" + kind + "'";
        }
        case Completes::file:
            return "file";
        case Completes::id:
            return "id";
        case Completes::place:
            return "place";
    }
    return "none";
}

std::string case_of(const VerbGrammar& verb) {
    std::string kinds;
    std::string last;
    for (const Argument& argument : verb.arguments) {
        kinds += (kinds.empty() ? "" : " ") + kind_of(argument);
        if (argument.repeats) last = kind_of(argument);
    }
    return fmt::format(
        "        {})\n"
        "            options='{}' valued='{}' files='{}'\n"
        "            kinds=({}) last={}\n"
        "            ;;\n",
        verb.name, names_of(verb.options, any), names_of(verb.options, has_value),
        names_of(verb.options, has_file), kinds, last.empty() ? "none" : last);
}

}  // namespace

std::string bash_completion(const Grammar& grammar) {
    std::string verbs;
    std::string cases;
    for (const VerbGrammar& verb : grammar.verbs) {
        verbs += (verbs.empty() ? "" : " ") + verb.name;
        cases += case_of(verb);
    }
    std::string text = bash_head;
    const std::string place = "    local -a places=()";
    text.insert(text.find(place), fmt::format("    local files='' verbs='{}'\n    local global='{}'\n", verbs,
                                              names_of(grammar.command.options, any)));
    return text + cases + behind;
}

}  // namespace pmemcpy::cli
