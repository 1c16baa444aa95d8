#include "cli/call/exit_code.hpp"

namespace pmemcpy::cli {

int exit_code(Code code) noexcept {
    switch (code) {
        case Code::not_found:
            return exit_damage;
        case Code::invalid_argument:
        case Code::out_of_range:
        case Code::type_mismatch:
            return exit_usage;
        case Code::already_exists:
            return 3;
        case Code::no_space:
            return 4;
        case Code::corrupt:
            return 5;
        case Code::io_error:
            return 6;
        case Code::busy:
            return 7;
        case Code::unsupported:
            return 8;
        case Code::permission_denied:
            return 9;
    }
    return 6;
}

std::string exit_code_table() {
    return "Sizes are written as 4096, 64KiB, 1.5GiB or 2TB.\n"
           "\n"
           "Exit status:\n"
           "  0  done\n"
           "  1  not found; or verify found damage, diff a difference (what diff does not find is 2), watch "
           "less than --count in time\n"
           "  2  the call makes no sense: usage, invalid_argument, out_of_range, type_mismatch\n"
           "  3  already_exists\n"
           "  4  no_space; also for what is printed\n"
           "  5  corrupt\n"
           "  6  io_error; also where what is printed cannot be written for another reason\n"
           "  7  busy\n"
           "  8  unsupported\n"
           "  9  permission_denied\n"
           "  130  ended by ^C; and 128 + the signal by another one\n";
}

}  // namespace pmemcpy::cli
