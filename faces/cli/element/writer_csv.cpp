#include <pmemcpy/number.hpp>
#include <utility>

#include "cli/element/leaf.hpp"
#include "cli/element/writer.hpp"

namespace pmemcpy::cli {

namespace {

constexpr std::string_view end_of_line = "\r\n";

/// RFC 4180, 2.6 and 2.7: what has a comma, a quote or a line break in it stands in quotes, and its quotes twice.
void append_field(std::string& out, std::string_view text) {
    if (text.find_first_of(",\"\r\n") == std::string_view::npos) {
        out += text;
        return;
    }
    out += '"';
    for (const char c : text) {
        if (c == '"') out += '"';
        out += c;
    }
    out += '"';
}

bool is_complex(const Type& type) {
    return type.kind() == Kind::complex64 || type.kind() == Kind::complex128;
}

/// The columns of an element; a complex number is two.
std::vector<Leaf> columns_in(const Type& type) {
    std::vector<Leaf> columns;
    for (const Leaf& leaf : leaves_of(type)) {
        if (!is_complex(leaf.type)) {
            columns.push_back(leaf);
            continue;
        }
        const Type part = Type::scalar(part_of(leaf.type.kind()), leaf.type.byte_order());
        columns.push_back({leaf.field, leaf.name + ".real", leaf.offset, part});
        columns.push_back({leaf.field, leaf.name + ".imag", leaf.offset + part.size(), part});
    }
    return columns;
}

class CsvWriter : public Writer {
public:
    CsvWriter(Sink& sink, const Type& type, const Selection& selection, Precision precision)
        : sink_(sink),
          columns_(columns_in(type)),
          selection_(selection),
          index_(Dimensions::filled(selection.size(), 0)),
          precision_(precision) {
        const char* separator = "";
        for (int d = 0; d < selection_.size(); ++d) {
            text_ += separator + ("dim_" + std::to_string(d));
            separator = ",";
        }
        for (const Leaf& column : columns_) {
            text_ += separator;
            append_field(text_, column.name);
            separator = ",";
        }
        text_ += end_of_line;
    }

    void add(std::span<const std::byte> element) override {
        for (int d = 0; d < selection_.size(); ++d) {
            text_ += std::to_string(selection_.offset[d] + index_[d] * selection_.stride[d]);
            text_ += ',';
        }
        const char* separator = "";
        for (const Leaf& column : columns_) {
            cell_.clear();
            const auto bytes =
                column.type.is_fixed_size() ? element.subspan(column.offset, column.type.size()) : element;
            append_text(cell_, column.type, bytes, precision_);
            text_ += separator;
            append_field(text_, cell_);
            separator = ",";
        }
        text_ += end_of_line;
        for (int d = selection_.size(); d-- > 0 && ++index_[d] == selection_.count[d];) index_[d] = 0;
        if (text_.size() >= most_kept_bytes) finish();
    }
    void finish() override {
        sink_.write(text_);
        text_.clear();
    }

private:
    Sink& sink_;
    std::vector<Leaf> columns_;
    Selection selection_;
    Dimensions index_;  // of the next element, within the selection
    Precision precision_;
    std::string text_;
    std::string cell_;
};

}  // namespace

std::unique_ptr<Writer> csv_writer(Sink& sink, const Type& type, const Selection& selection,
                                   Precision precision) {
    return std::make_unique<CsvWriter>(sink, type, selection, precision);
}

}  // namespace pmemcpy::cli
