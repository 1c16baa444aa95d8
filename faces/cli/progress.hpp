#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace pmemcpy::cli {

/// A bar on stderr, for people only: nothing unless stderr is a terminal and the work takes longer than a
/// second.
class Progress {
public:
    explicit Progress(std::string what);
    ~Progress();  ///< takes the bar away
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    void show(std::uint64_t done_bytes, std::uint64_t all_bytes);

private:
    using Clock = std::chrono::steady_clock;
    std::string what_;
    bool is_terminal_;
    bool is_shown_ = false;
    Clock::time_point begun_ = Clock::now();
    Clock::time_point drawn_ = begun_;
};

}  // namespace pmemcpy::cli
