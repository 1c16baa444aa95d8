#include "cli/terminal/note.hpp"

#include <cstdio>

#include "cli/terminal/printable.hpp"

namespace pmemcpy::cli {

void write_note(const std::string& text) { std::fputs(printable_lines(text).c_str(), stderr); }

}  // namespace pmemcpy::cli
