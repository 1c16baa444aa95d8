#include "cli/array/print.hpp"

#include <fmt/core.h>

#include <memory>

#include "cli/array/pieces.hpp"
#include "cli/array/source.hpp"
#include "cli/element/writer.hpp"

namespace pmemcpy::cli {

namespace {

std::unique_ptr<Writer> writer_of(Print print, Sink& sink, const Type& type, const Selection& selection,
                                  Precision precision) {
    if (print == Print::json) return json_writer(sink, type, selection.count);
    if (print == Print::csv) return csv_writer(sink, type, selection, precision);
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

nlohmann::ordered_json list_of(const Dimensions& dims) {
    return nlohmann::ordered_json(std::vector<Extent>(dims.begin(), dims.end()));
}

/// A sequence as an array of one dimension, anything else as one of none.
void write_csv(Sink& sink, const Type& stored, std::span<const std::byte> bytes, Precision precision) {
    const Type type = is_text(stored) ? Type::string() : stored;
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

}  // namespace

void print_array(const PMEM& pmem, const Info& info, const Selection& selection,
                 std::optional<std::uint64_t> step, Print print, Precision precision, Sink& sink,
                 const std::function<void(std::uint64_t)>& show) {
    Source source(pmem, info, selection, step);
    if (print == Print::raw) {
        return source.each(info.order, [&](std::span<const std::byte> bytes, const Selection&) {
            sink.write(bytes);
            show(bytes.size());
        });
    }
    if (print == Print::json) {
        std::string opening = dump({{"id", info.id},
                                    {"type", info.type.name()},
                                    {"offset", list_of(selection.offset)},
                                    {"count", list_of(selection.count)},
                                    {"stride", list_of(selection.stride)}});
        opening.pop_back();
        sink.write(opening + ",\"values\":");
    }
    const auto writer = writer_of(print, sink, info.type, selection, precision);
    write_elements(source, *writer, show);
    if (print == Print::json) sink.write("}\n");
}

void check_printable(const Info& value, Print print) {
    if (print == Print::raw || is_readable(value.type, value.serializer)) return;
    throw Error(Code::unsupported,
                fmt::format("{} is a {}, stored by {}: only a program that knows the type can "
                            "read it; cat --raw writes its {} bytes as they are",
                            value.id, value.type.name(), name_of(value.serializer), value.bytes));
}

void print_value(const PMEM& pmem, const std::string& id, Print print, Precision precision, Sink& sink) {
    pmem.load_encoded(id, [&](const Type& type, SerializerType, std::span<const std::byte> bytes) {
        switch (print) {
            case Print::raw:
                return sink.write(bytes);
            case Print::json:
                return sink.write(
                    dump({{"id", id}, {"type", type.name()}, {"value", value_json(type, bytes)}}) + "\n");
            case Print::csv:
                return write_csv(sink, type, bytes, precision);
            case Print::text:
                return sink.write(value_text(type, bytes, precision));
        }
    });
}

}  // namespace pmemcpy::cli
