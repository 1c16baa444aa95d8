#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace pmemcpy::cli {

/// What a command line asks for: each verb's parser leaves here how to run it.
struct Invocation {
    bool json = false;
    std::function<int()> run;  ///< returns the exit status
};

/// A verb and its arguments, as they are announced to the parser. The verbs see no more of CLI11, which takes a compiler
/// seconds to read: verb.cpp alone includes it for all of them.
class Verb {
public:
    Verb(CLI::App& command, Invocation& invocation, const char* name, const char* help);
    /// Where an argument goes must live as long as `run`, which the verb is given at last.
    Verb& needs(const char* name, std::string& into, const char* help);
    Verb& needs(const char* name, std::vector<std::string>& into, const char* help);
    Verb& takes(const char* name, std::string& into, const char* help);
    Verb& takes(const char* name, std::optional<std::string>& into, const char* help);
    Verb& takes(const char* name, std::optional<std::uint64_t>& into, const char* help);
    Verb& takes(const char* name, bool& into, const char* help);
    /// --json, which cannot be had together with `excludes`.
    Verb& takes_json(const char* help = "Print JSON", const char* excludes = nullptr);
    /// `run` gets whether JSON is wanted, and returns the exit status.
    void runs(std::function<int(bool json)> run);

private:
    CLI::App& app_;
    Invocation& invocation_;
};

// Each adds one verb, with its arguments, to the command.
void add_create(CLI::App& command, Invocation& invocation);
void add_ls(CLI::App& command, Invocation& invocation);
void add_info(CLI::App& command, Invocation& invocation);
void add_get(CLI::App& command, Invocation& invocation);
void add_rm(CLI::App& command, Invocation& invocation);
void add_compact(CLI::App& command, Invocation& invocation);
void add_trim(CLI::App& command, Invocation& invocation);
void add_verify(CLI::App& command, Invocation& invocation);
void add_repair(CLI::App& command, Invocation& invocation);

}  // namespace pmemcpy::cli
