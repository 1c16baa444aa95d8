// Times one kind of work on many small objects with the library that this program is linked with, and prints one line of
// JSON. A run begins with `store`, at a path where nothing is, and ends with `remove`.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <nlohmann/json.hpp>

#include "library.hpp"
#include "value.hpp"
#include "work.hpp"

namespace {

namespace objects = compare::objects;
using nlohmann::json;
using nlohmann::ordered_json;

ordered_json as_json(const std::vector<objects::Variant>& variants) {
    ordered_json list = ordered_json::array();
    for (const objects::Variant& variant : variants) {
        list.push_back({{"name", variant.name},
                        {"what", variant.what},
                        {"most_processes", variant.most_processes},
                        {"most_readers", variant.most_readers},
                        {"most_objects", variant.most_objects},
                        {"enough_objects", variant.enough_objects}});
    }
    return list;
}

ordered_json as_json(const objects::Task& task, const std::string& variant, const objects::Result& result) {
    return {
        {"library", COMPARE_LIBRARY},
        {"variant", variant},
        {"work", task.work},
        {"size", task.size_bytes},
        {"count", task.count},
        {"processes", task.processes},
        {"seconds", result.seconds},
        {"per_second", result.seconds > 0 ? static_cast<double>(result.operations) / result.seconds : 0.0},
        {"faults", result.faults},
        {"verified", result.verified}};
}

int run(const objects::Task& task, const std::string& asked) {
    const auto variant = std::find_if(objects::variants.begin(), objects::variants.end(),
                                      [&](const objects::Variant& one) { return one.name == asked; });
    if (variant == objects::variants.end()) throw std::runtime_error("no variant is called " + asked);
    const objects::Result result = objects::carry_out(task, *variant);
    std::puts(as_json(task, asked, result).dump().c_str());
    if (!result.verified) std::fprintf(stderr, "%s: what is there is not what was stored\n", asked.c_str());
    return result.verified ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    objects::Task task;
    std::string variant = objects::variants.front().name;
    CLI::App app("Times " COMPARE_LIBRARY " with many small objects.");
    app.add_option(
           "work", task.work,
           "What to do with the objects; `remove` ends a run, and a server that belongs to it; `variants` "
           "prints the ways to use the library, as JSON")
        ->required()
        ->check(CLI::IsMember({"store", "overwrite", "load", "erase", "open", "list", "remove", "variants"}));
    app.add_option("--variant", variant, "A way to use the library")->capture_default_str();
    app.add_option("--path", task.path, "Where the objects are: a file or a folder, as the library has it");
    app.add_option("--size", task.size_bytes, "Bytes of each object")
        ->check(CLI::Range(std::uint64_t{objects::Values::least_bytes}, std::uint64_t{1} << 30));
    app.add_option("--count", task.count, "How many objects, of all processes together")
        ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1'000'000'000}));
    app.add_option("--seed", task.seed, "Of names, values and order");
    app.add_option("--processes", task.processes, "How many share the objects out")
        ->check(CLI::Range(1, 1000));
    CLI11_PARSE(app, argc, argv);
    try {
        if (task.work == "variants") {
            std::puts(as_json(objects::variants).dump().c_str());
            return 0;
        }
        if (task.path.empty()) throw std::runtime_error("--path is needed; see --help");
        return run(task, variant);
    } catch (const objects::Unsupported& reason) {
        std::puts(json{{"unsupported", reason.what()}}.dump().c_str());
        return 0;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}
