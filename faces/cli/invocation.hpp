#pragma once

#include <CLI/CLI.hpp>
#include <functional>

namespace pmemcpy::cli {

/// What a command line asks for: each verb's parser leaves here how to run it.
struct Invocation {
    bool json = false;
    std::function<int()> run;  ///< returns the exit status
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

}  // namespace pmemcpy::cli
