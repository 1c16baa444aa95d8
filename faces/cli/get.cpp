#include <fmt/core.h>

#include <memory>
#include <optional>

#include "describe.hpp"
#include "element.hpp"
#include "exit_code.hpp"
#include "invocation.hpp"
#include "open.hpp"
#include "pieces.hpp"
#include "selection.hpp"
#include "sink.hpp"

namespace pmemcpy::cli {

namespace {

constexpr std::uint64_t piece_bytes = 16ULL << 20;  // loaded at once, whatever the size of the array

struct Arguments {
    std::string pool;
    std::string id;
    std::string output;
    std::optional<std::string> box;
    std::optional<std::uint64_t> step;
    bool raw = false;
};

/// What parts the elements of a selection from each other: element k begins a row, a plane, ...
class Frame {
public:
    explicit Frame(const Dimensions& shape) {
        Extent inner = 1;
        for (int d = shape.size(); d-- > 0;) sizes_.push_back(inner *= shape[d]);  // of a row, a plane, ...
    }
    /// How many rows, planes, ... begin or end right before element k.
    std::size_t edges_at(Extent k) const {
        std::size_t edges = 0;
        while (edges < sizes_.size() && k % sizes_[edges] == 0) ++edges;
        return edges;
    }

private:
    std::vector<Extent> sizes_;
};

/// Rows on lines, an empty line between planes; the elements of a 1-D array on a line each.
class TextWriter {
public:
    TextWriter(Sink& sink, const Type& type, const Dimensions& shape)
        : sink_(sink), type_(type), frame_(shape), elements_(shape.elements()), is_list_(shape.size() <= 1) {}

    void add(std::span<const std::byte> element) {
        append_text(line_, type_, element);
        ++written_;
        const std::size_t edges = frame_.edges_at(written_);
        if (!is_list_ && edges == 0) {
            line_ += ' ';
        } else {
            line_ += '\n';
            if (!is_list_ && edges >= 2 && written_ != elements_) line_ += '\n';
        }
        if (line_.size() >= 1U << 16) flush();
    }
    void flush() {
        sink_.write(line_);
        line_.clear();
    }

private:
    Sink& sink_;
    const Type& type_;
    Frame frame_;
    Extent elements_;
    Extent written_ = 0;
    bool is_list_;
    std::string line_;
};

/// Lists in lists, written as they come.
class JsonWriter {
public:
    JsonWriter(Sink& sink, const Type& type, const Dimensions& shape)
        : sink_(sink), type_(type), frame_(shape) {}

    void add(std::span<const std::byte> element) {
        const std::size_t opens = frame_.edges_at(written_);
        if (written_ != 0) text_ += ',';
        text_.append(opens, '[');
        text_ += dump(to_json(type_, element));
        ++written_;
        text_.append(frame_.edges_at(written_), ']');
        if (text_.size() >= 1U << 16) flush();
    }
    void flush() {
        sink_.write(text_);
        text_.clear();
    }
    bool is_empty() const { return written_ == 0; }

private:
    Sink& sink_;
    const Type& type_;
    Frame frame_;
    Extent written_ = 0;
    std::string text_;
};

/// Loads a selection piece by piece and hands each to visit(bytes, shape of the piece).
template <class Visit>
void load_pieces(const PMEM& pmem, const Info& info, const Selection& selection, const Arguments& arguments,
                 Order order, Visit&& visit) {
    std::vector<std::byte> buffer;
    each_piece(selection, order, info.type.size(), piece_bytes, [&](const Selection& piece) {
        buffer.resize(piece.elements() * info.type.size());
        pmem.load(arguments.id, info.type, buffer.data(), piece, arguments.step);
        visit(std::span<const std::byte>(buffer), piece.count);
    });
}

/// In the order of indices, also where the first one is the fastest in memory.
template <class Writer>
void write_elements(const PMEM& pmem, const Info& info, const Selection& selection,
                    const Arguments& arguments, Writer& writer) {
    const std::uint64_t size = info.type.size();
    load_pieces(pmem, info, selection, arguments, Order::c,
                [&](std::span<const std::byte> bytes, const Dimensions& shape) {
                    each_place(shape, info.order,
                               [&](std::uint64_t place) { writer.add(bytes.subspan(place * size, size)); });
                });
    writer.flush();
}

void get_array(const PMEM& pmem, const Info& info, const Arguments& arguments, bool json) {
    const Selection selection =
        arguments.box ? parse_selection(*arguments.box, info.dims) : Selection(Box::whole(info.dims));
    Sink sink(arguments.output);
    if (arguments.raw) {
        load_pieces(pmem, info, selection, arguments, info.order,
                    [&](std::span<const std::byte> bytes, const Dimensions&) { sink.write(bytes); });
    } else if (json) {
        nlohmann::ordered_json head = {{"id", info.id},
                                       {"type", info.type.name()},
                                       {"offset", to_json(selection.offset)},
                                       {"count", to_json(selection.count)},
                                       {"stride", to_json(selection.stride)}};
        std::string opening = dump(head);
        opening.pop_back();
        sink.write(opening + ",\"values\":");
        JsonWriter writer(sink, info.type, selection.count);
        write_elements(pmem, info, selection, arguments, writer);
        sink.write(writer.is_empty() ? "[]}\n" : "}\n");
    } else {
        TextWriter writer(sink, info.type, selection.count);
        write_elements(pmem, info, selection, arguments, writer);
    }
    sink.finish();
}

void get_value(const PMEM& pmem, const Info& info, const Arguments& arguments, bool json) {
    if (arguments.box || arguments.step) {
        throw Error(Code::invalid_argument,
                    fmt::format("{} is a value, not an array: it has no --box and no --step", info.id));
    }
    pmem.load_encoded(
        arguments.id, [&](const Type& type, SerializerType serializer, std::span<const std::byte> bytes) {
            if (!arguments.raw && !is_readable(type, serializer)) {
                throw Error(Code::unsupported,
                            fmt::format("{} is a {}, stored by {}: only a program that knows the type can "
                                        "read it; --raw writes its {} "
                                        "bytes as they are",
                                        info.id, type.name(), name_of(serializer), bytes.size()));
            }
            Sink sink(arguments.output);
            if (arguments.raw) {
                sink.write(bytes);
            } else if (json) {
                const nlohmann::ordered_json answer = {
                    {"id", info.id}, {"type", type.name()}, {"value", value_json(type, bytes)}};
                sink.write(dump(answer) + "\n");
            } else {
                sink.write(value_text(type, bytes));
            }
            sink.finish();
        });
}

int get(const Arguments& arguments, bool json) {
    const PMEM pmem = open_for_reading(arguments.pool);
    const Info info = pmem.info(arguments.id);
    switch (info.kind) {
        case VariableKind::array:
            get_array(pmem, info, arguments, json);
            break;
        case VariableKind::value:
            get_value(pmem, info, arguments, json);
            break;
        case VariableKind::group:
            throw Error(Code::invalid_argument,
                        fmt::format("{} is a group; `pmemcpy ls {} {}/` lists what is in it", info.id,
                                    arguments.pool, info.id));
    }
    return exit_ok;
}

}  // namespace

void add_get(CLI::App& command, Invocation& invocation) {
    const auto arguments = std::make_shared<Arguments>();
    Verb(command, invocation, "get", "Print what is stored in a variable")
        .needs("POOL", arguments->pool, "The pool")
        .needs("ID", arguments->id, "The variable")
        .takes("--box", arguments->box,
               "Only a part of an array, as first:end[:stride] in each dimension: 0:10,3,:")
        .takes("--step", arguments->step, "An array as it was at a committed step")
        .takes("-o,--output", arguments->output, "Write to a file")
        .takes("--raw", arguments->raw, "The bytes as they are, in the array's own order")
        .takes_json("Print JSON; numbers that JSON has no word for become text", "--raw")
        .runs([arguments](bool json) { return get(*arguments, json); });
}

}  // namespace pmemcpy::cli
