#include <CLI/CLI.hpp>
#include <utility>

#include "invocation.hpp"

namespace pmemcpy::cli {

Verb::Verb(CLI::App& command, Invocation& invocation, const char* name, const char* help)
    : app_(*command.add_subcommand(name, help)), invocation_(invocation) {}

Verb& Verb::needs(const char* name, std::string& into, const char* help) {
    app_.add_option(name, into, help)->required();
    return *this;
}

Verb& Verb::needs(const char* name, std::vector<std::string>& into, const char* help) {
    app_.add_option(name, into, help)->required();
    return *this;
}

Verb& Verb::takes(const char* name, std::string& into, const char* help) {
    app_.add_option(name, into, help);
    return *this;
}

Verb& Verb::takes(const char* name, std::optional<std::string>& into, const char* help) {
    app_.add_option(name, into, help);
    return *this;
}

Verb& Verb::takes(const char* name, std::optional<std::uint64_t>& into, const char* help) {
    app_.add_option(name, into, help);
    return *this;
}

Verb& Verb::takes(const char* name, bool& into, const char* help) {
    app_.add_flag(name, into, help);
    return *this;
}

Verb& Verb::takes_json(const char* help, const char* excludes) {
    CLI::Option* json = app_.add_flag("--json", invocation_.json, help);
    if (excludes != nullptr) json->excludes(app_.get_option(excludes));
    return *this;
}

void Verb::runs(std::function<int(bool json)> run) {
    Invocation& invocation = invocation_;
    app_.callback([&invocation, run = std::move(run)] {
        invocation.run = [&invocation, run] { return run(invocation.json); };
    });
}

}  // namespace pmemcpy::cli
