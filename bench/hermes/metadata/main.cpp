// Figure 5 with the library that this program is linked with: so many files' metadata inserted, got and updated by some processes at a time. Prints one
// line of JSON.

#include <CLI/CLI.hpp>

#include <cstdio>

#include "work.hpp"

int main(int argc, char** argv) {
    using namespace pmemcpy::hermes;
    std::string variant = variants.front().name;
    std::string path;
    std::uint64_t files = 1'000'000;
    int processes = 1;
    CLI::App app("Metadata operations, as in Figure 5 of the Hermes paper");
    std::vector<std::string> names;
    for (const Variant& each : variants) names.push_back(each.name);
    app.add_option("--variant", variant)->check(CLI::IsMember(names));
    app.add_option("--path", path, "The server's socket; of pMEMCPY the pool, which is made anew")
        ->required();
    app.add_option("--files", files)->check(CLI::PositiveNumber);
    app.add_option("--processes", processes)->check(CLI::Range(1, 64));
    CLI11_PARSE(app, argc, argv);
    return print_result(argv[0], [&] {
        set_up(variant, path, files);
        return result_of(run_clients(processes,
                                     [&](const Client& client) {
                                         const auto service = connect(variant, path);
                                         return do_operations(*service, client, files);
                                     }),
                         files);
    });
}
