#include "cli/terminal/progress.hpp"

#include <fmt/core.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include "cli/terminal/size.hpp"

namespace pmemcpy::cli {

namespace {

constexpr auto patience = std::chrono::seconds(1);
constexpr auto between_drawings = std::chrono::milliseconds(100);
constexpr std::size_t widest_bar = 30;
constexpr std::size_t narrowest_bar = 5;
constexpr std::size_t usual_columns = 80;

std::size_t terminal_columns() {
    winsize size{};
    const bool is_known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    return is_known ? size.ws_col : usual_columns;
}

std::string amount_text(Unit unit, double amount) {
    if (unit == Unit::variables) return fmt::format("{:.0f}", amount);
    if (unit == Unit::seconds) return fmt::format("{:.0f} s", amount);
    return human_size(static_cast<std::uint64_t>(std::clamp(amount, 0.0, 0x1p63)));
}

/// "0:07", "12:30", "3:05:00".
std::string duration_text(double seconds) {
    const auto whole = static_cast<std::uint64_t>(std::clamp(std::ceil(seconds), 0.0, 1e9));
    if (whole < 3600) return fmt::format("{}:{:02}", whole / 60, whole % 60);
    return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

}  // namespace

std::string progress_text(std::string_view what, Unit unit, std::uint64_t done, std::uint64_t all,
                          double seconds, std::size_t columns) {
    const double whole = static_cast<double>(all);
    const double so_far = std::min(static_cast<double>(done), whole);
    const double part = all == 0 ? 1 : so_far / whole;
    std::string text = fmt::format("{:3.0f} %  {} of {}", std::floor(100 * part), amount_text(unit, so_far),
                                   amount_text(unit, whole));
    if (unit != Unit::seconds && so_far > 0 && seconds > 0) {
        const double rate = so_far / seconds;
        text +=
            fmt::format("  {}/s  {} left", amount_text(unit, rate), duration_text((whole - so_far) / rate));
    }
    const std::size_t taken = what.size() + text.size() + 4;  // brackets and spaces
    const std::size_t width = std::min(widest_bar, columns > taken ? columns - taken : 0);
    if (width < narrowest_bar) return fmt::format("{} {}", what, text).substr(0, columns);
    const auto full = static_cast<std::size_t>(part * static_cast<double>(width));
    return fmt::format("{} [{:#<{}}{: <{}}] {}", what, "", full, "", width - full, text);
}

Progress::Progress(std::string what, Unit unit)
    : what_(std::move(what)), unit_(unit), is_terminal_(isatty(STDERR_FILENO) == 1) {}

void Progress::hide() {
    if (is_shown_) std::fputs("\r\033[K", stderr);
    is_shown_ = false;
}

void Progress::show(std::uint64_t done, std::uint64_t all) {
    if (!is_terminal_ || all == 0) return;
    const auto now = Clock::now();
    if (now - begun_ < patience || now - drawn_ < between_drawings) return;
    drawn_ = now;
    is_shown_ = true;
    const double seconds = std::chrono::duration<double>(now - begun_).count();
    // The last column stays free: a terminal may go on to the next line when it is written to.
    const std::string text = progress_text(what_, unit_, done, all, seconds, terminal_columns() - 1);
    std::fputs(fmt::format("\r{}\033[K", text).c_str(), stderr);
    std::fflush(stderr);
}

}  // namespace pmemcpy::cli
