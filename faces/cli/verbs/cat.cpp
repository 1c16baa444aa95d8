#include <fmt/core.h>

#include <memory>
#include <optional>

#include "cli/array/pieces.hpp"
#include "cli/array/selection.hpp"
#include "cli/array/source.hpp"
#include "cli/call/exit_code.hpp"
#include "cli/call/invocation.hpp"
#include "cli/element/element.hpp"
#include "cli/element/writer.hpp"
#include "cli/pool/describe.hpp"
#include "cli/pool/open.hpp"
#include "cli/terminal/progress.hpp"
#include "cli/terminal/sink.hpp"

namespace pmemcpy::cli {

namespace {

struct Arguments {
    std::string pool;
    std::string id;
    std::string output;
    std::string format = "text";
    std::optional<std::string> box;
    std::optional<std::uint64_t> step;
    std::optional<std::uint64_t> precision;
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

std::unique_ptr<Writer> writer_of(const Arguments& arguments, bool json, Sink& sink, const Type& type,
                                  const Selection& selection, Precision precision) {
    if (json) return json_writer(sink, type, selection.count);
    if (arguments.format == "csv") return csv_writer(sink, type, selection, precision);
    return text_writer(sink, type, selection.count, precision);
}

/// In the order of indices, also where the first one is the fastest in memory.
void write_elements(Source& source, Writer& writer, const std::function<void(std::uint64_t)>& show) {
    const std::uint64_t size = source.info().type.size();
    source.each(Order::c, [&](std::span<const std::byte> bytes, const Selection& piece) {
        each_place(piece.count, source.info().order,
                   [&](std::uint64_t place) { writer.add(bytes.subspan(place * size, size)); });
        show(bytes.size());
    });
    writer.finish();
}

void cat_array(const PMEM& pmem, const Info& info, const Arguments& arguments, bool json,
               Precision precision) {
    const Selection selection =
        arguments.box ? parse_selection(*arguments.box, info.dims) : Selection(Box::whole(info.dims));
    Sink sink(arguments.output);
    Source source(pmem, info, selection, arguments.step);
    // Output that a person reads as it comes needs no bar between its lines.
    std::optional<Progress> progress;
    if (sink.is_file()) progress.emplace("cat");
    std::uint64_t done_bytes = 0;
    const auto show = [&](std::uint64_t bytes) {
        done_bytes += bytes;
        if (progress) progress->show(done_bytes, selection.elements() * info.type.size());
    };
    if (arguments.raw) {
        source.each(info.order, [&](std::span<const std::byte> bytes, const Selection&) {
            sink.write(bytes);
            show(bytes.size());
        });
    } else {
        if (json) {
            const nlohmann::ordered_json head = {{"id", info.id},
                                                 {"type", info.type.name()},
                                                 {"offset", to_json(selection.offset)},
                                                 {"count", to_json(selection.count)},
                                                 {"stride", to_json(selection.stride)}};
            std::string opening = dump(head);
            opening.pop_back();
            sink.write(opening + ",\"values\":");
        }
        const auto writer = writer_of(arguments, json, sink, info.type, selection, precision);
        write_elements(source, *writer, show);
        if (json) sink.write("}\n");
    }
    sink.finish();
}

/// A sequence as an array of one dimension, anything else as one of none.
void write_csv(Sink& sink, const Type& type, std::span<const std::byte> bytes, Precision precision) {
    const bool is_sequence = type.kind() == Kind::sequence;
    const Type& element = is_sequence ? type.element() : type;
    if (element.kind() != Kind::string) check_whole(element, bytes, is_sequence);
    const std::uint64_t size = element.kind() == Kind::string ? bytes.size() : element.size();
    const Selection selection = is_sequence ? Selection({0}, {bytes.size() / size}) : Selection({}, {});
    const auto writer = csv_writer(sink, element, selection, precision);
    if (is_sequence) {
        for (std::uint64_t at = 0; at < bytes.size(); at += size) writer->add(bytes.subspan(at, size));
    } else {
        writer->add(bytes);
    }
    writer->finish();
}

void cat_value(const PMEM& pmem, const Info& info, const Arguments& arguments, bool json,
               Precision precision) {
    if (arguments.box || arguments.step) {
        throw Error(Code::invalid_argument,
                    fmt::format("{} is a value, not an array: it has no --box and no --step", info.id));
    }
    pmem.load_encoded(
        arguments.id, [&](const Type& type, SerializerType serializer, std::span<const std::byte> bytes) {
            if (!arguments.raw && !is_readable(type, serializer)) {
                throw Error(Code::unsupported,
                            fmt::format("{} is a {}, stored by {}: only a program that knows the type can "
                                        "read it; --raw writes its {} bytes as they are",
                                        info.id, type.name(), name_of(serializer), bytes.size()));
            }
            Sink sink(arguments.output);
            if (arguments.raw) {
                sink.write(bytes);
            } else if (json) {
                const nlohmann::ordered_json answer = {
                    {"id", info.id}, {"type", type.name()}, {"value", value_json(type, bytes)}};
                sink.write(dump(answer) + "\n");
            } else if (arguments.format == "csv") {
                write_csv(sink, type, bytes, precision);
            } else {
                sink.write(value_text(type, bytes, precision));
            }
            sink.finish();
        });
}

int cat(const Arguments& arguments, bool json) {
    if (arguments.format != "text" && (arguments.raw || json)) {
        throw Error(Code::invalid_argument, fmt::format("cat --format {} --{}: ask for one of the two",
                                                        arguments.format, json ? "json" : "raw"));
    }
    const Precision precision = checked_precision(arguments, json);
    const PMEM pmem = open_for_reading(arguments.pool);
    const Info info = pmem.info(arguments.id);
    switch (info.kind) {
        case VariableKind::array:
            cat_array(pmem, info, arguments, json, precision);
            break;
        case VariableKind::value:
            cat_value(pmem, info, arguments, json, precision);
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
        .takes("--step", arguments->step, "An array as it was at a committed step")
        .takes_one_of("--format", arguments->format, {"text", "csv"},
                      "Rows on lines, or a table for other programs (default: text)")
        .takes(
            "--precision", arguments->precision,
            "So many significant digits of numbers with a fraction (default: as few as read back the same)")
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
