#include "cli/call/grammar.hpp"

#include <gtest/gtest.h>

#include "cli/shell/completion.hpp"
#include "cli/shell/manual.hpp"

using namespace pmemcpy::cli;

namespace {

Grammar made_up() {
    const Argument help{{"-h", "--help"}, "", "Print this [help]: it's short", false, false};
    VerbGrammar fetch;
    fetch.name = "fetch";
    fetch.help = "Fetch a thing's parts";
    fetch.notes = "One paragraph.\n\n  as it is\n\n.a line with a dot\n";
    fetch.options = {help, {{"-o", "--output"}, "OUTPUT", "Write to a file", false, false}};
    fetch.arguments = {{{}, "POOL", "The pool", true, false}, {{}, "ID", "What to fetch", false, true}};
    return {{"pmemcpy", "Looks", "Exit status:\n  0  done\n", {help}, {}}, {fetch}};
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST(cli_grammar, tells_by_names_what_completes_an_argument) {
    EXPECT_EQ(completes({{}, "POOL", "", true, false}), Completes::file);
    EXPECT_EQ(completes({{}, "ID", "", true, false}), Completes::id);
    EXPECT_EQ(completes({{}, "PLACE", "", true, true}), Completes::place);
    EXPECT_EQ(completes({{"--box"}, "BOX", "", false, false}), Completes::nothing);
    const Argument shells{{}, "bash|zsh|fish", "", true, false};
    EXPECT_EQ(completes(shells), Completes::word);
    EXPECT_EQ(words_of(shells), (std::vector<std::string>{"bash", "zsh", "fish"}));
}

TEST(cli_grammar, is_all_in_the_scripts) {
    for (const auto script : {bash_completion, zsh_completion, fish_completion}) {
        const std::string text = script(made_up());
        EXPECT_TRUE(has(text, "fetch")) << text;
        EXPECT_TRUE(has(text, "output")) << text;
        EXPECT_TRUE(has(text, "help")) << text;
    }
    EXPECT_TRUE(has(bash_completion(made_up()), "kinds=(file id) last=id"));
    EXPECT_TRUE(has(zsh_completion(made_up()), "it'\\''s short"));
    EXPECT_TRUE(has(zsh_completion(made_up()), "\\[help\\]\\: it"));
    EXPECT_TRUE(has(fish_completion(made_up()), "it\\'s short"));
}

TEST(cli_grammar, is_a_manual) {
    const std::string page = manual_of_verb(made_up().verbs[0], {"1.2", "2026-01-02"});
    EXPECT_TRUE(has(page, ".TH \"PMEMCPY\\-FETCH\"") || has(page, ".TH \"PMEMCPY-FETCH\"")) << page;
    EXPECT_TRUE(has(page, "[\\fIID\\fR .\\|.\\|.]")) << page;
    EXPECT_TRUE(has(page, ".nf\n  as it is\n.fi")) << page;
    EXPECT_TRUE(has(page, "\n\\&.a line")) << page;
    EXPECT_TRUE(has(page, "\\fB\\-o\\fR, \\fB\\-\\-output\\fR \\fIOUTPUT\\fR")) << page;
    EXPECT_TRUE(has(manual_of_command(made_up(), {"1.2", "2026-01-02"}), "\"2026-01-02\" \"pmemcpy 1.2\""));
}
