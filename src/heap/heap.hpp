#pragma once

#include "heap/format.hpp"
#include "heap/pins.hpp"
#include "heap/record.hpp"
#include "heap/slab.hpp"
#include "persist/ways.hpp"
#include "pool/pool.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace pmemcpy::heap {

/// Tells whether a record that a dead process left is part of the catalog: whether its home still names it.
class Reachability {
public:
    virtual ~Reachability() = default;
    virtual bool is_reachable(Link record) = 0;
};

/// What audit() and info() count.
struct Usage {
    std::uint64_t usable_bytes = 0;     // allocated on the file system
    std::uint64_t free_bytes = 0;       // in chunks that are nobody's
    std::uint64_t record_bytes = 0;     // in units of metadata slabs that are taken
    std::uint64_t extent_bytes = 0;     // in runs and units of data slabs that are taken
    std::uint64_t retired_records = 0;  // unpublished, kept by a view or for the next sync
};

/// The bytes of an extent, and what must live as long as they are used.
struct Bytes {
    std::byte* data = nullptr;
    std::shared_ptr<const void> keep;
    os::File* file = nullptr;  // that `data` is mapped from, where it may be written to by calls as well
    std::uint64_t offset = 0;  // of `data` in it
    persist::Ways* ways = nullptr;

    persist::Place place() const { return {data, file, offset, ways}; }
};

/// Extents that lie outside the pool, each with a number that is never given twice.
class Outside {
public:
    virtual ~Outside() = default;
    /// Only decides which extent it will be: it exists from the first map() on, so that a record can name it
    /// before it takes any space.
    virtual Extent allocate(std::uint32_t target, std::uint64_t length) = 0;
    /// Whether a record may name an extent there.
    virtual bool may_be(std::uint32_t target) const = 0;
    /// data is null when the extent is gone.
    virtual Bytes map(const Extent& extent, bool create) = 0;
    virtual void shrink(Extent& extent, std::uint64_t length) = 0;
    /// What was written to an extent is on its medium, and the name it is found by, when this returns.
    virtual void settle(const Extent& extent) = 0;
    virtual void free(const Extent& extent) = 0;
    /// Recovery: frees whatever no live record names.
    virtual void keep_only(const std::vector<Extent>& extents) = 0;
};

/// One thing that is in use, or that allocation passes over.
struct Taken {
    enum What { record, data_unit, run, stray, hidden } what;
    std::uint64_t offset;
    std::uint64_t word;    // of a record its UnitState, of a data unit or run the record that it is for
    std::uint64_t chunks;  // of a run
};

/// Space inside a pool. Units of slabs and chunks are claimed by one CAS on a word that names the owner; whatever a dead process had
/// claimed can be told and taken back.
class Heap {
public:
    explicit Heap(pool::Pool& pool);

    /// A unit of at least `length` bytes in a metadata slab, owned by this process, magic zero.
    /// Errors: invalid_argument above largest_record(), no_space.
    std::uint64_t allocate_record(std::uint64_t length);
    /// Gives back a record that was never published.
    void abandon_record(std::uint64_t offset, const Extent& extent);
    std::uint64_t largest_record() const { return sizes_of(Purpose::meta).largest(); }

    /// Space for `length` bytes, 64-byte aligned, that belongs to the record at `record_offset`. length 0: no extent.
    Extent allocate_extent(std::uint64_t length, std::uint64_t record_offset) {
        return allocate_extent(length, record_offset, home_);
    }
    Extent allocate_extent(std::uint64_t length, std::uint64_t record_offset, std::uint32_t target);
    /// The target that extents lie in unless another is asked for: the pool, or the directory beside its records.
    std::uint32_t home() const { return home_; }
    void set_home(std::uint32_t target) { home_ = target; }
    /// The last chunks of the pool hold no data from here on: who moves data out of a full pool needs records for that.
    void keep_for_records(std::uint64_t chunks) { kept_for_records_ = chunks; }
    /// Gives an extent back if it (still) belongs to the record at `record_offset`; else nothing.
    void free_extent(const Extent& extent, std::uint64_t record_offset);
    /// Where an extent's bytes are. `create` by whoever has just allocated it. data is null when it is gone.
    Bytes bytes(const Extent& extent, bool create = false) const;
    /// Whether an extent that a record names can exist.
    bool is_sane(const Extent& extent) const;
    void set_outside(Outside* outside) { outside_ = outside; }
    Outside* outside() const { return outside_; }
    /// Gives back what lies behind the first `length` bytes, as far as whole chunks go.
    void shrink_extent(Extent& extent, std::uint64_t length, std::uint64_t record_offset);

    /// Takes `record` out of `word`, which becomes `after`, and retires it. False if the word held something else.
    bool unlink(std::uint64_t* word, const Seen& record, std::uint64_t after);
    /// The same of a block, out of the slot that it was published in.
    bool unlink_block(const Seen& block);
    /// Puts `fresh` where `old` was, atomically, and retires `old`. False if the word held something else.
    /// `fresh` is sealed, and its header.word is old.dead(), unless it has been published before.
    /// `older`: the newest of the versions before `old` that nobody needs any more then either; they are retired too.
    bool replace(std::uint64_t* word, const Seen& old, Link fresh, Link older = {});
    /// Retires a record that is no longer, or was never, published, if nobody else has.
    void retire(Link record);
    /// The same of a version of a value and all versions before it.
    void retire_with_older(Link version);
    /// The version before that of a value's record; nothing, of another record: set by the catalog.
    using OlderOf = std::function<std::optional<Link>(const RecordHeader&)>;
    void set_older_of(OlderOf older_of) { older_of_ = std::move(older_of); }
    /// Who retires records under the name lock takes this first.
    [[nodiscard]] std::unique_lock<std::recursive_mutex> retiring() {
        return std::unique_lock(retire_mutex_);
    }
    /// Frees what this process has retired, but for what views or the next sync keep. False if some is kept.
    enum class Effort { quick, thorough };
    bool reclaim(Effort effort = Effort::quick);
    /// Where a record's extent is, so that reclaim can free it: set by the catalog, which knows the records.
    using ExtentOf = std::function<Extent(const RecordHeader&)>;
    void set_extent_of(ExtentOf extent_of) { extent_of_ = std::move(extent_of); }

    /// The steps of cleaning up after the dead owner of `slot`: first what it had retired or was retiring, then
    /// (after the catalog has finished its verbs) what it had claimed and not published. False: some is pinned.
    void finish_step(std::uint64_t slot, Reachability& reachable);
    bool scavenge(std::uint64_t slot, Reachability& reachable);
    /// From here to the end of the returned object's life, this process retires in the name of `slot`.
    class InName {
    public:
        InName(Heap& heap, std::uint64_t slot);
        ~InName();
        InName(const InName&) = delete;
        InName& operator=(const InName&) = delete;

    private:
        Heap& heap_;
        pool::Slot* slot_;
        std::uint64_t owner_;
    };
    /// Lets others allocate from the slabs of this process.
    void release_slabs();
    /// Makes chunks of slabs for data in which nothing is left.
    void give_back_slabs();

    /// So many bytes of what is free, in whole chunks, are this attachment's alone from here on, until it has taken them: pool::Pool::
    /// reserved(0). Set anew by each call; 0: none. Errors: no_space, and then none are reserved.
    void reserve(std::uint64_t bytes);
    /// Makes huge pages and allocates ahead, so that at least `bytes` are usable.
    void prepare(std::uint64_t bytes);
    /// Gives chunks that are free back to the file system. Returns the bytes given back.
    std::uint64_t trim();

    /// Whether space that is freed is wiped first.
    bool wipes() const { return pool_.wipes(); }
    /// From here on; and what is free now. Errors: busy, when others have the pool open for writing, or something that was
    /// unpublished is still kept.
    void start_wiping();
    /// Recovery: of a pool that wipes.
    void wipe_idle();
    /// An offset at which free space holds something else than zeros: in a pool that wipes there is none.
    std::optional<std::uint64_t> find_unwiped() const;
    /// How much of its extent a record uses: set by the catalog.
    using UsedOf = std::function<std::uint64_t(const RecordHeader&)>;
    void set_used_of(UsedOf used_of) { used_of_ = std::move(used_of); }
    Usage usage() const;
    /// Chunks that are somebody's. A look at the whole table, which others may be changing.
    std::uint64_t count_taken_chunks() const;

    pool::Pool& pool() const { return pool_; }
    Pins& pins() { return pins_; }

    /// The chunk table, for recovery and audit.
    ChunkEntry& chunk(std::uint64_t i) const;
    /// Calls f(offset of unit, room) for every unit of every metadata slab, taken or not.
    void for_each_unit(const std::function<void(std::uint64_t, std::uint64_t)>& f) const;
    /// No scan finds the record any more, whoever still has its space: a view, the retire list of another process, or an eraser
    /// that has yet to retire it. Behind the page cache, where scans count, the next sync makes that durable. `record` is a
    /// copy of it.
    void hide(std::uint64_t offset, const RecordHeader& record);
    void for_each_taken(const std::function<void(const Taken&)>& f) const;
    /// Whether the chunk table and the slabs say that this space belongs to the record; if not, somebody else may get it.
    bool is_taken(const Extent& extent, Link record) const;
    /// Offsets of the slabs whose header is not whole.
    std::vector<std::uint64_t> damaged_slabs() const;
    /// Repair: calls the chunks metadata slabs again in which there are records, and gives those whose header is damaged a
    /// new one. Returns the offsets of those that had lost theirs.
    std::vector<std::uint64_t> bring_back_slabs();
    /// Forgets all that is derived, before recovery marks what it has found.
    void begin_rebuild();
    bool mark_record(std::uint64_t offset, std::uint64_t length);
    bool mark_extent(const Extent& extent, Link record);
    void finish_rebuild();

private:
    struct SlabCache {
        std::mutex mutex;
        std::vector<std::uint64_t> chunks;    // owned by this process
        std::atomic<bool> has_owned = false;  // any, since the pool was opened: most sizes nobody asks for
        std::size_t current = 0;
        std::uint64_t cursor = 0;
        std::uint64_t adopt_cursor = 0;
        std::atomic<std::uint64_t> freed{0};  // the unit freed last: warm in the caches, and mapped
    };

    const UnitSizes& sizes_of(Purpose purpose) const {
        return purpose == Purpose::meta ? meta_sizes_ : data_sizes_;
    }
    SlabCache& cache_of(Purpose purpose, std::size_t size_class) {
        return caches_[static_cast<std::size_t>(purpose)][size_class];
    }
    std::uint64_t links_of(std::uint64_t chunk) const { return links_ + chunk * pool::links_bytes; }
    std::uint64_t claim_unit(Purpose purpose, std::size_t size_class, std::uint64_t claim_word);
    std::optional<std::uint64_t> claim_in(std::uint64_t chunk, SlabCache& cache, std::uint64_t claim_word);
    std::optional<std::uint64_t> claim_freed(Purpose purpose, std::uint64_t unit_bytes, SlabCache& cache,
                                             std::uint64_t claim_word);
    bool claim_at(const Slab& slab, std::uint32_t unit, std::uint64_t claim_word);
    std::uint64_t obtain_slab(Purpose purpose, std::uint64_t unit_bytes, SlabCache& cache);
    bool adopt_slab(Purpose purpose, std::uint64_t unit_bytes, SlabCache& cache, std::uint64_t most,
                    std::uint64_t& chunk);
    bool is_as_seen(const Slab& slab) const;
    void make_slab(Purpose purpose, std::uint64_t unit_bytes, std::uint64_t chunk, std::uint64_t owner);
    bool can_be_slab(Purpose purpose, std::uint64_t unit_bytes, std::uint64_t chunk) const;
    bool has_old_records(std::uint64_t chunk) const;
    SlabHeader head_of(Purpose purpose, std::uint64_t unit_bytes) const;
    /// By what the chunk table says. False: it is none, or its head is gone.
    bool read_slab(std::uint64_t chunk, Slab& out) const;
    /// By the head that is in the chunk, whatever the chunk table says.
    bool read_head(std::uint64_t chunk, Slab& out) const;
    bool says_taken(const Extent& extent, Link record) const;
    void check_table() const { pool_.check_table(0, pool_.usable_chunks()); }
    bool holds_record(const Slab& slab) const;
    std::optional<SlabHeader> head_around_records(std::uint64_t chunk) const;
    std::uint64_t* unit_word(const Slab& slab, std::uint32_t unit) const;
    std::uint64_t* hint_word(const Slab& slab, std::uint32_t unit) const;
    std::uint64_t hints(const Slab& slab, std::uint32_t unit) const;
    bool is_hinted(const Slab& slab, std::uint32_t unit) const {
        return (hints(slab, unit) >> (unit % 64) & 1) != 0;
    }
    void set_hint(const Slab& slab, std::uint32_t unit);
    void clear_hint(const Slab& slab, std::uint32_t unit);
    bool is_empty_slab(std::uint64_t chunk) const;
    bool mark_data_unit(const Extent& extent, Link record, std::uint64_t i);
    bool find_unit(std::uint64_t offset, Slab& slab, std::uint32_t& unit) const;

    ChunkWord chunk_word(std::uint64_t i) const;
    void set_chunk(std::uint64_t i, ChunkWord word, Link record);
    /// False: the word was another one by then.
    bool exchange_chunk(std::uint64_t i, ChunkWord from, ChunkWord to);
    struct Search {
        std::uint64_t
            first;  // of as many as were asked for that are idle; if there are none, behind the last chunk
        std::uint64_t free_tail;  // then: idle ones at the end of the pool
        bool is_claiming;         // then: some are being claimed
    };
    Search find_free_chunks(std::uint64_t count, std::uint64_t usable) const;
    /// They are the caller's, as chunks of a run whose head has no length yet.
    std::uint64_t obtain_chunks(std::uint64_t count, Purpose purpose);
    bool claim_chunks(std::uint64_t first, std::uint64_t count);
    void give_back_claimed(std::uint64_t first, std::uint64_t count);
    /// Takes the lock where it is needed, and then keeps it.
    void grow(std::uint64_t chunks, std::optional<pool::Pool::SpaceLock>& lock);
    void fill_claimed(std::uint64_t first, std::uint64_t count, std::optional<pool::Pool::SpaceLock>& lock);
    void make_ready(std::uint64_t wanted, std::optional<pool::Pool::SpaceLock>& lock);
    std::uint64_t chunks_for(std::uint64_t bytes) const;
    void fill_holes(std::uint64_t first, std::uint64_t count);
    std::uint64_t chunks_of_run(std::uint64_t head, std::uint64_t record_offset) const;
    void free_run(std::uint64_t head, std::uint64_t record_offset);
    void wipe_run(std::uint64_t head, std::uint64_t record_offset);
    std::uint64_t punch_free(bool holes_too);
    void make_touched(std::uint64_t begin, std::uint64_t end);
    void wipe(std::uint64_t offset, std::uint64_t length);
    void wipe_claimed(std::uint64_t chunk);
    void wipe_unit(const Slab& slab, std::uint64_t offset);
    /// Calls f(offset, length) for what is nobody's, and for what lies behind the last byte that its owner uses.
    void for_each_idle(bool also_holes, const std::function<void(std::uint64_t, std::uint64_t)>& f) const;
    std::uint64_t used_bytes(std::uint64_t record_offset, std::uint64_t length) const;
    bool free_unit(std::uint64_t offset, UnitState expected);

    bool reclaim_locked(std::uint64_t most_kept = ~std::uint64_t{0});
    void finish_freeing(Link link);
    void push_unless_listed(Link record);
    void finish_unlink(std::uint64_t* word, Link record, std::uint64_t after);
    void vacate_slot(const RecordHeader& block, Link record);
    std::optional<std::uint64_t> empty_word_of(std::uint64_t slot) const;
    pool::Slot& retire_slot();
    std::uint64_t retire_owner() const;
    bool may_free(const RecordHeader& record, Link link);
    void claim(Link record, Reachability* reachable = nullptr);
    void unlist(Link record);
    /// What an exchange takes out of a word, from just before it until it is over. The caller holds retire_mutex_.
    class Expecting {
    public:
        Expecting(Heap& heap, const Seen& record);
        ~Expecting();
        Expecting(const Expecting&) = delete;
        Expecting& operator=(const Expecting&) = delete;
        /// False: it is not in use any more, and no word leads to it.
        explicit operator bool() const { return is_there_; }

    private:
        Heap& heap_;
        bool is_announced_ = false;
        bool is_there_ = false;
    };
    void begin_step(pool::Intent intent, std::uint64_t a, std::uint64_t b);
    void end_step();
    void sweep_slabs(std::uint64_t owner, Reachability& reachable);
    void sweep_record(std::uint64_t offset, UnitState state, Reachability& reachable);
    void sweep_runs(std::uint64_t owner);
    void sweep_run(std::uint64_t head, ChunkWord word);
    void sweep_claimed(std::uint64_t i, ChunkWord word);
    void empty_hole(std::uint64_t i, ChunkWord word);
    bool owns_extent(std::uint64_t record_offset, std::uint64_t extent_offset) const;

    pool::Pool& pool_;
    Pins pins_;
    ExtentOf extent_of_;
    UsedOf used_of_;
    OlderOf older_of_;
    Outside* outside_ = nullptr;
    std::uint32_t home_ = 0;
    std::atomic<std::uint64_t> kept_for_records_ = 0;
    mutable persist::Ways ways_;
    std::uint64_t links_;  // where the table of links is; 0: an old pool has none
    UnitSizes meta_sizes_;
    UnitSizes data_sizes_;
    std::atomic<std::uint64_t> claims_{0};  // so far; tells apart what one process has had in the same unit
    std::array<std::vector<SlabCache>, 2> caches_;
    std::mutex gone_mutex_;
    std::vector<std::uint64_t> gone_;    // chunks whose memory is gone
    std::recursive_mutex retire_mutex_;  // one unpublishing at a time: a slot has room for one step
    pool::Slot* retire_slot_ = nullptr;  // null: this process's own
    std::uint64_t retire_owner_ = 0;
    std::uint64_t kept_ = 0;  // records that the last walk over the retire list could not free
    std::uint64_t calls_since_walk_ = 0;
};

}  // namespace pmemcpy::heap
