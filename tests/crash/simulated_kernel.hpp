#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include <sys/types.h>

#include "os/calls.hpp"

namespace pmemcpy::crash {

/// What the simulated file system says of itself.
enum class Model {
    line,  ///< DAX: it maps with MAP_SYNC, so that a flushed line is durable at the next fence
    page,  ///< behind the page cache: durable after fdatasync
};

/// Hears what the pool's file goes through beside the stores into its mapping.
class FileListener {
public:
    virtual ~FileListener() = default;
    virtual void on_allocate(std::uint64_t offset, std::uint64_t length) = 0;
    virtual void on_punch(std::uint64_t offset, std::uint64_t length) = 0;
};

/// A kernel with one pool and its .rt, both in memory of this process, so that opening a pool costs no system call
/// and a crash image is put in place by changing a few bytes. A forked child has the same files and meets the same locks;
/// nobody can wait for one.
class SimulatedKernel {
public:
    static constexpr const char* path = "/simulated/pool";
    static constexpr std::uint64_t most_pool_bytes = std::uint64_t{2} << 20;

    /// What the pool lies on: a file of a file system, or a whole devdax device.
    enum class Place { file, device };
    static constexpr std::uint64_t device_bytes = std::uint64_t{512} << 10;
    explicit SimulatedKernel(Model model, Place place = Place::file);
    ~SimulatedKernel();
    /// The one that there is.
    static SimulatedKernel& current();
    SimulatedKernel(const SimulatedKernel&) = delete;
    SimulatedKernel& operator=(const SimulatedKernel&) = delete;

    /// The bytes of the pool's file, which are also those of every mapping of it.
    std::span<std::byte> pool() const { return {pool_, state_->size}; }
    /// All that processes share: the pool's bytes, whatever its size, and those of its .rt behind them.
    std::span<std::byte> shared() const;
    /// The name is free again: the next open that may create a pool makes an empty one.
    void remove_pool();
    void set_listener(FileListener* listener) { listener_ = listener; }
    /// The pages for which the file system has promised space. Nobody may store into others: on a full device that is a
    /// signal and not an error (law 9).
    using Allocation = std::bitset<most_pool_bytes / 4096>;
    const Allocation& allocation() const { return state_->allocation; }
    void set_allocation(const Allocation& allocation) { state_->allocation = allocation; }
    bool is_allocated(std::uint64_t offset, std::uint64_t length) const;

    /// How much the file system has left for fallocate to promise.
    void set_free_bytes(std::uint64_t bytes) { state_->free_bytes = bytes; }

    /// A child is dead: its locks are free.
    void bury(pid_t child);

private:
    friend struct Handlers;
    bool is_device() const { return place_ == Place::device; }

    // Of an open file description on a range of a file, as F_OFD_SETLK makes it.
    struct Lock {
        int fd;
        pid_t process;
        std::uint64_t begin, end;
        short type;
    };
    // What all processes see of the files beside their bytes.
    struct State {
        std::uint64_t size = 0;
        std::uint64_t runtime_size = 0;
        bool linked = false;
        Allocation allocation;
        std::uint64_t free_bytes = std::uint64_t{1} << 40;
        std::int64_t ticks = 0;
        int opened = 0;
        std::size_t locks = 0;
        std::array<Lock, 64> lock;
    };

    Model model_;
    Place place_;
    std::byte* arena_;  // shared with children: the pool, the .rt, the state
    std::byte* pool_;
    std::byte* runtime_;
    State* state_;
    FileListener* listener_ = nullptr;
    os::Calls previous_;
};

/// Marks the pages of [offset, offset + length).
void set_pages(SimulatedKernel::Allocation& pages, std::uint64_t offset, std::uint64_t length,
               bool allocated);

}  // namespace pmemcpy::crash
