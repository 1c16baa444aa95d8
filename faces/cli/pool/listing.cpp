#include "cli/pool/listing.hpp"

#include <fmt/core.h>

#include "cli/pool/describe.hpp"
#include "cli/terminal/size.hpp"
#include "cli/terminal/table.hpp"

namespace pmemcpy::cli {

void print_listing(const std::vector<Info>& infos) {
    using Align = Table::Align;
    Table table({{"kind"},
                 {"type"},
                 {"shape"},
                 {"blocks", Align::right},
                 {"size", Align::right},
                 {"written"},
                 {"id"}});
    for (const Info& info : infos) {
        const bool is_group = info.kind == VariableKind::group;
        table.add({name_of(info.kind), is_group ? "-" : short_type(info.type), shape_text(info),
                   info.kind == VariableKind::array ? std::to_string(info.blocks) : "-",
                   is_group ? "-" : human_size(info.bytes), human_time(info.written_ns), info.id});
    }
    if (!table.empty()) fmt::print("{}", table.text());
}

}  // namespace pmemcpy::cli
