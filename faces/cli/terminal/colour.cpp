#include "cli/terminal/colour.hpp"

#include <unistd.h>

#include <cstdlib>
#include <string_view>

namespace pmemcpy::cli {

namespace {

std::string_view environment(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? std::string_view() : std::string_view(value);
}

}  // namespace

// NO_COLOR counts when it is set to anything but nothing, as no-color.org has it.
bool use_colour(std::FILE* file) {
    const std::string_view terminal = environment("TERM");
    return isatty(fileno(file)) == 1 && environment("NO_COLOR").empty() && !terminal.empty() &&
           terminal != "dumb";
}

}  // namespace pmemcpy::cli
