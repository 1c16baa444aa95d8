#include "cli/call/bus_error.hpp"

#include <signal.h>
#include <unistd.h>

#include <string_view>

#include "cli/call/exit_code.hpp"

namespace pmemcpy::cli {

namespace {

// What may be called here is little: neither stdio nor exit().
void end(int) {
    constexpr std::string_view message =
        "pmemcpy: memory of the pool is damaged or gone (SIGBUS); pmemcpy repair makes a new pool of what is "
        "whole\n";
    static_cast<void>(!write(STDERR_FILENO, message.data(), message.size()));
    _exit(exit_code(Code::io_error));
}

}  // namespace

void end_on_bus_error() {
    struct sigaction action {};
    action.sa_handler = end;
    sigaction(SIGBUS, &action, nullptr);
}

}  // namespace pmemcpy::cli
