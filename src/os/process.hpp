#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace pmemcpy::os {

/// This process's number in its own PID namespace: for people to read, never to identify anybody.
std::uint64_t process_id();
/// Names the namespace in which that is its number, for as long as the machine runs; 0 where it cannot be told.
std::uint64_t pid_namespace();
/// Names this run of the kernel, in all its containers alike; 0 where it cannot be told. Asks the kernel once in a process.
std::uint64_t boot_id();
/// Whether a process of this one's namespace is stopped: by a signal or a debugger. False where it cannot be told.
bool is_stopped(std::uint64_t process);
/// "process 1234 (climate)": for people who look for it.
std::string described(std::uint64_t process);
/// Whom the kernel takes this process for when it opens files.
unsigned user_id();
std::string host_name();
/// The name of the running program without its directories.
std::string program_name();
/// Nanoseconds since some point, never backwards; comparable between processes of one boot.
std::uint64_t monotonic_ns();
/// The same in ticks of some milliseconds, for a hundredth of the price.
std::uint64_t coarse_ns();
/// Lets other threads and processes go first.
void yield();
/// On which processors the calling thread may run. Empty where they cannot be told.
std::vector<unsigned> cores();
/// From here on the calling thread, and those that it makes, run on these processors only. False, and nothing is changed, if it may run on none
/// of them.
bool run_on(const std::vector<unsigned>& cores);
/// From here on the calling thread, and those that it makes, get a tenth of the processor where others want it as well. (nice 10)
void give_way();
/// Or less, when a signal comes in between.
void sleep_ns(std::uint64_t time);
/// A write call beyond it is a signal (ulimit -f).
std::uint64_t file_size_limit();
/// Faults for which nothing had to be read, of the calling thread so far.
std::uint64_t page_faults();
/// Nanoseconds since 1970-01-01 UTC, never 0 and never more than an int64 has. An earlier or later clock gives the first or the last of these.
std::uint64_t wall_ns();

}  // namespace pmemcpy::os
