#include "cli/shell/manual.hpp"

#include <fmt/core.h>

#include <sstream>
#include <string_view>

namespace pmemcpy::cli {

namespace {

/// Text as roff prints it: what a reader may copy has the hyphens of a keyboard.
std::string escaped(std::string_view text) {
    std::string out;
    for (const char c : text) {
        switch (c) {
            case '\\':
                out += "\\e";
                break;
            case '-':
                out += "\\-";
                break;
            case '^':
                out += "\\(ha";
                break;
            case '~':
                out += "\\(ti";
                break;
            default:
                out += c;
        }
    }
    if (!out.empty() && (out[0] == '.' || out[0] == '\'')) out.insert(0, "\\&");
    return out;
}

std::string bold(std::string_view text) { return "\\fB" + escaped(text) + "\\fR"; }
std::string italic(std::string_view text) { return "\\fI" + escaped(text) + "\\fR"; }

/// Paragraphs; lines that begin with a space stay as they are.
std::string paragraphs(const std::string& notes) {
    std::string out;
    std::istringstream text(notes);
    bool is_kept = false;
    const auto keep = [&](bool wanted) {
        if (wanted != is_kept) out += wanted ? ".nf\n" : ".fi\n";
        is_kept = wanted;
    };
    for (std::string line; std::getline(text, line);) {
        if (line.empty()) {
            keep(false);
            out += ".PP\n";
        } else {
            keep(line[0] == ' ');
            out += escaped(line) + "\n";
        }
    }
    keep(false);
    return out;
}

std::string heading(const std::string& name, const Edition& edition) {
    return fmt::format(
        ".\\\" Made by `pmemcpy man`.\n.TH \"{}\" \"1\" \"{}\" \"pmemcpy {}\" \"User Commands\"\n", name,
        edition.date, edition.version);
}

std::string names_of(const Argument& argument) {
    if (argument.names.empty()) return italic(argument.value);
    std::string text;
    for (const std::string& name : argument.names) text += (text.empty() ? "" : ", ") + bold(name);
    return argument.is_flag() ? text : text + " " + italic(argument.value);
}

std::string list_of(const std::vector<Argument>& arguments) {
    std::string text;
    for (const Argument& argument : arguments) {
        text += ".TP\n" + names_of(argument) + "\n" + escaped(argument.help) + ".\n";
    }
    return text;
}

std::string synopsis(const VerbGrammar& verb) {
    std::string text = ".SH SYNOPSIS\n" + bold("pmemcpy " + verb.name) + " [" + italic("OPTIONS") + "]";
    for (const Argument& argument : verb.arguments) {
        const std::string name = italic(argument.value) + (argument.repeats ? " .\\|.\\|." : "");
        text += argument.is_required ? " " + name : " [" + name + "]";
    }
    return text + "\n";
}

}  // namespace

std::string manual_of_command(const Grammar& grammar, const Edition& edition) {
    std::string text = heading("PMEMCPY", edition);
    text += ".SH NAME\npmemcpy \\- look into pMEMCPY pools and tend them\n.SH SYNOPSIS\n" + bold("pmemcpy") +
            " " + italic("VERB") + " [" + italic("OPTIONS") + "] " + italic("POOL") + " .\\|.\\|.\n";
    text +=
        ".SH DESCRIPTION\n"
        "A pool is a file, or a folder, in which programs keep arrays and values under names, for any number "
        "of "
        "processes at once.\n"
        "Each verb has a manual of its own, and tells its arguments with "
        "\\fB\\-\\-help\\fR.\n"
        "Verbs that only look need no permission to write.\n.SH VERBS\n";
    for (const VerbGrammar& verb : grammar.verbs) {
        text += ".TP\n\\fBpmemcpy\\-" + escaped(verb.name) + "\\fR(1)\n" + escaped(verb.help) + ".\n";
    }
    text += ".SH OPTIONS\n" + list_of(grammar.command.options);
    text +=
        ".SH ENVIRONMENT\n.TP\n\\fBPMEMCPY_ROOT\\fR\nThe directory that namespaces lie in: see "
        "\\fBpmemcpy\\-ns\\fR(1).\n.TP\n\\fBNO_COLOR\\fR\nIf it is set and not empty, nothing is printed in "
        "colours.\n"
        ".TP\n\\fBTERM\\fR\nIf it is \\fIdumb\\fR or not set, neither.\n"
        ".TP\n\\fBLC_ALL\\fR, \\fBLC_CTYPE\\fR, \\fBLANG\\fR\nIf the first of them that is set names "
        "UTF\\-8, "
        "\\fBpmemcpy\\-plot\\fR(1) draws with more characters than those of ASCII.\n";
    return text + ".SH NOTES\n" + paragraphs(grammar.command.notes);
}

std::string manual_of_verb(const VerbGrammar& verb, const Edition& edition) {
    std::string upper = "PMEMCPY-" + verb.name;
    for (char& c : upper) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    std::string text = heading(upper, edition);
    text +=
        ".SH NAME\npmemcpy\\-" + escaped(verb.name) + " \\- " + escaped(verb.help) + "\n" + synopsis(verb);
    text += ".SH DESCRIPTION\n" + escaped(verb.help) + ".\n";
    if (!verb.notes.empty()) text += ".PP\n" + paragraphs(verb.notes);
    if (!verb.arguments.empty()) text += ".SH ARGUMENTS\n" + list_of(verb.arguments);
    text += ".SH OPTIONS\n" + list_of(verb.options);
    return text + ".SH SEE ALSO\n\\fBpmemcpy\\fR(1), which has the exit statuses\n";
}

}  // namespace pmemcpy::cli
