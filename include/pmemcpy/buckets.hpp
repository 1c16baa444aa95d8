#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <pmemcpy/error.hpp>
#include <span>
#include <string>
#include <utility>
#include <vector>

// Buckets: memory that is set aside once, page by page, and lent in pieces of one size to any process that
// has the file open. A program that buffers its writes takes buckets instead of malloc. Their pages exist
// already, another process can take their content without a copy, and the buckets of a killed process are
// known and come back.
//
//     auto pool = BucketPool::open_or_create("/dev/shm/run.buckets", {.bucket_bytes = 64 << 10, .count = 4096});
//     Buckets held = pool.acquire(size);           // in pieces: one where the buckets lie next to each other
//     held.write(data, size);
//     const auto ids = held.offer(step, size);     // a process with these ids takes them: BucketPool::take
//
// Source: Hermes (Kougkas, Devarakonda, Sun; HPDC 2018), section 3.3.2 A.

namespace pmemcpy {

namespace buckets {
class Pool;
}

/// The use of a bucket. It is only a mark: the holder sets it, and any process can count buckets by it.
enum class Region : std::uint8_t {
    available,     ///< unused: the bucket is free
    ram,           ///< holds data that is in no target below
    nvme,          ///< caches node-local storage
    burst_buffer,  ///< caches a burst buffer or a parallel file system
};

/// The state of a bucket.
enum class BucketState : std::uint8_t {
    available,  ///< free
    filling,    ///< its owner is writing into it
    full,       ///< its owner has declared it complete, by set_full()
    offered,    ///< complete and without an owner: the process that takes it owns it next
};

/// Identifies one use of a bucket, from acquire() to release(). A later use has another id, until the bucket
/// has been used four billion times.
struct BucketId {
    std::uint32_t index = 0;
    std::uint32_t turn = 0;
    friend bool operator==(const BucketId&, const BucketId&) = default;
};

/// A bucket in use, as BucketPool::list() returns it.
struct BucketInfo {
    BucketId id;
    Region region = Region::available;
    BucketState state = BucketState::available;
    bool is_left_behind = false;  ///< its owner has died
    std::uint64_t tag = 0;        ///< the tag given to set_full()
    std::uint64_t bytes = 0;      ///< bytes in use; 0 before set_full()
    std::uint32_t part = 0;       ///< its position among the buckets that were filled together
    std::uint32_t parts = 0;
};

/// Properties of a new file of buckets.
struct BucketOptions {
    std::uint64_t bucket_bytes = 64 << 10;  ///< a multiple of 4096
    std::uint64_t count = 1024;             ///< at most 2^24
    unsigned mode = 0600;                   ///< permissions of the file, before the umask
};

/// One or several buckets that this process holds. The destructor gives them back.
/// Sharing: one thread at a time. Keeps the pool open. Empty in a forked child.
class Buckets {
public:
    Buckets() = default;
    ~Buckets() { release(); }
    Buckets(Buckets&& other) noexcept
        : pool_(std::move(other.pool_)),
          first_(other.first_),
          more_(std::move(other.more_)),
          is_run_(other.is_run_),
          is_written_(other.is_written_) {}
    Buckets& operator=(Buckets&& other) noexcept {
        if (this == &other) return *this;
        release();
        pool_ = std::move(other.pool_);
        first_ = other.first_;
        more_ = std::move(other.more_);
        is_run_ = other.is_run_;
        is_written_ = other.is_written_;
        return *this;
    }

    bool empty() const noexcept { return count() == 0; }
    std::size_t count() const noexcept;
    std::uint64_t bytes() const noexcept;  ///< bytes that fit: count() times the size of a bucket

    /// The memory, in the order of the buckets, page-aligned. Adjacent buckets are one piece.
    std::size_t pieces() const noexcept;
    std::span<std::byte> piece(std::size_t i) const;
    /// The ids of the buckets, in their order.
    std::vector<BucketId> ids() const;

    /// Copies between memory and the buckets, as if they were one piece.
    /// Errors: out_of_range beyond bytes().
    /// Cost: as memcpy, and less for large sizes.
    void write(const void* from, std::uint64_t size, std::uint64_t offset = 0);
    void read(void* to, std::uint64_t size, std::uint64_t offset = 0) const;

    /// Declares the first `bytes` bytes complete, for processes that list the buckets or find them after a
    /// death. `tag` is the caller's own.
    /// Errors: out_of_range beyond bytes().
    void set_full(std::uint64_t tag, std::uint64_t bytes);
    /// Moves the buckets into another region.
    /// Crash: each bucket is in the old region or in the new one.
    /// Errors: invalid_argument for `available`; release() does that.
    void move(Region to);
    /// Calls set_full() and gives the buckets up for the process that takes them by these ids; this object is
    /// empty afterwards. Offered buckets stay until BucketPool::take() or discard(), whichever processes die
    /// or come.
    /// Crash: each bucket is offered or left behind.
    std::vector<BucketId> offer(std::uint64_t tag, std::uint64_t bytes);
    /// Gives the buckets back. Does nothing if there are none.
    void release() noexcept {
        if (pool_) give_back();
    }

private:
    friend class BucketPool;
    friend class buckets::Pool;
    struct Piece {
        std::byte* begin = nullptr;
        std::uint32_t first = 0;
        std::uint32_t count = 0;
    };
    explicit Buckets(std::shared_ptr<buckets::Pool> pool) noexcept : pool_(std::move(pool)) {}
    const Piece& at(std::size_t i) const noexcept { return i == 0 ? first_ : (*more_)[i - 1]; }
    void make_room(std::size_t pieces);
    void hold(const Piece& next) noexcept;
    void give_back() noexcept;
    void give_back_pieces() noexcept;
    void forget() noexcept;
    void forget_written() noexcept;
    std::shared_ptr<buckets::Pool> pool_;  // without it nothing else counts
    Piece first_;
    std::unique_ptr<std::vector<Piece>> more_;  // behind it, where it is in several
    bool is_run_ = false;                       // taken as one, with no word of its own for each
    bool is_written_ = false;                   // and counted as such
};

/// An open file of buckets.
///
/// Crash: a process may be killed at any instruction: each bucket is free, has one owner, or is offered. The
///     buckets of a dead process are listed as left behind until a process takes them; they are freed at the
///     latest when buckets run short. The file does not survive the machine: nothing is synced.
/// Sharing: any number of threads; up to 1024 openings of one pool, over all processes. A process that may
///     write the file may use it, and is trusted: if it scribbles over the file or truncates it, it breaks
///     the pool for all. A forked child must open it anew.
///     No call waits longer than a tenth of a second for a stopped process. A process that is stopped inside a
///     call keeps the buckets that it has taken so far until it goes on or dies, though the call may fail then. If
///     it wanted a part of a run of up to 64 adjacent buckets, free or left behind, it may keep the whole run.
///     Other calls then say no_space or not_found, as if it owned these buckets.
class BucketPool {
public:
    /// Creates a file and allocates all its memory. Errors: already_exists; invalid_argument; no_space.
    static BucketPool create(const std::string& path, const BucketOptions& options = {});
    /// Opens an existing file. Errors: not_found; corrupt for another kind or version of file, and for one that was
    ///     truncated or changed; busy when it is open 1024 times.
    static BucketPool open(const std::string& path);
    /// Opens the file, or creates it. An existing file must match the options, its mode excepted.
    /// Errors: those of create() and open(); invalid_argument when it does not match.
    static BucketPool open_or_create(const std::string& path, const BucketOptions& options = {});

    /// Takes as many buckets as `bytes` need, at least one, adjacent where possible. Frees buckets that dead
    /// processes left behind if there are too few without them.
    /// Errors: no_space when there are too few; invalid_argument for Region::available; busy in a forked
    ///     child.
    /// Cost: one compare-and-swap if this thread gave back as many together, or if up to 64 adjacent ones are
    ///     free; else one for each run of free buckets. Finding the last free buckets takes longer the larger
    ///     the pool is.
    Buckets acquire(std::uint64_t bytes, Region region = Region::ram);
    /// As acquire(), but returns nothing where acquire() throws no_space.
    std::optional<Buckets> try_acquire(std::uint64_t bytes, Region region = Region::ram);

    /// Takes buckets that were offered or left behind, in this order. Looks for all of them before it takes one.
    /// Crash: a process that dies inside the call leaves behind the buckets that it had taken; they are no longer
    ///     offered.
    /// Sharing: of several calls for the same buckets, one gets them all. A bucket may be taken by another process
    ///     after the first look. Then the call puts back the ones that it has; until then it keeps them from others.
    /// Errors: not_found when one of them is no longer available, or is named twice; then none is taken.
    Buckets take(std::span<const BucketId> ids);

    /// All buckets in use, by index.
    std::vector<BucketInfo> list() const;
    /// The buckets whose owner has died.
    std::vector<BucketInfo> left_behind() const;
    /// The number of buckets in a region, or in a state.
    std::uint64_t count(Region region) const;
    std::uint64_t count(BucketState state) const;
    /// Frees the buckets that dead processes left behind; returns how many. acquire() does it by itself when
    /// it needs them.
    std::uint64_t reclaim();
    /// Frees an offered bucket. Returns false if it is no longer offered.
    bool discard(BucketId id);

    /// Maps all memory now, in huge pages where possible, so that no first use of a bucket waits for the
    /// kernel. Call it once in each process. Cost: about a second for some gigabytes.
    void prepare();

    const std::string& path() const noexcept;
    std::uint64_t bucket_bytes() const noexcept;
    std::uint64_t count() const noexcept;

private:
    [[noreturn]] void throw_no_space(std::uint64_t bytes) const;
    explicit BucketPool(std::shared_ptr<buckets::Pool> pool) : pool_(std::move(pool)) {}
    std::shared_ptr<buckets::Pool> pool_;
};

/// The name of a region: "available", "ram", "nvme", "burst-buffer".
const char* name_of(Region region) noexcept;
/// The name of a state: "available", "filling", "full", "offered".
const char* name_of(BucketState state) noexcept;

}  // namespace pmemcpy
