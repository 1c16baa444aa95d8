#pragma once

#include <string>
#include <string_view>

namespace pmemcpy::cli {

/// A name, which may have any characters, for a line of text: a `?` for each control character, as ls(1) has it. So a name is never more
/// than one line, says nothing to a terminal, and is a glob that still finds what it names. JSON has names as they are.
std::string printable(std::string_view name);

/// The same for text of several lines.
std::string printable_lines(std::string_view text);

}  // namespace pmemcpy::cli
