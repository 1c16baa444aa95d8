#include "cli/pool/listing.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "cli/pool/describe.hpp"
#include "cli/terminal/size.hpp"
#include "cli/terminal/table.hpp"

namespace pmemcpy::cli {

void print_listing(const std::vector<Info>& infos, const std::vector<ListedColumn>& columns) {
    using Align = Table::Align;
    const auto is_group = [](const Info& info) { return info.kind == VariableKind::group; };
    const bool are_groups = std::all_of(infos.begin(), infos.end(), is_group);
    std::vector<Table::Column> titles = {{"kind"}};
    if (are_groups) {
        titles.push_back({"attributes", Align::right});
    } else {
        titles.insert(titles.end(), {{"type"}, {"shape"}, {"blocks", Align::right}, {"size", Align::right}});
    }
    titles.push_back({"written"});
    for (const ListedColumn& column : columns) titles.push_back({column.title});
    titles.push_back({"id"});
    Table table(titles);
    for (std::size_t i = 0; i < infos.size(); ++i) {
        const Info& info = infos[i];
        std::vector<std::string> cells = {name_of(info.kind)};
        if (are_groups) {
            cells.push_back(std::to_string(info.attributes));
        } else {
            cells.insert(cells.end(), {is_group(info) ? "-" : short_type(info.type), shape_text(info),
                                       info.kind == VariableKind::array ? std::to_string(info.blocks) : "-",
                                       is_group(info) ? "-" : human_size(info.bytes)});
        }
        cells.push_back(human_time(info.written_ns));
        for (const ListedColumn& column : columns) cells.push_back(column.cells[i]);
        cells.push_back(info.id);
        table.add(std::move(cells));
    }
    if (!table.empty()) fmt::print("{}", table.text());
}

}  // namespace pmemcpy::cli
