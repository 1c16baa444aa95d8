#include "cli/terminal/table.hpp"

#include <algorithm>
#include <utility>

#include "cli/terminal/printable.hpp"

namespace pmemcpy::cli {

namespace {

/// In characters, of which each is taken for one column wide.
std::size_t width_of(const std::string& text) {
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
        return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;  // what goes on with a character
    }));
}

void append_line(std::string& out, const std::vector<std::string>& cells,
                 const std::vector<std::size_t>& widths, const std::vector<Table::Column>& columns,
                 std::size_t indent) {
    out.append(indent, ' ');
    for (std::size_t i = 0; i < cells.size(); ++i) {
        const std::size_t padding = widths[i] - width_of(cells[i]);
        if (columns[i].align == Table::Align::right) out.append(padding, ' ');
        out += cells[i];
        if (i + 1 == cells.size()) break;
        if (columns[i].align == Table::Align::left) out.append(padding, ' ');
        out += "  ";
    }
    out += '\n';
}

}  // namespace

Table::Table(std::vector<Column> columns) : columns_(std::move(columns)) {
    for (Column& column : columns_) column.title = printable(column.title);
}

void Table::add(std::vector<std::string> cells) {
    cells.resize(columns_.size());
    for (std::string& cell : cells) cell = printable(cell);
    rows_.push_back(std::move(cells));
}

std::string Table::text(std::size_t indent) const {
    std::vector<std::string> titles;
    std::vector<std::size_t> widths;
    for (const Column& column : columns_) {
        titles.push_back(column.title);
        widths.push_back(width_of(column.title));
    }
    for (const auto& row : rows_) {
        for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width_of(row[i]));
    }
    std::string out;
    const bool titled =
        std::any_of(titles.begin(), titles.end(), [](const std::string& title) { return !title.empty(); });
    if (titled) append_line(out, titles, widths, columns_, indent);
    for (const auto& row : rows_) append_line(out, row, widths, columns_, indent);
    return out;
}

}  // namespace pmemcpy::cli
