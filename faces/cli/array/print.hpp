#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <pmemcpy/pmemcpy.hpp>
#include <span>
#include <string>

#include "cli/element/element.hpp"
#include "cli/terminal/sink.hpp"

namespace pmemcpy::cli {

/// How what is stored is printed.
enum class Print { text, csv, json, raw };

struct Manner {
    Print print = Print::text;
    Precision precision = exact;
    /// Each number becomes what this says, if there is such a function.
    std::function<std::string(std::span<const std::byte>)> as_text{};
};

/// A selection of an array. Tells show(bytes) how much has come.
/// Shape: text has the elements of one dimension on a line each, rows of others on lines, an empty line between planes; JSON
///     is one object on a line.
/// Errors: as PMEM::load.
void print_array(const PMEM& pmem, const Info& info, const Selection& selection,
                 std::optional<std::uint64_t> step, const Manner& manner, Sink& sink,
                 const std::function<void(std::uint64_t)>& show);

/// Errors: unsupported for a value that only a program that knows its type can read, except raw.
void check_printable(const Info& value, Print print);
/// A value that check_printable() let pass.
void print_value(const PMEM& pmem, const std::string& id, const Manner& manner, Sink& sink);

}  // namespace pmemcpy::cli
