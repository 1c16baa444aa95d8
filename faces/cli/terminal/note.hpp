#pragma once

#include <fmt/core.h>

#include <string>
#include <utility>

namespace pmemcpy::cli {

/// Lines for people, on stderr. A stderr that takes nothing is no error, because the answer does not depend on it.
void write_note(const std::string& text);

/// A line on stderr that begins with `pmemcpy: `, printable.
template <class... Args>
void note(fmt::format_string<Args...> text, Args&&... args) {
    write_note("pmemcpy: " + fmt::format(text, std::forward<Args>(args)...) + "\n");
}

}  // namespace pmemcpy::cli
