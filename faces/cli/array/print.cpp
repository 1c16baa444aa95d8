#include "cli/array/print.hpp"

#include <fmt/core.h>

#include <memory>

#include "cli/array/pieces.hpp"
#include "cli/array/source.hpp"
#include "cli/element/writer.hpp"

namespace pmemcpy::cli {

namespace {

using Bytes = std::span<const std::byte>;

std::unique_ptr<Writer> writer_of(const Manner& manner, Sink& sink, const Type& stored,
                                  const Selection& selection) {
    const Type& type = manner.as_text ? Type::string() : stored;
    if (manner.print == Print::json) return json_writer(sink, type, selection.count);
    if (manner.print == Print::csv) return csv_writer(sink, type, selection, manner.precision);
    return text_writer(sink, type, selection.count, manner.precision);
}

void add_to(Writer& writer, const Manner& manner, Bytes element) {
    if (!manner.as_text) return writer.add(element);
    const std::string text = manner.as_text(element);
    writer.add(std::as_bytes(std::span(text)));
}

/// In the order of indices, also where the first one is the fastest in memory.
void write_elements(Source& source, Writer& writer, const Manner& manner,
                    const std::function<void(std::uint64_t)>& show) {
    const std::uint64_t size = source.info().type.size();
    source.each(Order::c, [&](Bytes bytes, const Selection& piece) {
        each_place(piece.count, source.info().order,
                   [&](std::uint64_t place) { add_to(writer, manner, bytes.subspan(place * size, size)); });
        show(bytes.size());
    });
    writer.finish();
}

nlohmann::ordered_json list_of(const Dimensions& dims) {
    return nlohmann::ordered_json(std::vector<Extent>(dims.begin(), dims.end()));
}

/// A sequence as an array of one dimension, anything else as one of none.
void write_value(Sink& sink, const Type& stored, Bytes bytes, const Manner& manner) {
    const Type type = is_text(stored) ? Type::string() : stored;
    const bool is_sequence = type.kind() == Kind::sequence;
    const Type& element = is_sequence ? type.element() : type;
    if (element.kind() != Kind::string) check_whole(element, bytes, is_sequence);
    const std::uint64_t size = element.kind() == Kind::string ? bytes.size() : element.size();
    const Selection selection = is_sequence ? Selection({0}, {bytes.size() / size}) : Selection({}, {});
    const auto writer = writer_of(manner, sink, element, selection);
    if (is_sequence) {
        for (std::uint64_t at = 0; at < bytes.size(); at += size)
            add_to(*writer, manner, bytes.subspan(at, size));
    } else {
        add_to(*writer, manner, bytes);
    }
    writer->finish();
}

/// Of a sequence a list.
nlohmann::ordered_json texts_json(const Type& type, Bytes bytes, const Manner& manner) {
    const bool is_sequence = type.kind() == Kind::sequence;
    const Type& element = is_sequence ? type.element() : type;
    check_whole(element, bytes, is_sequence);
    if (!is_sequence) return manner.as_text(bytes);
    auto list = nlohmann::ordered_json::array();
    for (std::uint64_t at = 0; at < bytes.size(); at += element.size())
        list.push_back(manner.as_text(bytes.subspan(at, element.size())));
    return list;
}

}  // namespace

void print_array(const PMEM& pmem, const Info& info, const Selection& selection,
                 std::optional<std::uint64_t> step, const Manner& manner, Sink& sink,
                 const std::function<void(std::uint64_t)>& show) {
    Source source(pmem, info, selection, step);
    if (manner.print == Print::raw) {
        return source.each(info.order, [&](Bytes bytes, const Selection&) {
            sink.write(bytes);
            show(bytes.size());
        });
    }
    if (manner.print == Print::json) {
        std::string opening = dump({{"id", info.id},
                                    {"type", info.type.name()},
                                    {"offset", list_of(selection.offset)},
                                    {"count", list_of(selection.count)},
                                    {"stride", list_of(selection.stride)}});
        opening.pop_back();
        sink.write(opening + ",\"values\":");
    }
    const auto writer = writer_of(manner, sink, info.type, selection);
    write_elements(source, *writer, manner, show);
    if (manner.print == Print::json) sink.write("}\n");
}

void check_printable(const Info& value, Print print) {
    if (print == Print::raw || is_readable(value.type, value.serializer)) return;
    throw Error(Code::unsupported,
                fmt::format("{} is a {}, stored by {}: only a program that knows the type can "
                            "read it; cat --raw writes its {} bytes as they are",
                            value.id, value.type.name(), name_of(value.serializer), value.bytes));
}

void print_value(const PMEM& pmem, const std::string& id, const Manner& manner, Sink& sink) {
    pmem.load_encoded(id, [&](const Type& type, SerializerType, Bytes bytes) {
        if (manner.as_text && manner.print == Print::json)
            return sink.write(
                dump({{"id", id}, {"type", type.name()}, {"value", texts_json(type, bytes, manner)}}) + "\n");
        if (manner.as_text) return write_value(sink, type, bytes, manner);
        switch (manner.print) {
            case Print::raw:
                return sink.write(bytes);
            case Print::json:
                return sink.write(
                    dump({{"id", id}, {"type", type.name()}, {"value", value_json(type, bytes)}}) + "\n");
            case Print::csv:
                return write_value(sink, type, bytes, manner);
            case Print::text:
                return sink.write(value_text(type, bytes, manner.precision));
        }
    });
}

}  // namespace pmemcpy::cli
