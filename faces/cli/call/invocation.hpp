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
    bool one_is_an_answer = false;  ///< so that the exit status for what is not found is another: see Verb
    std::function<int()> run;       ///< returns the exit status
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
    Verb& takes(const char* name, std::vector<std::string>& into, const char* help);
    Verb& takes(const char* name, std::uint64_t& into, const char* help);
    Verb& takes(const char* name, double& into, const char* help);
    Verb& takes_one_of(const char* name, std::string& into, std::vector<std::string> choices,
                       const char* help);
    /// --json, which cannot be had together with `excludes`.
    Verb& takes_json(const char* help = "Print JSON", const char* excludes = nullptr);
    /// What --help and the manual say behind the arguments: paragraphs with an empty line between.
    Verb& tells(const char* text);
    /// Exit status 1 is an answer of this verb, as it is one of diff(1); so what is not found is trouble, 2.
    Verb& answers_with_one();
    /// Not to be seen in --help, completion and manual.
    Verb& is_hidden();
    /// `run` gets whether JSON is wanted, and returns the exit status.
    void runs(std::function<int(bool json)> run);

private:
    CLI::App& app_;
    Invocation& invocation_;
    bool one_is_an_answer_ = false;
};

/// Adds a verb, which --help shows under a heading.
void add_under(const char* heading, void (*add)(CLI::App&, Invocation&), CLI::App& command,
               Invocation& invocation);

/// What to say of a command line that makes no sense: `problem`, unless its verb is none, and what helps.
std::string advice_after(const CLI::App& command, const std::string& problem);

/// Leaves in the invocation what a command line asks for. Errors: CLI::ParseError
void parse(CLI::App& command, int argc, const char* const* argv);

// Each adds one verb, with its arguments, to the command.
void add_create(CLI::App& command, Invocation& invocation);
void add_ls(CLI::App& command, Invocation& invocation);
void add_info(CLI::App& command, Invocation& invocation);
void add_find(CLI::App& command, Invocation& invocation);
void add_cat(CLI::App& command, Invocation& invocation);
void add_diff(CLI::App& command, Invocation& invocation);
void add_du(CLI::App& command, Invocation& invocation);
void add_set(CLI::App& command, Invocation& invocation);
void add_stat(CLI::App& command, Invocation& invocation);
void add_tree(CLI::App& command, Invocation& invocation);
void add_rm(CLI::App& command, Invocation& invocation);
void add_index(CLI::App& command, Invocation& invocation);
void add_extract(CLI::App& command, Invocation& invocation);
void add_advise(CLI::App& command, Invocation& invocation);
void add_tiers(CLI::App& command, Invocation& invocation);
void add_profile(CLI::App& command, Invocation& invocation);
void add_stage(CLI::App& command, Invocation& invocation);
void add_drain(CLI::App& command, Invocation& invocation);
void add_daemon(CLI::App& command, Invocation& invocation);
void add_op(CLI::App& command, Invocation& invocation);
void add_receipt(CLI::App& command, Invocation& invocation);
void add_buckets(CLI::App& command, Invocation& invocation);
void add_messages(CLI::App& command, Invocation& invocation);
void add_scope(CLI::App& command, Invocation& invocation);
void add_share(CLI::App& command, Invocation& invocation);
void add_compact(CLI::App& command, Invocation& invocation);
void add_trim(CLI::App& command, Invocation& invocation);
void add_verify(CLI::App& command, Invocation& invocation);
void add_rebuild(CLI::App& command, Invocation& invocation);
void add_repair(CLI::App& command, Invocation& invocation);
void add_import(CLI::App& command, Invocation& invocation);
void add_export(CLI::App& command, Invocation& invocation);
void add_ns(CLI::App& command, Invocation& invocation);
void add_watch(CLI::App& command, Invocation& invocation);
void add_top(CLI::App& command, Invocation& invocation);
void add_plot(CLI::App& command, Invocation& invocation);
void add_cp(CLI::App& command, Invocation& invocation);
void add_mv(CLI::App& command, Invocation& invocation);
void add_completion(CLI::App& command, Invocation& invocation);
void add_man(CLI::App& command, Invocation& invocation);

}  // namespace pmemcpy::cli
