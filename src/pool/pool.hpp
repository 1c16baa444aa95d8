// Length: a struct for each lock, so that nobody mistakes one for another.
#pragma once

#include "base/checked.hpp"
#include "os/file.hpp"
#include "os/fork.hpp"
#include "os/futex.hpp"
#include "os/guard.hpp"
#include "os/map.hpp"
#include "os/process.hpp"
#include "persist/durability.hpp"
#include "persist/medium.hpp"
#include "pool/feed.hpp"
#include "pool/format.hpp"
#include "pool/holder.hpp"
#include "pool/runtime.hpp"

#include <pmemcpy/durability.hpp>

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace pmemcpy::pool {

/// How a pool is made. Zeros take the defaults of the medium.
struct Shape {
    std::uint64_t max_bytes = 0;      // default: what the file system or device has
    std::uint64_t initial_bytes = 0;  // allocated at once; more comes by growth
    std::uint64_t chunk_bytes = default_chunk_bytes;
    std::uint32_t default_serializer = 1;
    std::uint64_t features = 0;
    std::array<std::uint8_t, 16> origin{};  // see Superblock
    std::array<std::uint8_t, 16> side_of{};
    bool begins_unclean = false;  // the first to open it recovers it, because something may lie beside it
    unsigned mode = 0666;         // before the umask
};

/// What the rooms above do when a process comes, goes, or is found dead.
class Lifecycle {
public:
    virtual ~Lifecycle() = default;
    /// Rebuilds all derived state by scanning. Alone in the pool.
    virtual void rebuild() = 0;
    /// Finishes what the dead owner of `slot` was at and frees what it held. The caller holds the slot's lock.
    /// Returns false while somebody's view keeps some of it: the slot stays as it is then.
    virtual bool scavenge(std::uint64_t slot) = 0;
    /// Gives up what this process owns and frees what it has retired. Returns false while a view keeps some.
    virtual bool leave() = 0;
};

/// What a copy of a damaged pool has found.
struct Copied {
    std::vector<std::uint64_t> unreadable_pages;  // offsets; zeros in the copy
    bool state_was_damaged = false;               // then its steps are to be told from the records
    bool was_clean = false;                       // closed in an orderly way, so that nothing was under way
};

/// One attachment of one process to one pool: the mapping, the locks, the words of the superblock.
class Pool {
public:
    /// Makes a pool at `path`, whole or not at all, and says which file it is. already_exists when the name is taken.
    static os::Identity create(const std::string& path, const Shape& shape);
    /// Makes a pool of a whole devdax device. What was on it is lost. Crash: no pool is there, or the new one.
    /// Errors: already_exists when it holds a pool and `replaces` is false, busy when anybody has that open, unsupported
    /// when it is another kind of device.
    static void format_device(const std::string& path, const Shape& shape, bool replaces);

    /// Makes a pool at `to`, whole or not at all, that holds what the one at `from` does as far as its medium gives it,
    /// and that whoever opens it first recovers. Before the new pool gets its name, `copy_beside` copies what lies beside
    /// the old one, which nobody has open then.
    /// Errors: busy when anybody has it open, already_exists, corrupt, no_space.
    static Copied copy_to_recover(const std::string& from, const std::string& to,
                                  const std::function<void()>& copy_beside);

    Pool(const std::string& path, bool read_only, MapSync map_sync);
    ~Pool();
    Pool(const Pool&) = delete;
    Pool& operator=(const Pool&) = delete;

    /// Joins the processes that are there, or recovers the pool when nobody is and it was not closed cleanly. `if_first` is called
    /// when nobody is, before others get in; it throws nothing.
    void attach(Lifecycle& lifecycle, const std::function<void()>& if_first = {});
    /// Leaves. The last one out marks the pool clean; `if_last` is called in him before, while others wait to get in. It throws nothing.
    void detach(Lifecycle& lifecycle, const std::function<void()>& if_last = {});

    /// Of the session, which begins with the first who attaches and ends with the last who leaves or dies: what was stored before it
    /// has lower versions.
    std::uint64_t session_began_at() const { return persist::Medium::load(&runtime_->header().began_at); }
    /// This attachment stores nothing more of its user's.
    void announce_done() {
        // Exchanged, not stored: of two who say so and then look at each other, one has to see it.
        std::uint64_t before = 0;
        static_cast<void>(medium_.compare_exchange(&slot().is_done, before, 1));
    }
    /// Whether others are attached, and alive, that may still store something.
    bool others_may_store() const;

    /// From here on so many bytes of what is free in a target may only be taken by way of this object. Whoever asks has made sure that
    /// they are there.
    void set_reserved(std::uint64_t target, std::uint64_t bytes);
    /// What of it is left.
    std::uint64_t reserved(std::uint64_t target) const;
    /// What others who are alive have left of theirs. Costs nothing as long as nobody reserves anything.
    std::uint64_t reserved_by_others(std::uint64_t target) const;
    /// Something was taken, first of what is reserved.
    void use_reserved(std::uint64_t target, std::uint64_t bytes);

    /// While it lives, this process is between what it counts of a file outside and the file itself: who counts all files would count wrong.
    class Uncounted {
    public:
        explicit Uncounted(Pool& pool);
        ~Uncounted();
        Uncounted(const Uncounted&) = delete;
        Uncounted& operator=(const Uncounted&) = delete;

    private:
        Pool& pool_;
    };
    /// Nothing while some living process is, or another thread than the caller, which is in `own` of them. Else a number that is another
    /// one after anybody was.
    std::optional<std::uint64_t> all_is_counted(std::uint64_t own) const;

    /// While it lives, this process chooses a target and puts something there. It looks at the hierarchy behind the beginning.
    class Placing {
    public:
        explicit Placing(Pool& pool);
        ~Placing();
        Placing(const Placing&) = delete;
        Placing& operator=(const Placing&) = delete;

    private:
        Pool& pool_;
        std::uint64_t* word_ = nullptr;
    };
    /// Waits until nobody puts anything any more where he saw that he might before this call. Under the HierarchyLock.
    /// Errors: busy behind a process that is stopped.
    void await_placings();

    /// Throws busy when anybody is attached. Keeps others out as long as this object lives.
    void check_alone();
    std::uint64_t count_attached() const;

    /// Of those who have the pool open for writing this process is the only one, and by way of this object, as long as this lives:
    /// a process that opens it meanwhile waits. A count of the attached is not enough for an act that no process may come beside.
    class Alone {
    public:
        /// Errors: busy.
        explicit Alone(Pool& pool);
        /// False, where the other one says busy; and also while another thread is alone.
        Alone(Pool& pool, std::try_to_lock_t);
        ~Alone();
        Alone(const Alone&) = delete;
        Alone& operator=(const Alone&) = delete;
        explicit operator bool() const { return is_alone_; }

    private:
        bool try_alone();
        Pool& pool_;
        std::unique_lock<std::mutex> one_thread_;
        bool is_alone_ = false;
    };
    /// Whether space is wiped before it is free: feature_wipes.
    bool wipes() const { return wipes_.load(std::memory_order_relaxed); }
    /// Begins with it, first in this process, which is alone, and with keep() for good.
    class Wiping {
    public:
        explicit Wiping(Pool& pool) : pool_(pool) { pool_.wipes_ = true; }
        ~Wiping() { pool_.wipes_ = (pool_.super_.features & feature_wipes) != 0; }
        Wiping(const Wiping&) = delete;
        Wiping& operator=(const Wiping&) = delete;
        /// Crash: it is so or not.
        void keep();

    private:
        Pool& pool_;
    };

    /// Throws unless this process may go on: forked children and latched pools may not.
    void check_usable() const;
    /// Part of it. Errors: io_error, where somebody has cut off a file that is open (law 12).
    void check_there() const;
    bool is_there() const;
    bool is_forked() const { return fork_generation_ != os::fork_generation(); }
    void check_writable() const;

    /// Runs f, which only reads the pool's metadata and owns nothing. Errors: io_error when memory of the pool is gone or
    /// poisoned (law 12).
    template <class F>
    void guarded(F&& f) const {
        if (!os::guarded(map_.base(), super_.max_bytes, f)) throw_no_memory();
    }
    /// The same for what follows: touches every page of it.
    void check_memory(const void* begin, std::uint64_t length) const {
        if (!os::can_read(begin, length)) throw_no_memory();
    }

    /// That the chunk table's entries of these chunks can be read: of a large pool most are of chunks that are not usable yet.
    void check_table(std::uint64_t first, std::uint64_t chunks) const;

    bool read_only() const { return read_only_; }
    const std::string& path() const { return file_.path(); }
    const persist::Medium& medium() const { return medium_; }
    Durability durability() const { return probe_.durability; }
    const persist::Probe& probe() const { return probe_; }
    const Superblock& super() const { return super_; }
    Itself itself() const { return {file_.identity(), super_.uuid}; }
    /// The pool's uuid, or that of the pool that it was repaired from: what belongs to that one belongs to this.
    std::array<std::uint8_t, 16> origin() const {
        return super_.origin == std::array<std::uint8_t, 16>{} ? super_.uuid : super_.origin;
    }
    PoolState& state() const { return *reinterpret_cast<PoolState*>(map_.base() + state_offset); }
    os::File& file() { return file_; }
    os::Mapping& mapping() { return map_; }

    std::byte* at(std::uint64_t offset) const { return map_.base() + offset; }
    template <class T>
    T& as(std::uint64_t offset) const {
        return *reinterpret_cast<T*>(map_.base() + offset);
    }
    std::uint64_t offset_of(const void* p) const {
        return static_cast<std::uint64_t>(static_cast<const std::byte*>(p) - map_.base());
    }
    /// Whether [offset, offset + length) lies in chunks whose space is allocated.
    bool contains(std::uint64_t offset, std::uint64_t length) const {
        std::uint64_t end = 0;
        return offset >= super_.first_chunk_offset && base::checked_add(offset, length, end) &&
               end <= chunk_offset(usable_chunks());
    }

    std::uint64_t usable_chunks() const { return persist::Medium::load(&state().usable_chunks.value); }
    std::uint64_t chunk_offset(std::uint64_t chunk) const {
        return super_.first_chunk_offset + chunk * super_.chunk_bytes;
    }
    /// From there to the end of its chunk, whose bytes are a power of two.
    std::uint64_t room_in_chunk(std::uint64_t offset) const {
        return super_.chunk_bytes - (offset & (super_.chunk_bytes - 1));
    }
    std::uint64_t chunk_of(std::uint64_t offset) const {
        return (offset - super_.first_chunk_offset) / super_.chunk_bytes;
    }

    /// A version no record had before, higher than all drawn so far.
    std::uint64_t draw_version();
    std::uint64_t next_version() const { return persist::Medium::load(&state().next_version.value); }
    /// Another one whenever a version was drawn since, in this session or a later one, and in each history of a pool: also when a backup
    /// was put back and as many were drawn again.
    std::uint64_t versions_drawn() const;

    /// Makes at least `chunks` more chunks usable, unless another makes some at the same time: the caller looks again. Throws no_space.
    /// On tmpfs nothing is promised of them yet: who takes one calls promise(). `note_fresh(first, count, are_holes)` is
    /// called before they are usable; by then another may have made them so.
    void grow(std::uint64_t chunks,
              const std::function<void(std::uint64_t, std::uint64_t, bool)>& note_fresh);
    /// Errors: no_space, as grow() says it.
    [[noreturn]] void throw_full(std::uint64_t chunks) const;
    /// Before the chunk table says anything of chunks that another may have made usable.
    void vouch_for_usable_chunks();
    /// Space for usable chunks that have none, which are the caller's: new ones of tmpfs, and what trim() had given back.
    /// Throws no_space, and then none of them has any.
    void promise(std::uint64_t first, std::uint64_t chunks);
    /// Whether there is room for so many more that others may take theirs at the same time. Else a process that asks for some holds the
    /// space lock until it has them, so that no two count on the same room: on tmpfs an overrun kills.
    bool has_ample_room(std::uint64_t chunks) const;

    /// Done before anything says that what was stored is durable: for whoever keeps data outside the pool file.
    void set_before_sync(std::function<void()> before_sync) { before_sync_ = std::move(before_sync); }
    /// On page media: everything stored so far survives power loss when this returns (law 10).
    void sync();

    Runtime& runtime() { return *runtime_; }
    Slot& slot() { return runtime_->slot(slot_); }
    std::uint64_t slot_index() const { return slot_; }
    /// This process, for people to read: asked for once, because it costs calls to the kernel.
    std::uint64_t process_id() const { return self_.pid; }
    const Holder& self() const { return self_; }
    /// Before the pool is closed. Errors: io_error, where somebody has cut off its file or its `.rt`.
    void check_length() const;
    /// The 29 bits that name this process as owner of chunks and retired records; never 0.
    std::uint64_t owner() const { return owner_; }
    static std::uint64_t owner_of(std::uint64_t slot, std::uint64_t incarnation) {
        return (slot + 1) | ((incarnation & 0xffff) << 13);
    }
    /// Where this attachment begins to count what it claims: far from where any other begins. The names of owners come again, in each
    /// session and after 65,536 attachments, and the units that they own stay.
    std::uint64_t first_claim() const { return first_claim_; }

    /// Cleans up after all processes that have died, and waits for others that are at it. False while somebody's view
    /// keeps some of what they left.
    bool scavenge_dead(Lifecycle& lifecycle);

    /// One of the pool's lock bytes, held alone: by one process, of which by one thread, because threads share the locks of
    /// their descriptors. The kernel drops it when its holder dies (law 7). A process that waits for one that is stopped is told so.
    class ByteLock {
    public:
        ByteLock(const ByteLock&) = delete;
        ByteLock& operator=(const ByteLock&) = delete;
        ~ByteLock();

    protected:
        using Holding = Patience::Holding;
        /// Errors: busy when its holder is stopped.
        ByteLock(Pool& pool, std::uint64_t byte, std::mutex& mutex, Holding holding);
        /// Not held if what it is needed for has been done before it could be had. Errors: busy when its holder is stopped.
        ByteLock(Pool& pool, std::uint64_t byte, std::mutex& mutex, const std::function<bool()>& is_done);
        explicit operator bool() const { return one_thread_.owns_lock(); }

    private:
        bool try_it();
        void wait(Holding holding);

        Pool& pool_;
        std::uint64_t byte_;
        std::unique_lock<std::mutex> one_thread_;
    };
    /// Held while names and attributes leave their chains.
    struct NameLock : ByteLock {
        explicit NameLock(Pool& pool);
    };
    /// Held while a group is looked into that is to go, or its going is waited for. Before the name lock.
    struct GroupLock : ByteLock {
        explicit GroupLock(Pool& pool);
    };
    /// Held by a process that counts on what is free: where little room is left, or some is reserved, or it is given back.
    struct SpaceLock : ByteLock {
        explicit SpaceLock(Pool& pool);
    };
    /// Held by one of those that close the pool at the same time.
    struct LeavingLock : ByteLock {
        explicit LeavingLock(Pool& pool);
    };
    /// Held while the medium is made to hold what was stored.
    struct SyncLock : ByteLock {
        explicit SyncLock(Pool& pool);
    };
    /// Held by whoever drops what an abandoned step has left.
    struct StepLock : ByteLock {
        explicit StepLock(Pool& pool);
    };
    /// Held by whoever makes the feed.
    struct FeedLock : ByteLock {
        explicit FeedLock(Pool& pool);
    };

    /// Held by whoever moves blocks out of the target at this level of the hierarchy for others to find room there. Who waits for it looks
    /// again and again whether the room is there, and then has no lock.
    struct RoomLock : ByteLock {
        static constexpr std::size_t most_levels = 16;
        RoomLock(Pool& pool, std::size_t level, const std::function<bool()>& is_there);
        using ByteLock::operator bool;
    };
    /// Held by whoever gives the pool another hierarchy.
    struct HierarchyLock : ByteLock {
        explicit HierarchyLock(Pool& pool);
        /// Not held if another process has it.
        HierarchyLock(Pool& pool, std::try_to_lock_t);
        using ByteLock::operator bool;
    };
    /// Held while a copy below the pool becomes a block's place, and while copies of blocks that are gone are removed.
    struct CopiesLock : ByteLock {
        explicit CopiesLock(Pool& pool);
    };

    /// Held by whoever writes down what lies in the flush target.
    struct InventoryLock : ByteLock {
        explicit InventoryLock(Pool& pool);
    };

    /// A lock byte that is held if nobody else holds it. Threads that share a Pool share it.
    class TriedLock {
    public:
        ~TriedLock();
        TriedLock(const TriedLock&) = delete;
        TriedLock& operator=(const TriedLock&) = delete;
        explicit operator bool() const { return is_held_; }
        /// For a caller that goes on trying.
        Patience patience(std::string path, std::string what) const {
            return {std::move(path), std::move(what), file_, byte_, nullptr};
        }

    protected:
        TriedLock(os::File& file, std::uint64_t byte);

    private:
        os::File& file_;
        std::uint64_t byte_;
        bool is_held_;
    };
    /// By whoever moves objects between this pool and another.
    struct ScopeLock : TriedLock {
        explicit ScopeLock(Pool& pool);
    };
    /// By whoever moves blocks between targets in the background.
    struct LeadLock : TriedLock {
        explicit LeadLock(Pool& pool);
    };
    /// By whoever hands what lies in the flush target to a command.
    struct HandOverLock : TriedLock {
        explicit HandOverLock(Pool& pool);
    };
    /// By a process that does nothing else, before which others step back.
    struct OrganizerLock : TriedLock {
        explicit OrganizerLock(Pool& pool);
    };
    /// Whether another process holds that.
    bool has_organizer();
    /// By whoever brings changes into the index, so that others need not wait for it.
    struct IndexLock : TriedLock {
        explicit IndexLock(Pool& pool);
    };

    /// By whoever operates on a variable, or what is left of that, in the background; `number` is below operation_byte_count.
    struct OperationLock : TriedLock {
        OperationLock(Pool& pool, std::uint64_t number);
    };
    /// By whoever copies the block of this version to another target.
    struct TransitLock : TriedLock {
        TransitLock(Pool& pool, std::uint64_t version);
    };
    /// Whether somebody who does not share this Pool does.
    bool is_in_transit(std::uint64_t version);
    /// Held by whoever registers an operation, or removes one.
    struct RegistryLock : ByteLock {
        explicit RegistryLock(Pool& pool);
    };

    /// Held, under the group lock, by whoever looks whether a group is empty and then erases it.
    class GroupErasure {
    public:
        explicit GroupErasure(Pool& pool);
        ~GroupErasure();
        GroupErasure(const GroupErasure&) = delete;
        GroupErasure& operator=(const GroupErasure&) = delete;

    private:
        Pool& pool_;
    };
    /// Odd during one, and another number after it. What this thread stored before is seen by those that begin later.
    std::uint64_t group_erasures() const;
    /// As long as one lives, under the name lock, every process that comes to erase the entry `link` waits for the lock.
    class Renaming {
    public:
        Renaming(Pool& pool, std::uint64_t link);
        ~Renaming();
        Renaming(const Renaming&) = delete;
        Renaming& operator=(const Renaming&) = delete;
        /// Whether another had come before, and may erase it any moment.
        bool is_being_erased() const;

    private:
        Pool& pool_;
        std::uint64_t link_;
    };
    /// For a process that has said in its slot that it erases the entry.
    bool is_being_renamed(std::uint64_t link) const;

    /// Makes the newest committed step durable, whose committer may have died before he came to that: what only older steps need
    /// may go then (law 11).
    void vouch_for_committed_step() const;
    /// The newest step that readers see; 0: none.
    std::uint64_t committed_step() const {
        return std::max(persist::Medium::load(&state().committed_step.value),
                        known_committed_.load(std::memory_order_relaxed));
    }
    /// Another pool shows that this one's step was committed with it: readers here see it, whatever the word says. Before attach(), so
    /// that recovery keeps it, or at any time.
    void know_committed(std::uint64_t step);
    /// Makes it the newest committed step. False: it is not newer than the one that is.
    bool publish_step(std::uint64_t step);
    /// This process stores in `step` from now on; 0: in none.
    static constexpr std::uint64_t last_step = ~std::uint64_t{0} >> 1;
    void enter_step(std::uint64_t step);
    /// False: a step is broken, and this process is in none.
    bool enter_step_unless_broken(std::uint64_t step);
    /// Processes that are about to enter a step look again whether one is broken.
    void turn_away_entering();
    /// This process leaves its step as if it had died in it: the step is broken until what was stored in it is dropped.
    void abandon_step();
    /// Looks for processes that have died in a step that is not committed.
    void notice_deaths_in_step();
    /// The lowest uncommitted step that a process has been noticed to have died in, or 0.
    std::uint64_t broken_step() const;
    /// Whether another living process is in a step that is not committed.
    bool others_in_step() const;
    /// What it left has been dropped. Under the StepLock.
    void forget_broken_step(std::uint64_t step);

    /// A change of which names there are, from before anybody can see it until all can. One that a process died in is on its way until
    /// the last has closed the pool.
    class NamesChange {
    public:
        explicit NamesChange(Pool& pool);
        ~NamesChange();
        NamesChange(const NamesChange&) = delete;
        NamesChange& operator=(const NamesChange&) = delete;

    private:
        Pool& pool_;
    };
    /// A number that is another one after each change of names; nothing while one is on its way. Two looks that get the same number have
    /// the same names before, after and between them.
    std::optional<std::uint64_t> names_count() const;

    /// The page of the copy of the superblock that is not whole, while the other one is in use.
    std::optional<std::uint64_t> damaged_superblock() const;

    /// Somebody who waits for what others publish.
    class NewsWait {
    public:
        /// Errors: io_error.
        explicit NewsWait(Pool& pool);
        ~NewsWait();
        NewsWait(const NewsWait&) = delete;
        NewsWait& operator=(const NewsWait&) = delete;
        /// Ask before looking at what is there; then what is published after that look wakes.
        std::uint64_t news() const;
        /// Until somebody may have published after `seen` was the news.
        os::Woken wait(std::uint64_t seen, std::uint64_t at_most_ns) const;

    private:
        Pool& pool_;
        std::uint64_t began_ns_;
    };
    /// Wakes those who wait for what has just been published. Free when nobody does.
    void tell();
    Feed& feed() { return feed_; }

    /// Even, and the same before and after a read without locks: nobody rebuilt the links meanwhile.
    std::uint64_t recovery_count() const;

private:
    static void refuse_unfit_file_system(const os::File& file);
    static void lock_alone(os::File& file);
    void read_superblock();
    void refresh_features();
    void check_state() const;
    /// How the last session ended, while nobody is attached.
    enum class Closed {
        not_cleanly,
        with_something_kept,  // its links can be trusted, and a view keeps what nothing leads to
        cleanly
    };
    /// Errors: corrupt.
    Closed how_it_was_closed() const;
    static std::uint64_t count_chunks(const Pool& pool);
    [[noreturn]] void throw_latched() const;
    /// What lies beside the pool. A failure is latched, as one of the pool itself is.
    void sync_outside();
    [[noreturn]] void throw_no_memory() const;
    void attach_reader();
    void enter_alone(Lifecycle& lifecycle);
    void close_alone(Lifecycle& lifecycle);
    void recover(Lifecycle& lifecycle);
    bool try_join();
    void wait_to_share();
    void share_again();
    void check_in_place();
    void await_end_of_owners();
    void stay_or_go(Lifecycle& lifecycle, const std::function<void()>& stay);
    std::unique_ptr<LeavingLock> lock_to_leave();
    void go(Lifecycle& lifecycle, bool has_slot, bool may_be_last);
    void take_slot(Lifecycle& lifecycle);
    bool try_slot(std::uint64_t i, Lifecycle& lifecycle);
    void begin_slot(Slot& slot);
    void scavenge_some(Lifecycle& lifecycle);
    bool clean_up_after_dead(std::uint64_t i, Lifecycle& lifecycle);
    std::uint64_t open_step_of(std::uint64_t i) const;
    void note_death_in_step(std::uint64_t i);
    bool somebody_waits();
    void end_changes_of_names();
    void begin_versions();
    void note_durable_chunks(std::uint64_t chunks);
    std::uint64_t check_headroom(std::uint64_t chunks) const;
    void allocate(std::uint64_t first, std::uint64_t chunks);
    void make_huge(std::uint64_t begin, std::uint64_t bytes);
    void set_closed(Closed how);

    os::File file_;
    os::ClosedInChild file_fork_;
    bool read_only_;
    persist::Probe probe_;
    persist::Medium medium_;
    os::Mapping map_;
    Superblock super_{};
    std::atomic<bool> wipes_ = false;
    std::optional<Runtime> runtime_;
    os::ClosedInChild runtime_fork_;
    std::uint64_t slot_ = 0;
    std::atomic<std::uint64_t> known_committed_ = 0;
    std::uint64_t owner_ = 0;
    std::uint64_t first_claim_ = 0;
    std::uint64_t fork_generation_;
    Holder self_{os::process_id(), os::pid_namespace(), 0};
    bool attached_ = false;
    std::atomic<std::uint64_t> durable_chunks_ = 0;  // so many usable ones are known to be so on the medium
    std::atomic<std::uint64_t> no_huge_before_ns_ = 0;
    std::mutex leaving_mutex_;
    std::mutex name_mutex_;
    std::mutex group_mutex_;
    std::mutex space_mutex_;
    std::mutex sync_mutex_;
    std::mutex step_mutex_;
    std::mutex feed_mutex_;
    std::array<std::mutex, RoomLock::most_levels> room_mutexes_;
    std::mutex hierarchy_mutex_;
    std::mutex copies_mutex_;
    std::mutex inventory_mutex_;
    std::mutex registry_mutex_;
    Feed feed_{*this};
    std::function<void()> before_sync_;
    std::mutex news_mutex_;
    std::atomic<std::uint64_t> waiting_here_ = 0;  // in this process, by way of this object
    std::atomic<std::uint64_t> looked_ns_ = 0;
    std::atomic<bool> others_wait_ = false;  // as seen then
    std::mutex scavenge_mutex_;  // threads share the locks of their descriptors, so those do not part them
    std::mutex alone_mutex_;     // see Alone
};

}  // namespace pmemcpy::pool
