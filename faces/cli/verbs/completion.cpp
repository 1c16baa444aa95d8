#include "cli/shell/completion.hpp"

#include <fmt/core.h>

#include <cstdio>
#include <memory>

#include "cli/call/exit_code.hpp"
#include "cli/call/invocation.hpp"

namespace pmemcpy::cli {

namespace {

int print_completion(const Grammar& grammar, const std::string& shell) {
    std::string script;
    if (shell == "bash") {
        script = bash_completion(grammar);
    } else if (shell == "zsh") {
        script = zsh_completion(grammar);
    } else if (shell == "fish") {
        script = fish_completion(grammar);
    } else {
        throw Error(Code::invalid_argument,
                    fmt::format("there is no completion for '{}'; write bash, zsh or fish", shell));
    }
    fmt::print("{}", script);
    return exit_ok;
}

}  // namespace

void add_completion(CLI::App& command, Invocation& invocation) {
    const auto shell = std::make_shared<std::string>();
    Verb(command, invocation, "completion", "Print what makes a shell complete the words of this command")
        .needs("bash|zsh|fish", *shell, "The shell")
        .tells(
            "For one session:\n"
            "\n"
            "  bash: source <(pmemcpy completion bash)\n"
            "  zsh:  source <(pmemcpy completion zsh)\n"
            "  fish: pmemcpy completion fish | source\n"
            "\n"
            "An installed pmemcpy has put it where these shells look for it.\n")
        .runs([shell, &command](bool) { return print_completion(grammar_of(command), *shell); });
}

}  // namespace pmemcpy::cli
