// One of the things that the paper's experiments time, with the library that this program is linked with; prints one line of
// JSON. bench/mosiqs/mosiqs.py says what is done in which order.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <nlohmann/json.hpp>
#include <sstream>

#include "answer.hpp"
#include "library.hpp"
#include "particles.hpp"
#include "processes.hpp"
#include "questions.hpp"
#include "records.hpp"
#include "values.hpp"

namespace {

using nlohmann::ordered_json;

struct Arguments {
    std::string work;
    std::string variant = mosiqs::variants.front().name;
    std::string path;
    std::string set = "records";
    std::string what;
    std::string questions;
    std::uint64_t size_bytes = 256;
    std::uint64_t count = 1000;
    std::uint64_t files = 41;
    std::uint64_t seed = 1;
    int processes = 1;
    bool prepared = false;
    double seconds = 1;
};

ordered_json variants_json() {
    auto list = ordered_json::array();
    for (const mosiqs::Variant& variant : mosiqs::variants) {
        ordered_json entry{{"name", variant.name}, {"what", variant.what}};
        try {
            mosiqs::make_library(variant.name);
        } catch (const mosiqs::Unsupported& reason) {
            entry["unsupported"] = reason.what();
        }
        list.push_back(std::move(entry));
    }
    return list;
}

ordered_json particles(const Arguments& arguments) {
    const mosiqs::ParticleResult result = mosiqs::carry_out({.work = arguments.work,
                                                             .variant = arguments.variant,
                                                             .path = arguments.path,
                                                             .size_bytes = arguments.size_bytes,
                                                             .count = arguments.count,
                                                             .seed = arguments.seed,
                                                             .processes = arguments.processes,
                                                             .prepared = arguments.prepared});
    return {{"seconds", result.seconds},
            {"indexed_seconds", result.indexed_seconds},
            {"computing_seconds", result.computing_seconds},
            {"verified", result.verified}};
}

mosiqs::AnswerTask answer_task(const Arguments& arguments) {
    return {arguments.variant, arguments.path, arguments.what, arguments.files, arguments.size_bytes};
}

double fill_records(const Arguments& arguments) {
    const mosiqs::Records records(arguments.count);
    const auto library = mosiqs::make_library(arguments.variant);
    mosiqs::Values values(mosiqs::Records::data_bytes);
    library->open(arguments.path, mosiqs::Access::create);
    const std::int64_t start = mosiqs::now_ns();
    for (std::uint64_t number = 0; number < records.count(); ++number) {
        const std::string group = records.group(number);
        const std::string name = records.name(number);
        library->store({group, name, values.make(number), records.attributes(number)});
    }
    library->publish();
    library->catch_up();
    const double seconds = static_cast<double>(mosiqs::now_ns() - start) * 1e-9;
    library->close();
    return seconds;
}

ordered_json fill(const Arguments& arguments) {
    const double seconds =
        arguments.set == "granules" ? mosiqs::fill_granules(answer_task(arguments)) : fill_records(arguments);
    return {{"seconds", seconds}, {"verified", true}};
}

std::vector<std::string> split(const std::string& words) {
    std::vector<std::string> list;
    std::istringstream stream(words);
    for (std::string word; std::getline(stream, word, ',');) list.push_back(word);
    return list;
}

mosiqs::Questions questions(const Arguments& arguments, const std::string& what) {
    if (arguments.set == "file") return mosiqs::questions_of_file(arguments.questions);
    if (arguments.set == "granules") return mosiqs::questions_of_granules(what, arguments.files);
    return mosiqs::questions_of_records(what, arguments.count, arguments.seed);
}

/// All kinds in one process, which makes what is in memory only once.
ordered_json ask(const Arguments& arguments) {
    const auto library = mosiqs::make_library(arguments.variant);
    const std::int64_t start = mosiqs::now_ns();
    library->open(arguments.path, mosiqs::Access::read);
    library->make_ready();
    ordered_json result = {{"ready_seconds", static_cast<double>(mosiqs::now_ns() - start) * 1e-9},
                           {"verified", true}};
    for (const std::string& what : split(arguments.what)) {
        const mosiqs::Rate rate = mosiqs::ask_all(*library, questions(arguments, what), arguments.seconds);
        result["answers"][what] = {{"questions", rate.questions},
                                   {"seconds", rate.seconds},
                                   {"per_second", static_cast<double>(rate.questions) / rate.seconds},
                                   {"found", rate.found},
                                   {"compared", rate.compared},
                                   {"fingerprint", std::to_string(rate.fingerprint)}};
        if (!rate.verified) result["verified"] = false;
    }
    library->close();
    return result;
}

ordered_json answer(const Arguments& arguments) {
    const mosiqs::Answer result = mosiqs::answer(answer_task(arguments));
    return {{"open_seconds", result.open_seconds}, {"ready_seconds", result.ready_seconds},
            {"ask_seconds", result.ask_seconds},   {"read_seconds", result.read_seconds},
            {"objects", result.objects},           {"verified", result.verified}};
}

/// `answer` in a new process, timed from its start to its end.
ordered_json end_to_end(const Arguments& arguments) {
    std::string output;
    const double seconds = mosiqs::seconds_of_a_new_process(
        {"answer", "--variant", arguments.variant, "--path", arguments.path, "--what", arguments.what,
         "--files", std::to_string(arguments.files), "--size", std::to_string(arguments.size_bytes)},
        output);
    ordered_json result = ordered_json::parse(output);
    result["seconds"] = seconds;
    return result;
}

/// Brings the index that the variant wants to a pool that somebody else has made.
ordered_json index(const Arguments& arguments) {
    const auto library = mosiqs::make_library(arguments.variant);
    library->open(arguments.path, mosiqs::Access::update);
    library->catch_up();
    library->close();
    return {{"verified", true}};
}

int run(const Arguments& arguments) {
    if (arguments.path.empty()) throw std::runtime_error("--path is needed; see --help");
    if (std::none_of(mosiqs::variants.begin(), mosiqs::variants.end(),
                     [&](const mosiqs::Variant& variant) { return variant.name == arguments.variant; }))
        throw std::runtime_error("no variant is called " + arguments.variant);
    ordered_json result = arguments.work == "fill"         ? fill(arguments)
                          : arguments.work == "ask"        ? ask(arguments)
                          : arguments.work == "index"      ? index(arguments)
                          : arguments.work == "answer"     ? answer(arguments)
                          : arguments.work == "end-to-end" ? end_to_end(arguments)
                                                           : particles(arguments);
    std::puts(result.dump().c_str());
    if (result.contains("unsupported") || result["verified"].get<bool>()) return 0;
    std::fprintf(stderr, "%s: what is there is not what was stored\n", arguments.variant.c_str());
    return 1;
}

}  // namespace

int main(int argc, char** argv) {
    Arguments arguments;
    CLI::App app("Times a part of the MOSIQS paper's experiments.");
    app.add_option("work", arguments.work,
                   "What to do; `variants` prints the ways to use the library, as JSON")
        ->required()
        ->check(CLI::IsMember(
            {"write", "read", "use", "produce", "fill", "index", "ask", "answer", "end-to-end", "variants"}));
    app.add_option("--variant", arguments.variant, "A way to use the library")->capture_default_str();
    app.add_option("--path", arguments.path,
                   "Where the objects are: a file or a folder, as the library has it");
    app.add_option("--size", arguments.size_bytes, "Bytes of each object");
    app.add_option("--count", arguments.count, "How many objects, of all processes together");
    app.add_option("--processes", arguments.processes, "How many share the objects out")
        ->check(CLI::Range(1, 64));
    app.add_flag("--prepared", arguments.prepared,
                 "The medium's memory is made ahead, outside of the timed part");
    app.add_option("--set", arguments.set, "What to fill with or to ask for")
        ->check(CLI::IsMember({"records", "granules", "file"}));
    app.add_option("--files", arguments.files, "Of the granules");
    app.add_option(
        "--what", arguments.what,
        "point, range or substring of records; contains, members or attributes of granules; of several, with "
        "commas between, only `ask` knows");
    app.add_option("--questions", arguments.questions, "A file of questions, for --set file");
    app.add_option("--seconds", arguments.seconds, "How long to ask");
    app.add_option("--seed", arguments.seed, "Of the order of reads, and of the questions");
    CLI11_PARSE(app, argc, argv);
    try {
        if (arguments.work == "variants") {
            std::puts(variants_json().dump().c_str());
            return 0;
        }
        return run(arguments);
    } catch (const mosiqs::Unsupported& reason) {
        std::puts(ordered_json{{"unsupported", reason.what()}}.dump().c_str());
        return 0;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}
