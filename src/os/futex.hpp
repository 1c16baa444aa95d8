#pragma once

#include <cstdint>

namespace pmemcpy::os {

/// Sleeps until somebody wakes those that wait on this word of shared memory, which may be mapped for reading only. Returns at
/// once if it is no longer `expected`; earlier than anybody wakes it when the time is over, or a signal comes.
/// Source: futex(2).
enum class Woken { by_somebody, by_time, by_signal };
Woken wait_on(const std::uint32_t* word, std::uint32_t expected, std::uint64_t at_most_ns);
/// Wakes all who wait on the word, in any process.
void wake_all(const std::uint32_t* word);
/// One of them.
void wake_one(const std::uint32_t* word);

}  // namespace pmemcpy::os
