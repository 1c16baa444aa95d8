#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace pmemcpy::cli {

/// Rows of text in aligned columns, two spaces apart. The last column is never padded, so it may hold
/// anything.
class Table {
public:
    enum class Align { left, right };
    struct Column {
        std::string title;
        Align align = Align::left;
    };

    explicit Table(std::vector<Column> columns);
    void add(std::vector<std::string> cells);
    bool empty() const noexcept { return rows_.empty(); }
    /// The titles, unless all are empty, and the rows; each line begins with `indent` spaces.
    std::string text(std::size_t indent = 0) const;

private:
    std::vector<Column> columns_;
    std::vector<std::vector<std::string>> rows_;
};

}  // namespace pmemcpy::cli
