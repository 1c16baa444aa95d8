#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <pmemcpy/packing.hpp>
#include <pmemcpy/scope.hpp>
#include <utility>

#include "cli/array/print.hpp"
#include "cli/array/selection.hpp"
#include "cli/call/exit_code.hpp"
#include "cli/call/invocation.hpp"
#include "cli/element/element.hpp"
#include "cli/pool/attributes.hpp"
#include "cli/pool/open.hpp"
#include "cli/terminal/progress.hpp"
#include "cli/terminal/sink.hpp"

namespace pmemcpy::cli {

namespace {

using Bytes = std::span<const std::byte>;

struct Arguments {
    std::string pool;
    std::string id;
    std::string output;
    std::string format = "text";
    std::optional<std::string> box;
    std::optional<std::uint64_t> head;
    std::optional<std::uint64_t> step;
    std::optional<std::uint64_t> precision;
    bool times = false;
    bool raw = false;
};

Precision checked_precision(const Arguments& arguments, bool json) {
    constexpr std::uint64_t most_digits = 17;  // which every double can be read back from
    if (!arguments.precision) return exact;
    if (arguments.raw || json)
        throw Error(Code::invalid_argument,
                    "cat --precision is for text and csv: --raw and --json are exact");
    if (*arguments.precision == 0 || *arguments.precision > most_digits) {
        throw Error(Code::invalid_argument,
                    fmt::format("cat --precision {}: ask for 1 to {} significant digits",
                                *arguments.precision, most_digits));
    }
    return static_cast<Precision>(*arguments.precision);
}

Print print_of(const Arguments& arguments, bool json) {
    if (arguments.raw) return Print::raw;
    if (json) return Print::json;
    return arguments.format == "csv" ? Print::csv : Print::text;
}

/// Dates, for --times.
Manner manner_of(const PMEM& pmem, const Info& info, const Arguments& arguments, bool json) {
    Manner manner{print_of(arguments, json), checked_precision(arguments, json), {}};
    const bool are_dates = info.type.kind() == Kind::datetime64;  // as they are
    if (!arguments.times || are_dates) return manner;
    const auto times = times_of(pmem, info);
    if (!times) {
        throw Error(Code::invalid_argument,
                    fmt::format("{} has no times: its attribute `units` would say since when, as `hours "
                                "since 2026-01-01`",
                                info.id));
    }
    const bool is_sequence = info.type.kind() == Kind::sequence;
    const Type element = is_sequence ? info.type.element() : info.type;
    manner.as_text = [times = *times, packing = Packing(pmem, info), element](Bytes bytes) {
        double number = std::nan("");
        const auto take = [&](auto meant) { number = static_cast<double>(meant); };
        if (packing.is_plain())
            visit_number(element.kind(), element.byte_order(), bytes, take);
        else
            packing.visit(bytes, take);
        return times.text(number);
    };
    return manner;
}

Selection selection_of(const Arguments& arguments, const Info& info) {
    if (arguments.box) return parse_selection(*arguments.box, info.dims);
    Box box = Box::whole(info.dims);
    if (arguments.head && !box.count.empty()) box.count[0] = std::min(box.count[0], *arguments.head);
    return Selection(box);
}

bool is_for_file(const Arguments& arguments) { return !arguments.output.empty() && arguments.output != "-"; }

/// What a file is to have of a private object is for its owner; all else comes from the shared side, which has nothing private.
struct Source {
    PMEM pmem;
    bool is_private = false;
};

Source source_of(const Arguments& arguments) {
    PMEM all = open_for_reading(arguments.pool);
    if (!is_for_file(arguments) || scope_of(all, arguments.id) == Scope::own)
        return {std::move(all), is_for_file(arguments)};
    return {shared_side(all), false};
}

void cat_array(const Source& source, const Info& info, const Arguments& arguments, const Manner& manner) {
    const Selection selection = selection_of(arguments, info);
    Sink sink(arguments.output, source.is_private);
    // Output that a person reads as it comes needs no bar between its lines.
    std::optional<Progress> progress;
    if (sink.is_file()) progress.emplace("cat");
    std::uint64_t done_bytes = 0;
    print_array(source.pmem, info, selection, arguments.step, manner, sink, [&](std::uint64_t bytes) {
        done_bytes += bytes;
        if (progress) progress->show(done_bytes, selection.elements() * info.type.size());
    });
    sink.finish();
}

void cat_value(const Source& source, const Info& info, const Arguments& arguments, const Manner& manner) {
    if (arguments.box || arguments.step || arguments.head) {
        throw Error(
            Code::invalid_argument,
            fmt::format("{} is a value, not an array: it has no --box, no --head and no --step", info.id));
    }
    check_printable(info, manner.print);
    Sink sink(arguments.output, source.is_private);
    print_value(source.pmem, info.id, manner, sink);
    sink.finish();
}

int cat(const Arguments& arguments, bool json) {
    if (arguments.format != "text" && (arguments.raw || json)) {
        throw Error(Code::invalid_argument, fmt::format("cat --format {} --{}: ask for one of the two",
                                                        arguments.format, json ? "json" : "raw"));
    }
    if (arguments.box && arguments.head)
        throw Error(Code::invalid_argument, "cat --box --head: ask for one of the two");
    if (arguments.times && (arguments.raw || arguments.precision))
        throw Error(Code::invalid_argument, fmt::format("cat --times --{}: ask for one of the two",
                                                        arguments.raw ? "raw" : "precision"));
    const Source source = source_of(arguments);
    const Info info = source.pmem.info(arguments.id);
    const Manner manner = manner_of(source.pmem, info, arguments, json);
    switch (info.kind) {
        case VariableKind::array:
            cat_array(source, info, arguments, manner);
            break;
        case VariableKind::value:
            cat_value(source, info, arguments, manner);
            break;
        case VariableKind::group:
            throw Error(Code::invalid_argument,
                        fmt::format("{} is a group; `pmemcpy ls {} {}/` lists what is in it", info.id,
                                    arguments.pool, info.id));
    }
    return exit_ok;
}

}  // namespace

void add_cat(CLI::App& command, Invocation& invocation) {
    const auto arguments = std::make_shared<Arguments>();
    Verb(command, invocation, "cat", "Print what is stored in a variable")
        .needs("POOL", arguments->pool, "The pool")
        .needs("ID", arguments->id, "The variable")
        .takes("--box", arguments->box,
               "Only a part of an array, as first:end[:stride] in each dimension: 0:10,3,:")
        .takes("-n,--head", arguments->head, "Only the first so many of an array, along its first dimension")
        .takes("--step", arguments->step, "An array as it was at a committed step")
        .takes_one_of("--format", arguments->format, {"text", "csv"},
                      "Rows on lines, or a table for other programs (default: text)")
        .takes(
            "--precision", arguments->precision,
            "So many significant digits of numbers with a fraction (default: as few as read back the same)")
        .takes("-t,--times", arguments->times,
               "Dates for numbers whose `units` say since when they count, by their `calendar`")
        .takes("-o,--output", arguments->output, "Write to a file")
        .takes("--raw", arguments->raw, "The bytes as they are, in the array's own order")
        .takes_json("Print JSON; numbers that JSON has no word for become text", "--raw")
        .tells(
            "Text has the elements of a 1-D array on a line each, rows of others on lines, and an empty line "
            "between "
            "planes.\n"
            "\n"
            "CSV is RFC 4180's. A header names the columns; each element is a line: its indices in the "
            "array, dim_0 and "
            "so on, and its value; of a structure a column for each field, of an array in it one for each "
            "element, "
            "at[0], of a complex number two, value.real and value.imag.\n")
        .runs([arguments](bool json) { return cat(*arguments, json); });
}

}  // namespace pmemcpy::cli
