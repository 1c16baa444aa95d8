#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>

#include "os/file.hpp"
#include "persist/characteristic.hpp"
#include "persist/medium.hpp"

namespace pmemcpy::persist {

/// Which way bytes take into a file that is mapped. Through the mapping a store costs a page fault for each 4 KiB that this
/// process has not touched before, and more for pages that nobody has: several times the copy. A write call has no faults, but
/// processes that write to one file wait for each other. Which is faster depends on the kernel, the medium and how many do
/// it, so both are tried and timed. Where a process comes back to, it maps, and stores at the memory's speed from then on.
///
/// One for each mapping that is stored to. Threads may share it.
class Ways {
public:
    /// What this process knows of a piece of the file, as large as a huge page.
    enum class Piece : std::uint8_t { unknown, written_by_call, mapped };
    static constexpr std::uint64_t piece_bytes = std::uint64_t{2} << 20;

    Piece piece(std::uint64_t offset);
    void set(std::uint64_t offset, Piece piece);
    /// Another file begins where the last one did.
    void forget(std::uint64_t bytes);

    enum class Way : std::uint8_t { call, map };
    /// The faster one, as far as is known; now and then the other.
    Way next();
    void took(Way way, std::uint64_t nanoseconds, std::uint64_t bytes);

private:
    // Pieces of a file of up to 64 GiB; of a larger one some share what is known, which costs a little time.
    static constexpr std::size_t known_pieces = 32768;
    using Known = std::array<std::atomic<Piece>, known_pieces>;

    std::atomic<Piece>& known(std::uint64_t offset);

    std::once_flag first_;
    std::unique_ptr<Known> known_;  // when the first large store comes: opening a pool is to stay cheap
    std::array<std::atomic<std::uint64_t>, 2> picoseconds_a_byte_{};
    std::atomic<std::uint64_t> turns_{0};
};

/// Mapped space, and the file that it is of.
struct Place {
    std::byte* mapped = nullptr;
    os::File* file = nullptr;  // none: through the mapping only
    std::uint64_t offset = 0;  // of `mapped` in the file
    Ways* ways = nullptr;
};

/// What is to be found out about the bytes while they pass.
struct Wanted {
    Element element = Element::none;  // the range of such elements
    bool crc = true;
    bool source_may_vanish = false;  // it is mapped from a file that somebody may cut
};

/// Stores `size` bytes the fastest way, and puts into `known` what is wanted, all in one pass over the source. As with
/// copy_to_medium(), the caller fences before it publishes. False when the memory is gone (SIGBUS), or that of a source that may
/// vanish, and then nothing is known.
/// Throws io_error or no_space when the file refuses.
[[nodiscard]] bool store(const Medium& medium, const Place& place, const void* source, std::size_t size,
                         const Wanted& wanted, Characteristic& known, Site site = Site::current());

}  // namespace pmemcpy::persist
