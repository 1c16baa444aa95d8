#include "cli/copy/exchanged.hpp"

#include <fmt/core.h>

#include "cli/element/element.hpp"
#include "cli/terminal/note.hpp"
#include "cli/terminal/printable.hpp"
#include "cli/terminal/size.hpp"

namespace pmemcpy::cli {

void print_exchanged(const ExchangeReport& report, const std::string& from, const std::string& to,
                     bool json) {
    if (report.private_objects > 0)
        note("{} holds {}, so only you may open it", printable(to),
             counted(report.private_objects, "private object"));
    if (json) {
        fmt::print("{}\n", dump({{"from", from},
                                 {"to", to},
                                 {"groups", report.groups},
                                 {"variables", report.variables},
                                 {"attributes", report.attributes},
                                 {"bytes", report.bytes},
                                 {"private", report.private_objects},
                                 {"warnings", report.warnings}}));
        return;
    }
    for (const std::string& warning : report.warnings) note("{}: {}", from, printable(warning));
    fmt::print("{} -> {}: {}, {}, {}, {}\n", printable(from), printable(to),
               counted(report.variables, "variable"), counted(report.groups, "group"),
               counted(report.attributes, "attribute"), human_size(report.bytes));
}

}  // namespace pmemcpy::cli
