#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace pmemcpy::cli {

/// What a bar counts: bytes, variables, or the seconds of what has a limit.
enum class Unit { bytes, variables, seconds };

/// A bar on stderr, for people only: nothing unless stderr is a terminal and the work takes longer than a
/// second.
class Progress {
public:
    explicit Progress(std::string what, Unit unit = Unit::bytes);
    ~Progress() { hide(); }
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    void show(std::uint64_t done, std::uint64_t all);
    /// Takes the bar away until it is shown again, so that other output has the line.
    void hide();

private:
    using Clock = std::chrono::steady_clock;
    std::string what_;
    Unit unit_;
    bool is_terminal_;
    bool is_shown_ = false;
    Clock::time_point begun_ = Clock::now();
    Clock::time_point drawn_ = begun_;
};

/// The bar's one line, which fits into so many columns: how much is done, how fast on the whole, and how long the rest
/// takes at that.
std::string progress_text(std::string_view what, Unit unit, std::uint64_t done, std::uint64_t all,
                          double seconds, std::size_t columns);

}  // namespace pmemcpy::cli
