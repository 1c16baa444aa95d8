#include <fmt/core.h>

#include <memory>
#include <pmemcpy/messages.hpp>

#include "cli/call/exit_code.hpp"
#include "cli/call/invocation.hpp"
#include "cli/element/element.hpp"
#include "cli/terminal/table.hpp"

namespace pmemcpy::cli {

namespace {

using Json = nlohmann::ordered_json;

struct Arguments {
    std::string file;
    bool recover = false;
};

int messages(const Arguments& arguments, bool json) {
    MessageQueue queue = MessageQueue::open(arguments.file);
    const std::uint64_t recovered = arguments.recover ? queue.recover() : 0;
    if (json) {
        Json waiting = Json::array();
        for (std::uint32_t priority = 0; priority < queue.priorities(); ++priority)
            waiting.push_back(queue.size(priority));
        fmt::print("{}\n", dump({{"capacity", queue.capacity()},
                                 {"waiting", std::move(waiting)},
                                 {"claimed", queue.claimed()},
                                 {"recovered", recovered}}));
        return exit_ok;
    }
    if (arguments.recover) fmt::print("{} messages given back\n", recovered);
    Table table({{}, {}});
    table.add({"priority", "waiting"});
    for (std::uint32_t priority = queue.priorities(); priority-- > 0;)
        table.add({std::to_string(priority), std::to_string(queue.size(priority))});
    fmt::print("{}{} claimed; there is room for {} in all\n", table.text(), queue.claimed(),
               queue.capacity());
    return exit_ok;
}

}  // namespace

void add_messages(CLI::App& command, Invocation& invocation) {
    const auto arguments = std::make_shared<Arguments>();
    Verb(command, invocation, "messages",
         "Show how many messages wait in a queue, and give back what the dead had claimed")
        .needs("FILE", arguments->file, "A file of messages, as MessageQueue makes it")
        .takes("--recover", arguments->recover, "Let others have what processes that are gone had claimed")
        .takes_json()
        .runs([arguments](bool json) { return messages(*arguments, json); });
}

}  // namespace pmemcpy::cli
