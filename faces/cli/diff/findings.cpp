#include "cli/diff/findings.hpp"

#include <fmt/core.h>

#include <cstdio>

#include "cli/element/element.hpp"
#include "cli/pool/describe.hpp"
#include "cli/terminal/printable.hpp"

namespace pmemcpy::cli {

void Findings::add(const std::string& id, const char* what, const nlohmann::ordered_json& details,
                   const std::string& text) {
    any_ = true;
    if (form_ == Form::json) {
        nlohmann::ordered_json difference = {{"id", id}, {"what", what}};
        difference.update(details);
        list_.push_back(difference);
    } else if (form_ == Form::text) {
        progress_.hide();
        fmt::print("{}: {}\n", printable(id), text);
    }
}

void Findings::finish() {
    if (form_ == Form::json) fmt::print("{}\n", dump({{"equal", !any_}, {"differences", list_}}));
}

}  // namespace pmemcpy::cli
