#include "arguments.hpp"

#include <CLI/CLI.hpp>
#include <map>
#include <sstream>

namespace compare::arrays {
namespace {

std::string help_of_patterns() {
    std::string text = "Patterns:";
    for (const auto& [name, what] : pattern_names) text += "\n  " + name + ": " + what;
    text += "\nVariants:";
    for (const Variant& variant : variants) text += "\n  " + variant.name + ": " + variant.what;
    return text;
}

void add_options(CLI::App& command, Arguments& arguments) {
    PatternSize& pattern = arguments.pattern;
    std::vector<std::string> names;
    for (const auto& [name, what] : pattern_names) names.push_back(name);
    std::vector<std::string> ways;
    for (const Variant& variant : variants) ways.push_back(variant.name);
    command.add_option("--pattern", pattern.name, "who writes and reads what")
        ->required()
        ->check(CLI::IsMember(names));
    command.add_option("--variant", arguments.variant, "the way to use the library")
        ->required()
        ->check(CLI::IsMember(ways));
    command.add_option("--path", arguments.path, "the file, or where the library makes its folder")
        ->required();
    command.add_option("--bytes", pattern.bytes, "about so many, of all arrays, steps and ranks together")
        ->check(CLI::Range(1'000.0, 1e15));
    command.add_option("--arrays", pattern.arrays, "how many arrays")->check(CLI::Range(1, 10'000));
    command.add_option("--steps", pattern.steps, "how many time steps")->check(CLI::Range(1, 1'000'000));
    command.add_option("--row-bytes", pattern.row_bytes, "of the rows that `rows` reads")
        ->check(CLI::Range(8, 1 << 24));
    command.add_option("--seed", pattern.seed, "of what is drawn at random");
}

void add_timed(CLI::App& command, Arguments& arguments) {
    command.add_flag("--stay", arguments.stays,
                     "keep it open: only the calls between are timed, from the second time on");
    command.add_option("--repeat", arguments.repeat, "how many times")->check(CLI::Range(1, 10'000));
    command.add_flag("--verify", arguments.verifies, "compare every bit, outside of what is timed");
    command
        .add_option("--emulate-pmem", arguments.memory_gbs,
                    "add what the paper's persistent memory costs beyond memory of so many GB/s")
        ->check(CLI::PositiveNumber);
}

}  // namespace

std::optional<Arguments> parse_arguments(int argc, char** argv, bool loud, int& exit_status) {
    Arguments arguments;
    CLI::App app{
        "One library at one pattern of arrays: ranks write their parts or read them, and are timed from "
        "opening to "
        "closing"};
    app.footer(help_of_patterns());
    app.require_subcommand(1);
    CLI::App* write = app.add_subcommand("write", "every rank writes its pieces");
    CLI::App* read = app.add_subcommand("read", "every rank reads its pieces");
    CLI::App* prepare =
        app.add_subcommand("prepare", "what one does once to a file that is overwritten often; not timed");
    CLI::App* tell = app.add_subcommand("variants", "the ways to use the library, as JSON");
    for (CLI::App* command : {write, read, prepare}) add_options(*command, arguments);
    for (CLI::App* command : {write, read}) add_timed(*command, arguments);
    const std::map<std::string, Access> words{{"create", Access::create}, {"overwrite", Access::overwrite}};
    write->add_option("--access", arguments.access, "create a file, or overwrite what is in it")
        ->transform(CLI::CheckedTransformer(words));
    write->add_flag("--sync", arguments.syncs, "sync before closing");
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        std::ostringstream quiet;
        const int status = loud ? app.exit(error) : app.exit(error, quiet, quiet);
        exit_status = status == 0 ? 0 : 2;
        return {};
    }
    arguments.tells_variants = tell->parsed();
    arguments.work = read->parsed() ? Work::read : prepare->parsed() ? Work::prepare : Work::write;
    if (arguments.work == Work::read) arguments.access = Access::read;
    return arguments;
}

}  // namespace compare::arrays
