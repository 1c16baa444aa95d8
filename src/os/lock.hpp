#pragma once

#include <cstdint>

#include "os/file.hpp"

namespace pmemcpy::os {

/// Locks of an open file description (F_OFD_*) on byte ranges. The kernel drops them when the last descriptor
/// of the description is closed, a killed process's too. Threads that share a File share its locks.
enum class LockKind { shared, exclusive };

/// True if the lock was taken; false if another description's lock is in the way.
[[nodiscard]] bool try_lock(File& file, LockKind kind, std::uint64_t offset, std::uint64_t length);
/// Waits for the lock.
void lock(File& file, LockKind kind, std::uint64_t offset, std::uint64_t length);
/// Drops every lock of this description in the range.
void unlock(File& file, std::uint64_t offset, std::uint64_t length);
/// The same for destructors, which have nobody to tell: what cannot be let go of is held until the file is closed. In a forked child
/// there is nothing to let go of, for its descriptor is a stub (`ClosedInChild`).
void let_go(File& file, std::uint64_t offset, std::uint64_t length) noexcept;
/// Whether another description holds a lock that this one would collide with. Never sees the File's own
/// locks.
[[nodiscard]] bool conflicts(const File& file, LockKind kind, std::uint64_t offset, std::uint64_t length);
/// A process of this one's PID namespace that is stopped and has an exclusive lock on that byte. 0: none, or the kernel does not show it, as
/// it shows nothing of other users' processes. Cost: a look at every process of the machine, some milliseconds.
[[nodiscard]] std::uint64_t stopped_holder(const File& file, std::uint64_t offset);

}  // namespace pmemcpy::os
