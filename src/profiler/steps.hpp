#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string>

#include <pmemcpy/durability.hpp>
#include <pmemcpy/error.hpp>

namespace pmemcpy::profiler {

/// What is done in a place, in this order.
enum Step { write_large, write_small, read_large, read_small };
inline constexpr std::size_t step_count = 4;
inline constexpr std::array step_names = {"large write", "small write", "large read", "small read"};

inline constexpr std::uint64_t small_bytes = 4096;
inline constexpr std::uint64_t largest_bytes = 4 << 20;
inline constexpr std::size_t sample_count = 512;
inline constexpr std::uint64_t most_small = 4096;  ///< accesses of a step

/// What has come back of a step so far.
struct Tally {
    std::atomic<std::uint64_t> bytes{0};
    std::atomic<std::uint64_t> from_ns{0}, until_ns{0};  ///< when these were done
    std::atomic<std::uint64_t> accesses{0};
    std::array<std::atomic<std::uint64_t>, sample_count>
        sample_ns{};  ///< of small accesses, the last so many
};

/// What a child says, in memory that it shares: its parent may leave it behind at any moment.
struct Account {
    enum State : std::uint64_t { begun, done, failed };
    std::atomic<std::uint64_t> state{begun};
    Code code{};
    std::array<char, 512> failure{};
    bool is_direct = false;
    Durability durability = Durability::none;
    std::array<Tally, step_count> steps;
};

/// How many children have come to each step, so that they do the same at the same time.
struct Meeting {
    std::array<std::atomic<std::uint64_t>, step_count> arrived{};
};

struct Task {
    std::string directory;
    std::uint64_t bytes = 0;    ///< of each child
    std::uint64_t step_ns = 0;  ///< after which no access begins
    std::uint64_t children = 1;
    bool is_memory = false;  ///< measured as it is, past no cache
};

/// All steps, in a child: which one it is makes its data differ from the others'. Failures go into the account.
void take_steps(const Task& task, std::uint64_t number, Meeting& meeting, Account& account);

}  // namespace pmemcpy::profiler
