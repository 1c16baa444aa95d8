#include "cli/terminal/screen.hpp"

#include <fmt/core.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace pmemcpy::cli {

namespace {

// As xterm and all that follow it understand: the other screen, no cursor, and lines that end at the edge.
constexpr const char* enter = "\033[?1049h\033[?25l\033[?7l\033[2J";
constexpr const char* leave = "\033[?7h\033[?25h\033[?1049l";

}  // namespace

Screen::Screen() {
    if (termios modes{}; isatty(STDIN_FILENO) == 1 && tcgetattr(STDIN_FILENO, &modes) == 0) {
        shell_modes_ = modes;
        modes.c_lflag &= static_cast<tcflag_t>(~(ICANON | ECHO));
        modes.c_cc[VSUSP] = _POSIX_VDISABLE;  // who is stopped here would leave the shell with this screen
        tcsetattr(STDIN_FILENO, TCSANOW, &modes);
    }
    std::fputs(enter, stdout);
    std::fflush(stdout);
}

Screen::~Screen() {
    std::fputs(leave, stdout);
    std::fflush(stdout);
    if (shell_modes_) tcsetattr(STDIN_FILENO, TCSANOW, &*shell_modes_);
}

Screen::Size Screen::size() {
    winsize window{};
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) != 0 || window.ws_col == 0 || window.ws_row == 0) return {};
    return {window.ws_col, window.ws_row};
}

void Screen::draw(const std::vector<std::string>& lines) {
    const auto most = static_cast<std::size_t>(size().rows);
    const std::size_t rows = std::min(lines.size(), most);
    std::fputs("\033[H", stdout);
    for (std::size_t i = 0; i < rows; ++i) {
        fmt::print("\033[2K{}{}", lines[i], i + 1 < rows ? "\r\n" : "");
    }
    if (rows < most) std::fputs("\r\n\033[J", stdout);
    std::fflush(stdout);
}

char Screen::key() {
    char key = 0;
    return read(STDIN_FILENO, &key, 1) == 1 ? key : '\0';
}

}  // namespace pmemcpy::cli
