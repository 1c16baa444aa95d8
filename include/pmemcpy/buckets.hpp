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

// Buckets: memory that was set aside once, page by page, and is lent out in pieces of one size to any process that has the file open.
// Who buffers what it is about to write takes buckets instead of malloc: the pages are there already, another process can take what is in
// them without a copy, and what a process held when it was killed is known and comes back.
//
//     auto pool = BucketPool::open_or_create("/dev/shm/run.buckets", {.bucket_bytes = 64 << 10, .count = 4096});
//     Buckets held = pool.acquire(size);           // in pieces: one where the buckets lie next to each other
//     held.write(data, size);
//     const auto ids = held.offer(step, size);     // whoever has the ids takes them: BucketPool::take
//
// Source: Hermes (Kougkas, Devarakonda, Sun; HPDC 2018), section 3.3.2 A.

namespace pmemcpy {

namespace buckets {
class Pool;
}

/// What a bucket is used as. Nothing but a mark, which whoever holds it sets and everybody can count.
enum class Region : std::uint8_t {
    available,     ///< nothing: it is free
    ram,           ///< what it holds lies in no target below
    nvme,          ///< cached of node-local storage
    burst_buffer,  ///< cached of a burst buffer or a parallel file system
};

enum class BucketState : std::uint8_t {
    available,  ///< nobody's
    filling,    ///< its owner is writing into it
    full,       ///< its owner says that all is in it
    offered,    ///< full and nobody's: whoever takes it is its next owner
};

/// One use of a bucket, from acquire() to release(). An id that was used up never names a later use, as long as the bucket was not
/// used four billion times since.
struct BucketId {
    std::uint32_t index = 0;
    std::uint32_t turn = 0;
    friend bool operator==(const BucketId&, const BucketId&) = default;
};

struct BucketInfo {
    BucketId id;
    Region region = Region::available;
    BucketState state = BucketState::available;
    bool is_left_behind = false;  ///< its owner is gone
    std::uint64_t tag = 0;        ///< as set_full() got it
    std::uint64_t bytes = 0;      ///< of it that are in use; 0 before set_full()
    std::uint32_t part = 0;       ///< which of the buckets that were filled together
    std::uint32_t parts = 0;
};

struct BucketOptions {
    std::uint64_t bucket_bytes = 64 << 10;  ///< a multiple of 4096
    std::uint64_t count = 1024;             ///< at most 2^24
    unsigned mode = 0600;                   ///< of the file; the umask is taken off
};

/// One or several buckets that this process holds. Gives them back when it goes.
/// Sharing: one thread at a time uses it. It keeps the pool open. In a forked child it is empty.
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
    std::uint64_t bytes() const noexcept;  ///< that fit: count() times the size of a bucket

    /// The memory, in the order of the buckets. Page-aligned; buckets next to each other are one piece.
    std::size_t pieces() const noexcept;
    std::span<std::byte> piece(std::size_t i) const;
    std::vector<BucketId> ids() const;

    /// Copies between memory and the buckets, as if they were one piece. Cost: as memcpy, for large sizes less.
    /// Errors: out_of_range beyond bytes().
    void write(const void* from, std::uint64_t size, std::uint64_t offset = 0);
    void read(void* to, std::uint64_t size, std::uint64_t offset = 0) const;

    /// Says that `bytes` of them are all that there is, for who lists them or finds them after a death. `tag` is the caller's.
    /// Errors: out_of_range beyond bytes().
    void set_full(std::uint64_t tag, std::uint64_t bytes);
    /// Puts them into another region. Errors: invalid_argument for `available`: release() does that.
    /// Crash: each bucket is in the old region or in the new one.
    void move(Region to);
    /// set_full(), and makes them nobody's for whoever takes them by these ids; this object is empty then. They stay where they are, whoever
    /// dies or comes, until BucketPool::take() or discard().
    /// Crash: each bucket is offered or left behind.
    std::vector<BucketId> offer(std::uint64_t tag, std::uint64_t bytes);
    /// Gives them back. Does nothing to an empty one.
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

/// A file of buckets that is open.
///
/// Crash: whatever process is killed at whatever instruction, each bucket is free, has one owner, or is offered. What a dead process held
///     is listed as left behind until somebody takes it or, at the latest when buckets run short, it is free again. The file is not meant
///     to survive the machine: nothing is synced.
/// Sharing: any number of threads, and up to 1024 open pools of all processes together. Who may write the file may use it, and is
///     trusted: a process that scribbles over it or cuts it off breaks it for all. A forked child opens it anew.
class BucketPool {
public:
    /// Sets a file up, with all its memory. Errors: already_exists; invalid_argument; no_space.
    static BucketPool create(const std::string& path, const BucketOptions& options = {});
    /// Errors: not_found; corrupt for another kind or version of file, or one that was cut off or changed; busy when 1024 have it open.
    static BucketPool open(const std::string& path);
    /// What is there already must be as the options say, but for its mode. Errors: those of both; invalid_argument where it is not.
    static BucketPool open_or_create(const std::string& path, const BucketOptions& options = {});

    /// As many buckets as `bytes` need, at least one; next to each other where there are such.
    /// What the dead have left is made free first if there are not enough without it.
    /// Errors: no_space when there are not so many; invalid_argument for Region::available; busy in a forked child.
    /// Cost: one compare-and-swap where as many were given back together by this thread, or up to 64 lie next to each other as others gave them
    ///     back; else one for each run of free ones. Looking for the last free ones of a pool takes longer the larger it is.
    Buckets acquire(std::uint64_t bytes, Region region = Region::ram);
    /// The same, but nothing where acquire() says no_space.
    std::optional<Buckets> try_acquire(std::uint64_t bytes, Region region = Region::ram);

    /// Becomes the owner of buckets that were offered or left behind, in this order.
    /// Errors: not_found when one is not to be had any more: then none is taken.
    Buckets take(std::span<const BucketId> ids);

    /// All that are not available, by their index.
    std::vector<BucketInfo> list() const;
    /// Those whose owner is gone.
    std::vector<BucketInfo> left_behind() const;
    std::uint64_t count(Region region) const;
    std::uint64_t count(BucketState state) const;
    /// Frees what the dead have left; returns how many. acquire() does it by itself when it needs them.
    std::uint64_t reclaim();
    /// Frees what is offered and nobody will take. False if it is not on offer any more.
    bool discard(BucketId id);

    /// Touches all memory now, so that no first use of a bucket waits for the kernel, and has it in huge pages where that can be. Once
    /// in each process. Cost: a second for some gigabytes.
    void prepare();

    const std::string& path() const noexcept;
    std::uint64_t bucket_bytes() const noexcept;
    std::uint64_t count() const noexcept;

private:
    [[noreturn]] void throw_no_space(std::uint64_t bytes) const;
    explicit BucketPool(std::shared_ptr<buckets::Pool> pool) : pool_(std::move(pool)) {}
    std::shared_ptr<buckets::Pool> pool_;
};

/// "available", "ram", "nvme", "burst-buffer".
const char* name_of(Region region) noexcept;
/// "available", "filling", "full", "offered".
const char* name_of(BucketState state) noexcept;

}  // namespace pmemcpy
