#pragma once

#include <termios.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pmemcpy::cli {

/// The terminal, as a verb that draws it anew again and again has it: another screen than the one of the shell, which comes
/// back when this goes, and keys that come without the enter key.
class Screen {
public:
    struct Size {
        int columns = 80;
        int rows = 24;
    };

    Screen();  ///< stdout is a terminal
    ~Screen();
    Screen(const Screen&) = delete;
    Screen& operator=(const Screen&) = delete;

    /// Of the terminal that stdout is; 80 x 24 where that cannot be told.
    static Size size();

    /// Lines that are too long, and lines too many, are cut off.
    void draw(const std::vector<std::string>& lines);
    /// What keys come from, or -1 when stdin is no terminal.
    int keys() const noexcept { return shell_modes_ ? 0 : -1; }
    /// The key that is waiting.
    static char key();

private:
    std::optional<termios> shell_modes_;  // of stdin
};

}  // namespace pmemcpy::cli
