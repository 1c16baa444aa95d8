#include "progress.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "size.hpp"

namespace pmemcpy::cli {

namespace {

constexpr auto patience = std::chrono::seconds(1);
constexpr auto between_drawings = std::chrono::milliseconds(100);
constexpr std::uint64_t bar_width = 30;

}  // namespace

Progress::Progress(std::string what) : what_(std::move(what)), is_terminal_(isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() {
    if (is_shown_) std::fputs("\r\033[K", stderr);
}

void Progress::show(std::uint64_t done_bytes, std::uint64_t all_bytes) {
    if (!is_terminal_ || all_bytes == 0) return;
    const auto now = Clock::now();
    if (now - begun_ < patience || now - drawn_ < between_drawings) return;
    drawn_ = now;
    is_shown_ = true;
    const double part = std::min(1.0, static_cast<double>(done_bytes) / static_cast<double>(all_bytes));
    const auto full = static_cast<std::uint64_t>(part * static_cast<double>(bar_width));
    fmt::print(stderr, "\r{} [{:#<{}}{: <{}}] {:3.0f} %  {} of {}\033[K", what_, "", full, "",
               bar_width - full, 100 * part, human_size(done_bytes), human_size(all_bytes));
    std::fflush(stderr);
}

}  // namespace pmemcpy::cli
