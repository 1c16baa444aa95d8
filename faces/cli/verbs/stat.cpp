#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <memory>
#include <optional>

#include "cli/array/selection.hpp"
#include "cli/array/source.hpp"
#include "cli/call/exit_code.hpp"
#include "cli/call/invocation.hpp"
#include "cli/element/column.hpp"
#include "cli/element/element.hpp"
#include "cli/pool/attributes.hpp"
#include "cli/pool/describe.hpp"
#include "cli/pool/open.hpp"
#include "cli/stat/stat_text.hpp"
#include "cli/terminal/progress.hpp"

namespace pmemcpy::cli {

namespace {

struct Arguments {
    std::string pool;
    std::string id;
    std::optional<std::string> box;
    std::optional<std::uint64_t> step;
    std::uint64_t bins = 10;
    bool blocks = false;
    bool raw = false;
};

/// Runs over all elements, as often as is wanted. Returns how many nobody has stored.
using Pass = std::function<std::uint64_t(const std::function<void(std::span<const std::byte>)>& visit)>;

Packing packing_of(const PMEM& pmem, const Info& info, const Arguments& arguments) {
    return arguments.raw ? Packing() : Packing(pmem, info);
}

Columns numbers_of(const Info& info, const Type& element) {
    Columns columns = columns_of(element);
    if (columns.numbers.empty()) {
        throw Error(Code::type_mismatch,
                    fmt::format("{} is a {}, which has no numbers in it; `pmemcpy cat` prints it", info.id,
                                info.type.name()));
    }
    return columns;
}

/// The statistics of each column in a first pass, and their histograms, which need to know the range, in a second.
Summary summarize(const Type& element, const Columns& columns, const Packing& packing, std::uint64_t bins,
                  const Pass& pass) {
    Summary summary;
    summary.can_be_masked = !packing.is_plain();
    summary.others = columns.others;
    for (const Column& column : columns.numbers)
        summary.fields.push_back({column.field, column.type, Statistics(column.type), 0, {}});
    summary.missing = pass([&](std::span<const std::byte> elements) {
        for (std::size_t i = 0; i < columns.numbers.size(); ++i) {
            each_chunk(columns.numbers[i], element.size(), elements, [&](const Chunk& chunk) {
                FieldSummary& field = summary.fields[i];
                field.masked +=
                    each_meant(packing, chunk, [&](const Chunk& meant) { field.statistics.add(meant); });
            });
        }
    });
    for (FieldSummary& field : summary.fields) {
        const Statistics& s = field.statistics;
        if (bins > 0 && s.lowest()) field.histogram.emplace(*s.lowest(), *s.highest(), bins);
    }
    const auto has_one = [](const FieldSummary& field) { return field.histogram.has_value(); };
    if (std::none_of(summary.fields.begin(), summary.fields.end(), has_one)) return summary;
    pass([&](std::span<const std::byte> elements) {
        for (std::size_t i = 0; i < columns.numbers.size(); ++i) {
            auto& histogram = summary.fields[i].histogram;
            if (!histogram) continue;
            each_chunk(columns.numbers[i], element.size(), elements, [&](const Chunk& chunk) {
                each_meant(packing, chunk, [&](const Chunk& meant) { histogram->add(meant); });
            });
        }
    });
    return summary;
}

/// A block's ranges were stored with it, if its elements are plain numbers, none of them missing; else its box is loaded as it is now.
std::vector<BlockSummary> summarize_blocks(const PMEM& pmem, const Info& info, const Selection& selection,
                                           const Columns& columns, const Packing& packing,
                                           const Arguments& arguments) {
    std::vector<BlockSummary> summaries;
    for (const BlockInfo& block : pmem.blocks(info.id)) {
        if (!meet(block.box, selection) || (arguments.step && block.step > *arguments.step)) continue;
        BlockSummary summary{block, {}};
        const auto bound = [&](const std::array<std::byte, 8>& bytes) {
            return std::span(bytes).first(info.type.size());
        };
        const auto tells_range = [&] {
            return packing.is_plain() ||
                   (!packing.changes_numbers() &&
                    packing.is_whole_between(bound(block.minimum), bound(block.maximum)));
        };
        summary.block.has_range = block.has_range && tells_range();
        if (!summary.block.has_range) {
            Source source(pmem, info, block.box, arguments.step);
            const Pass pass = [&](const auto& visit) {
                return source.each_stored(
                    [&](std::span<const std::byte> elements, const Selection&) { visit(elements); });
            };
            summary.fields = summarize(info.type, columns, packing, 0, pass).fields;
        }
        summaries.push_back(std::move(summary));
    }
    return summaries;
}

Summary stat_array(const PMEM& pmem, const Info& info, const Arguments& arguments) {
    const Columns columns = numbers_of(info, info.type);
    const Packing packing = packing_of(pmem, info, arguments);
    const Selection selection =
        arguments.box ? parse_selection(*arguments.box, info.dims) : Selection(Box::whole(info.dims));
    const std::uint64_t passes = arguments.bins > 0 ? 2 : 1;
    const std::uint64_t all_bytes = passes * selection.elements() * info.type.size();
    std::uint64_t done_bytes = 0;
    Progress progress("stat");
    Source source(pmem, info, selection, arguments.step);
    Summary summary = summarize(info.type, columns, packing, arguments.bins, [&](const auto& visit) {
        return source.each_stored([&](std::span<const std::byte> elements, const Selection&) {
            visit(elements);
            progress.show(done_bytes += elements.size(), all_bytes);
        });
    });
    summary.selection = selection;
    if (arguments.blocks && selection.empty()) summary.blocks.emplace();
    if (arguments.blocks && !selection.empty())
        summary.blocks = summarize_blocks(pmem, info, selection, columns, packing, arguments);
    return summary;
}

Summary stat_value(const PMEM& pmem, const Info& info, const Arguments& arguments) {
    if (arguments.box || arguments.step || arguments.blocks) {
        throw Error(
            Code::invalid_argument,
            fmt::format("{} is a value, not an array: it has no --box, no --step and no --blocks", info.id));
    }
    if (!is_readable(info.type, info.serializer)) {
        throw Error(Code::unsupported,
                    fmt::format("{} is a {}, stored by {}: only a program that knows the type can "
                                "read it",
                                info.id, info.type.name(), name_of(info.serializer)));
    }
    const bool is_sequence = info.type.kind() == Kind::sequence;
    const Type element = is_sequence ? info.type.element() : info.type;
    const Packing packing = packing_of(pmem, info, arguments);
    return summarize(element, numbers_of(info, element), packing, arguments.bins, [&](const auto& visit) {
        pmem.load_encoded(info.id, [&](const Type& type, SerializerType, std::span<const std::byte> bytes) {
            if (!(type == info.type))
                throw Error(Code::type_mismatch,
                            fmt::format("{} became a {} just now", info.id, type.name()));
            check_whole(element, bytes, is_sequence);
            visit(bytes);
        });
        return std::uint64_t{0};
    });
}

int stat(const Arguments& arguments, bool json) {
    constexpr std::uint64_t most_bins = 100'000;
    if (arguments.bins > most_bins) {
        throw Error(Code::invalid_argument,
                    fmt::format("stat --bins {}: at most {} are possible", arguments.bins, most_bins));
    }
    const PMEM pmem = open_for_reading(arguments.pool);
    const Info info = pmem.info(arguments.id);
    if (info.kind == VariableKind::group) {
        throw Error(Code::invalid_argument,
                    fmt::format("{0} is a group; `pmemcpy ls {1} {0}/` lists what is in it", info.id,
                                arguments.pool));
    }
    Summary summary = info.kind == VariableKind::array ? stat_array(pmem, info, arguments)
                                                       : stat_value(pmem, info, arguments);
    if (!arguments.raw) {
        summary.unit = unit_of(pmem, info.id);
        summary.times = times_of(pmem, info);
    }
    fmt::print("{}", json ? dump(stat_json(info, summary)) + "\n" : stat_text(info, summary));
    return exit_ok;
}

}  // namespace

void add_stat(CLI::App& command, Invocation& invocation) {
    const auto arguments = std::make_shared<Arguments>();
    Verb(command, invocation, "stat", "Tell the range, mean, deviation and distribution of numbers")
        .needs("POOL", arguments->pool, "The pool")
        .needs("ID", arguments->id, "An array or value of numbers, or of structures with numbers in them")
        .takes("--box", arguments->box,
               "Only a part of an array, as first:end[:stride] in each dimension: 0:10,3,:")
        .takes("--step", arguments->step, "An array as it was at a committed step")
        .takes("--bins", arguments->bins,
               "Into how many intervals the histogram divides the range (default: 10); 0: none")
        .takes("--blocks", arguments->blocks, "The range of each block that meets the box, too")
        .takes("--raw", arguments->raw, "The numbers that are stored, whatever their attributes say")
        .takes_json()
        .tells(
            "The attributes that NetCDF's conventions have are heeded: elements that are missing by "
            "_FillValue, missing_value, valid_min, valid_max or valid_range are counted as masked and left "
            "out, and packed numbers are unpacked by scale_factor, add_offset and _Unsigned.\n"
            "\n"
            "Integers have exact ranges. The mean and the deviation (the root of the mean squared deviation) "
            "are of the "
            "finite numbers, taken in long doubles from 1024 numbers at a time, which are merged as Chan, "
            "Golub and LeVeque "
            "do. Of complex numbers it is the magnitude that counts; times count in their ticks; numbers "
            "whose `units` say since when they count are shown as dates by their `calendar`; text is "
            "left out. "
            "Elements that nobody has stored are counted and left out.\n"
            "\n"
            "The elements are read once, and a second time for the histogram, whose range is known only "
            "then. The range of "
            "a block is what was stored with it; of others, such as packed ones, its box is read as it is "
            "now, and marked "
            "so.\n")
        .runs([arguments](bool json) { return stat(*arguments, json); });
}

}  // namespace pmemcpy::cli
