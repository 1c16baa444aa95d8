// pmemcpy: looks into pools and tends them, from a shell.

#include <CLI/CLI.hpp>

#include <cstdio>
#include <exception>
#include <nlohmann/json.hpp>
#include <pmemcpy/error.hpp>
#include <sstream>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "cli/call/exit_code.hpp"
#include "cli/call/invocation.hpp"
#include "cli/terminal/note.hpp"
#include "cli/terminal/sink.hpp"

namespace {

int fail(const pmemcpy::cli::Invocation& invocation, const char* code, const std::string& message,
         int status) {
    std::fflush(stdout);
    if (invocation.json) {
        const nlohmann::ordered_json error = {{"error", {{"code", code}, {"message", message}}}};
        const std::string text =
            error.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
        std::fputs(text.c_str(), stderr);
    } else {
        pmemcpy::cli::note("{}", message);
    }
    return status;
}

int fail_with(const pmemcpy::cli::Invocation& invocation, const pmemcpy::Error& error) {
    using namespace pmemcpy;
    const int status = cli::exit_code(error.kind());
    const bool is_answer = status == cli::exit_damage && invocation.one_is_an_answer;
    return fail(invocation, name_of(error.kind()), error.what(), is_answer ? cli::exit_usage : status);
}

}  // namespace

int main(int argc, char** argv) {
    using namespace pmemcpy;
    cli::Invocation invocation;
    try {
        CLI::App command("Looks into pMEMCPY pools and tends them.", "pmemcpy");
        command.set_version_flag("--version", "pmemcpy " PMEMCPY_VERSION);
        command.require_subcommand(1);
        command.footer(cli::exit_code_table());
        using Adds = std::vector<void (*)(CLI::App&, cli::Invocation&)>;
        const std::vector<std::pair<const char*, Adds>> headings = {
            {"Looking",
             {cli::add_ls, cli::add_tree, cli::add_info, cli::add_cat, cli::add_stat, cli::add_plot}},
            {"Finding", {cli::add_find, cli::add_index, cli::add_extract}},
            {"Changing",
             {cli::add_create, cli::add_set, cli::add_cp, cli::add_mv, cli::add_rm, cli::add_diff}},
            {"Files of other programs", {cli::add_import, cli::add_export}},
            {"Watching", {cli::add_watch, cli::add_top}},
            {"Space and health",
             {cli::add_du, cli::add_trim, cli::add_compact, cli::add_verify, cli::add_repair,
              cli::add_rebuild}},
            {"Sharing", {cli::add_ns, cli::add_scope, cli::add_share}},
            {"Tiers",
             {cli::add_tiers, cli::add_profile, cli::add_stage, cli::add_drain, cli::add_receipt,
              cli::add_advise, cli::add_op}},
            {"Processes", {cli::add_buckets, cli::add_messages, cli::add_daemon}},
            {"Shell", {cli::add_completion, cli::add_man}}};
        for (const auto& [heading, adds] : headings) {
            for (const auto add : adds) cli::add_under(heading, add, command, invocation);
        }
        try {
            cli::parse(command, argc, argv);
        } catch (const CLI::ParseError& error) {
            if (error.get_exit_code() == 0) {  // --help, --version
                std::ostringstream text;
                command.exit(error, text);
                cli::Sink sink("");
                sink.write(text.str());
                sink.finish();
                return cli::exit_ok;
            }
            std::string message = cli::advice_after(command, error.what());
            std::erase(message, '\0');  // which parse() has put there
            return fail(invocation, "usage", message, cli::exit_usage);
        }
        const int status = invocation.run();
        cli::finish_output();
        return status;
    } catch (const Error& error) {
        return fail_with(invocation, error);
    } catch (const std::system_error& error) {
        const bool is_of_output = std::ferror(stdout) != 0;
        if (is_of_output) return fail_with(invocation, cli::output_error(error.code().value()));
        return fail(invocation, "io_error", error.what(), cli::exit_code(Code::io_error));
    } catch (const std::exception& error) {
        return fail(invocation, "io_error", error.what(), cli::exit_code(Code::io_error));
    }
}
