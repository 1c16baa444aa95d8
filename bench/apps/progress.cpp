#include "progress.hpp"

#include <cstdio>

namespace domain3d {

Progress::Progress(std::string what, std::uint64_t total, bool is_shown)
    : what_(std::move(what)),
      total_(total),
      is_shown_(is_shown),
      next_(Clock::now() + std::chrono::seconds(1)) {}

Progress::~Progress() {
    if (is_drawn_) std::fputs("\r\033[K", stderr);
}

void Progress::add(std::uint64_t done) {
    done_ += done;
    if (!is_shown_ || Clock::now() < next_) return;
    next_ = Clock::now() + std::chrono::milliseconds(100);
    constexpr int width = 40;
    const double part = total_ == 0 ? 1.0 : static_cast<double>(done_) / static_cast<double>(total_);
    const auto filled = static_cast<std::size_t>(part * width);
    const std::string bar = std::string(filled, '#') + std::string(width - filled, '.');
    std::fprintf(stderr, "\r%-12s [%s] %3.0f %%\033[K", what_.c_str(), bar.c_str(), 100 * part);
    std::fflush(stderr);
    is_drawn_ = true;
}

}  // namespace domain3d
