#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace domain3d {

/// A bar on the terminal for work that takes longer than a second; shorter work leaves the terminal alone.
class Progress {
public:
    Progress(std::string what, std::uint64_t total, bool is_shown);
    ~Progress();  ///< removes the bar
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;
    void add(std::uint64_t done);

private:
    using Clock = std::chrono::steady_clock;
    std::string what_;
    std::uint64_t total_;
    std::uint64_t done_ = 0;
    bool is_shown_;
    bool is_drawn_ = false;
    Clock::time_point next_;
};

}  // namespace domain3d
