#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <pmemcpy/box.hpp>
#include <pmemcpy/durability.hpp>
#include <pmemcpy/pmemcpy.hpp>
#include <string>
#include <string_view>
#include <vector>

// Length: the promise of tiers, most of it documentation.
//
// Tiers: slower, larger places below a pool. When the pool is full, blocks move down to them, and are read
// from there like any others. One command sets them up, once:
//
//     pmemcpy tiers run.pmem hierarchy.yaml     # targets, from the fastest to the slowest, and how fast they are
//
// From then on every process that stores into the pool follows the hierarchy, including those that have it
// open. docs/tiers.md says how to choose.

namespace pmemcpy {

namespace mover {
class Mover;
}
namespace operate {
class Operator;
}

/// The kind of a target's medium.
enum class TargetKind {
    dax,     ///< persistent memory, mapped
    tmpfs,   ///< memory, gone with the node
    file,    ///< a file system on a device of this node: NVMe, SSD, a disk
    shared,  ///< a directory that other nodes see as well: a burst buffer, a parallel file system
};

/// The speed of a medium for one process: bytes a second for large accesses, seconds for a small one.
struct Speed {
    double bytes_per_second = 0;
    double latency_s = 0;
};

/// Where and when a target was measured, and its speed for several processes at once. A later check compares
/// with it.
struct Measured {
    std::string at{};           ///< the directory
    std::uint64_t time_s = 0;   ///< seconds since 1970
    std::string file_system{};  ///< the kernel's name: "ext4", "lustre"
    std::string device{};       ///< "/dev/nvme0n1p2", "server:/export"
    std::uint64_t size_bytes = 0;
    Durability durability = Durability::none;  ///< the promise of the place
    bool is_direct = false;                    ///< measured past the page cache (O_DIRECT)
    std::uint32_t processes = 1;
    Speed write{};  ///< of `processes` together: bytes a second in all, seconds for each
    Speed read{};   ///< the same
};

/// A place that holds blocks.
struct Target {
    std::string name;
    TargetKind kind = TargetKind::file;
    /// An existing directory; empty: the pool itself, which is always the first target and only that.
    std::string path{};
    std::uint64_t capacity_bytes = 0;  ///< bytes that the pool may use of it; 0: all that there is
    Speed write{};
    Speed read{};
    /// Throttles all processes of this node together to `write` and `read`: to leave bandwidth to others on a
    /// shared file system, or to try a hierarchy on another machine. Not for the first target.
    bool limited = false;
    std::optional<Measured> measured{};  ///< set by the profiler, <pmemcpy/profile.hpp>
    /// The weight of this pool among pools with targets in the same directory, from 1 to 1000. It counts when
    /// they need more room, or write more at once, than there is: twice the share is twice the capacity and
    /// twice the bandwidth. Not for the first target.
    std::uint32_t share = 1;
    /// Bytes that all pools of this node together may use of the directory; 0: all that there is. If pools
    /// disagree, the least counts. Not for the first target.
    std::uint64_t together_bytes = 0;
};

/// Decides where a new block goes. Each policy compares costs by its own equation (docs/tiers.md), given the
/// room that each target has left.
/// Source: Hermes (Kougkas, Devarakonda, Sun; HPDC 2018), section 3.2.2 and appendix.
enum class Policy {
    max_bandwidth,  ///< stores return as fast as possible
    max_locality,   ///< blocks of a variable stay together
    hot_data,       ///< data that is read often lies high
    user_defined,   ///< rules decide; a block that no rule names goes to the first target with room
};

/// Decides when a block is copied to the flush target. Source: Hermes, section 3.2.1.
enum class Buffering {
    none,           ///< never by itself: the block stays until its room is needed
    write_back,     ///< copied to the flush target soon, in the background
    write_through,  ///< copied to the flush target before the store returns; of a step, before commit returns
    bypass,         ///< stored in the flush target at once
    /// For data of the job only: moved down only when there is no room above, never kept as a copy, and
    /// erased when the job ends, if it was stored in this mode and still has it. A job is all processes that
    /// have the pool open for writing, from the first that opens it to the last that closes it or dies.
    scratch,
};

/// Decides when `write_back` copies. Source: Hermes, section 3.2.1.
enum class Trigger {
    period,  ///< every Flush::period_s
    /// Within a tenth of a second after a store, which does not wait; copies everything stored before.
    store,
    /// munmap() waits until all is copied, and so does the normal end of a program that does not call it.
    close,
    exit,  ///< the same, only for the last process that has the pool open for writing
};

/// Decides whether blocks come back up when they are read.
enum class Promotion {
    never,    ///< they stay where they are until move()
    on_read,  ///< a block read below the pool is brought up, in the background
    /// So are blocks likely to be read next, when reads are sequential, at equal distances, or as before.
    read_ahead,
};

/// Decides which block leaves a target first when room is made there. Hints of the application count before
/// it (caching.hpp), and under Policy::hot_data the heat. Blocks that rules hold there do not leave.
enum class Replacement {
    fifo,         ///< the block that came first
    lru,          ///< the block not read or stored for the longest time
    lfu,          ///< the block read least often; old reads count less
    application,  ///< the block of the oldest step; within a step, the one that came first
};

/// How blocks are copied to the flush target. The copy is made in addition: the block stays where it is.
struct Flush {
    std::string to{};  ///< the flush target's name; empty: the last target
    /// One or several triggers. If a process is killed with copies outstanding, the next process that opens
    /// the pool makes them in the background.
    std::vector<Trigger> on = {Trigger::period};
    double period_s = 5;          ///< interval between looks for blocks that were stored or erased
    double bytes_per_second = 0;  ///< limit for copying in the background; 0: none
    /// Blocks copied at the same time, or moved to a target that takes long for each. 0: two, or more if the
    /// target's profile says that several processes get more of it together than one alone.
    unsigned threads = 0;
    std::vector<unsigned> cores{};  ///< processors for all work in the background; empty: any
    /// A program with arguments that takes each file on from the flush target once it is durable there:
    /// "dwstage {file} /pfs/{name}". No shell reads it; docs/tiers/flush-target.md says how words are split
    /// and what {...} stand for. Exit code 0 means done; else it is tried again later. It may get a file
    /// twice. Runs only in pools that belong to the process's own user, or root, and that no other user may write.
    std::string command{};
    double command_timeout_s = 60;  ///< seconds until it is killed with all processes that it started
    /// "hdf5", "netcdf" or "zarr": also writes finished files for other programs, one for each variable and
    /// group at the top of the pool, into the directory POOL.finished of the flush target. A file is written
    /// anew after changes: in the background once nothing has changed for `period_s`, on `close`, on `exit`,
    /// and by flush(). The program `pmemcpy`, which must be in PATH, writes them. Empty: none.
    std::string as{};
};

/// Limits between which a target is emptied, as parts of its capacity. A target fuller than `high` is emptied
/// to `low`, in the background.
///
/// While processes store, the target is only kept from being full. When they pause, it is emptied further:
/// until as much as they lately stored at a time fits below `high`, but not below half of `low`. That room is
/// kept for a second; then blocks that are read may come up into it. With a `high` of 1, only a store that
/// needs room makes it.
struct Watermarks {
    double high = 0.9;
    double low = 0.75;
};

/// A user's decision about the ids that a glob matches. The first rule that matches counts, under every
/// policy.
struct Rule {
    std::string match;         ///< a glob over ids, as Glob takes it; "**" is every id
    std::optional<Box> box{};  ///< only for blocks that meet this box
    std::optional<std::int32_t> first_rank{},
        last_rank{};    ///< only for blocks of the ranks from first to last
    std::string pin{};  ///< a target's name: blocks go there and nowhere else, even if that means no_space
    /// Names of targets, tried in this order before the policy decides.
    std::vector<std::string> prefer{};
    bool never_evict = false;         ///< blocks stay where they were stored until move()
    std::optional<Buffering> mode{};  ///< instead of the hierarchy's mode
    /// Gives up the block's place once there is a copy, from which it is then read.
    bool drop_after_flush = false;
    /// Erases a block once it was read: after a load() of all of it by a PMEM that is open for writing and
    /// has not stored the block itself. Until such a load has ended, every process finds the block, also
    /// after the death of a reader. Views, partial loads, and readers that have the pool open for reading do
    /// not erase it. A block that hides part of an older one stays, since the older would show again.
    ///
    /// Later loads see an erased block as never stored: the fill value, or not_found. An array that grows is
    /// as long as its last block reaches.
    /// Source: Hermes, section 3.2.1 (conditional overwriting).
    bool drop_after_read = false;
};

/// The targets under a pool, the fastest first, and how they are used.
struct Hierarchy {
    std::vector<Target> targets;
    Policy policy = Policy::max_bandwidth;
    std::uint64_t granularity_bytes = 1 << 20;  ///< piece in which room too small for a block is counted
    std::vector<Rule> rules{};
    Buffering mode = Buffering::write_back;
    Flush flush{};
    Watermarks watermarks{};
    Promotion promotion = Promotion::read_ahead;
    Replacement replacement = Replacement::fifo;
    double half_life_s = 60;  ///< seconds after which a read counts half, where reads are counted
};

/// Another pool with a target in the same directory.
struct TargetUser {
    std::string pool{};  ///< its path; empty if this user may not know it
    std::uint64_t used_bytes = 0;
    std::uint64_t share = 1;
    bool is_open = false;     ///< open for writing; of other pools only `used_bytes` counts
    bool needs_room = false;  ///< lately found less room than its fair part
    bool is_writing = false;  ///< writing there now
};

/// The present state of a target.
struct TargetInfo {
    Target target;
    std::uint64_t used_bytes = 0;  ///< by this pool
    std::uint64_t capacity_bytes = 0;
    std::string trouble{};  ///< why no blocks are put there at present; empty if all is well
    /// Bytes that all pools may use of its directory; not for the pool itself.
    std::uint64_t together_bytes = 0;
    std::uint64_t part_bytes = 0;  ///< the fair part of this pool; 0 if no process has it open for writing
    std::vector<TargetUser> others{};
    /// Of the flush target: why Flush::command or Flush::as failed last; empty if neither did.
    std::string command_trouble{};
};

/// Blocks and bytes to flush or move, and how many of them are done.
struct FlushProgress {
    std::uint64_t blocks = 0, of_blocks = 0;
    std::uint64_t bytes = 0, of_bytes = 0;
};

/// The place of a block and the failures that it survives. Each failure includes those before it.
struct Receipt {
    enum class Survives {
        process,  ///< the death of any process, not a power loss
        /// a power loss, as far as the pool's Durability promises: at once, or since the last sync
        power,
        node,  ///< the loss of the node: a target that other nodes see has a copy
    };
    Selection box;
    std::string target;
    bool is_flushed = false;  ///< the flush target has it or a copy of it
    bool is_staged = false;   ///< Flush::command has taken it from there
    Survives survives = Survives::process;
    Buffering mode = Buffering::none;  ///< the mode that applies to it
    /// Estimated seconds until it is flushed: the bytes before it over the target's bandwidth. Nothing if it
    /// is flushed, or if no process is to flush it before the pool is closed.
    std::optional<double> flushed_in_s{};
    /// The trigger that it waits for, if it is to be flushed and is not yet: the first in time of the
    /// hierarchy's.
    std::optional<Trigger> waits_for{};
};

/// Effects of promotion in this process since it opened the pool: blocks that load() and view() needed.
struct ReadCounters {
    std::uint64_t above = 0;       ///< read in the pool
    std::uint64_t below = 0;       ///< read from another target
    std::uint64_t brought_up = 0;  ///< moved into the pool because they were read
    std::uint64_t read_ahead = 0;  ///< moved into the pool before they were read
    /// Of these, those then read in the pool; the others have been brought up in vain so far.
    std::uint64_t ahead_used = 0;
    std::uint64_t ahead_wasted = 0;       ///< of these, those moved down again unread
    std::uint64_t prefetcher_failed = 0;  ///< exceptions of the user's function (set_prefetcher)
};

/// "dax", "tmpfs", "file", "shared".
const char* name_of(TargetKind kind) noexcept;
/// "max-bandwidth", "max-locality", "hot-data", "user-defined".
const char* name_of(Policy policy) noexcept;
/// "none", "write-back", "write-through", "bypass", "scratch".
const char* name_of(Buffering mode) noexcept;
/// "period", "store", "close", "exit".
const char* name_of(Trigger trigger) noexcept;
/// The mode of that name. Errors: invalid_argument.
Buffering parse_buffering(std::string_view name);
/// "never", "on-read", "read-ahead".
const char* name_of(Promotion promotion) noexcept;
/// "fifo", "lru", "lfu", "application".
const char* name_of(Replacement replacement) noexcept;
/// "process", "power", "node".
const char* name_of(Receipt::Survives failure) noexcept;

/// Reads a hierarchy from YAML; docs/tiers.md lists the keys.
/// Errors: invalid_argument with the line: unknown keys, sizes and speeds that make no sense, targets not in
///     the order of their speed, rules that name no target; unsupported by a build without yaml-cpp.
Hierarchy parse_hierarchy(std::string_view yaml);
/// The YAML of a hierarchy, which parse_hierarchy() reads.
std::string to_yaml(const Hierarchy& hierarchy);
/// Reads a hierarchy from a file. Errors: those of parse_hierarchy(), not_found, io_error.
Hierarchy read_hierarchy(const std::string& path);

/// Sets the hierarchy of a pool and stores it there. Processes that have the pool open follow it from their
/// next store on. A target that the new hierarchy leaves out must hold no blocks of the pool.
/// Crash: the old hierarchy counts or the new one.
/// Errors: invalid_argument; busy when a target left out holds blocks of the pool, or when a directory holds
///     blocks of another pool with the same identity, such as a copy of the pool file; not_found for a
///     missing directory; permission_denied; unsupported by a build without yaml-cpp.
void set_hierarchy(PMEM& pool, const Hierarchy& hierarchy);
/// Sets the mode of all ids that a glob matches, stored already or not; for "/" that of the hierarchy. The
/// mode becomes a rule in front of the others, or changes the rule for the same glob; other settings of that
/// id stay.
/// Crash: as set_hierarchy().
/// Sharing: as set_hierarchy(); two calls at once take effect one after the other.
/// Errors: invalid_argument when the pool has no hierarchy, or has no target below it and the mode needs one.
void set_mode(PMEM& pool, std::string_view match, Buffering mode);
/// Removes the hierarchy. Errors: busy when other targets hold blocks; move() brings them back.
void remove_hierarchy(PMEM& pool);
/// The hierarchy of a pool; nothing if it has none. Errors: unsupported by a build without yaml-cpp.
std::optional<Hierarchy> hierarchy_of(const PMEM& pool);
/// The targets of a pool; without a hierarchy, the pool itself.
std::vector<TargetInfo> targets(const PMEM& pool);

/// Moves the blocks of a variable, or of a group ("/": the pool), to a target. Each block is copied, its
/// checksum compared, and its new place published, so readers see it at any moment; views keep what they
/// show. Blocks stored meanwhile stay where they are stored. Values up to 512 bytes, attributes, and arrays
/// filled in place stay in the pool. Returns the bytes moved. Calls `progress`, if given, after each block;
/// false stops.
/// Crash: each block is whole, in the old place or in the new one.
/// Errors: not_found; invalid_argument for a target that the pool does not have; no_space (blocks moved so
///     far stay there); corrupt when a block has another checksum than when it was stored: it stays where it
///     is; io_error.
std::uint64_t move(PMEM& pool, std::string_view id, std::string_view target,
                   const std::function<bool(const FlushProgress&)>& progress = {});

/// Reserves `bytes` of free space in a target for stores through this PMEM, until they have used it, the pool
/// is closed, or the process dies. Moves older blocks down if needed. A new call for the same target starts
/// anew; 0 gives the space up. Without `target`: in the pool, also one without a hierarchy.
/// Units: bytes; in the pool whole chunks are reserved. Space of overwritten or erased data does not return
///     to the reservation.
/// Sharing: stores of others that find no other space get no_space, or go to another target.
/// Errors: no_space, and then nothing is reserved; invalid_argument for a target that the pool does not have;
///     unsupported for a pool in a directory.
void reserve(PMEM& pool, std::uint64_t bytes, std::string_view target = {});
/// The reserved bytes that are left.
std::uint64_t reserved(const PMEM& pool, std::string_view target = {});

/// Copies blocks that the flush target does not have yet, of a variable or of a group ("/": the pool), and
/// returns the bytes copied. In modes other than `none` and `scratch` this happens by itself; this call waits
/// for it. For a group it leaves out scratch. A copy counts once all of it is durable. Then hands outstanding
/// files to Flush::command, if there is one. Calls `progress`, if given, after each block; false stops.
/// Crash: each block is copied whole or not at all; finished copies stay.
/// Errors: invalid_argument where the pool has no hierarchy, or no target below it; not_found; no_space;
///     io_error, also for a command that fails; permission_denied for a command that other users could have
///     set; corrupt for a block that has another checksum than when it was stored.
std::uint64_t flush(PMEM& pool, std::string_view id = "/",
                    const std::function<bool(const FlushProgress&)>& progress = {});
/// Options of rebuild().
struct RebuildOptions {
    /// Nothing: that of the lost pool, if its directories are there.
    std::optional<Hierarchy> hierarchy{};
    std::uint64_t max_bytes = 0;  ///< 0: as the lost one, or as large as it must be without a hierarchy
    std::function<void(const FlushProgress&)> progress{};  ///< called after each block
};
/// The result of rebuild(): what came back, and what did not.
struct Rebuilt {
    std::string lost{};            ///< the path of the pool that was lost
    std::uint64_t written_ns = 0;  ///< when the flush target's inventory was written, since 1970
    std::uint64_t variables = 0;   ///< in the new pool
    std::uint64_t blocks = 0;
    std::uint64_t bytes = 0;          ///< of these blocks, as stored
    std::string hierarchy_trouble{};  ///< why the new pool has no hierarchy; empty if it has one
    std::vector<Damage> damages{};    ///< data that could not be brought back, by variable and box
};
/// Makes a pool at `to` from the flush target of a lost pool. It restores all groups, variables, attributes
/// and blocks that the target's newest inventory names; each flush writes one (docs/tiers.md). `from` is the
/// target's directory as the hierarchy names it, if one pool was flushed there, or the pool's own directory
/// in it. It is only read; the new pool has files of its own.
///
/// Each variable is as it was at one moment. Of a committed step, all variables whose modes flush them are
/// there, or none. Blocks keep their step, time, writer, codec and checksum. Values and attributes are stored
/// anew. The index and hints of operations do not come back. Missing or damaged data is named, and the rest
/// is restored: in an array the data stored there before shows, or the fill value, or nothing.
/// Crash: the new pool is there whole or not at all.
/// Errors: not_found where nothing was flushed; invalid_argument where several pools were flushed; busy when
///     the flushed pool still exists; already_exists when there is something at `to`; unsupported for a
///     device; corrupt when no inventory is whole; no_space.
Rebuilt rebuild(const std::string& from, const std::string& to, const RebuildOptions& options = {});
/// A request to the process that works in the background of a pool.
enum class Request : std::uint32_t {
    flush = 1,     ///< as flush()
    bring_up = 2,  ///< as will_need()
};
/// The highest urgency of a request.
inline constexpr std::uint32_t most_urgent = 3;
/// Requests work and returns at once. The process that moves blocks in the background does it: this one,
/// another one, or an Organizer; without any, the next that opens the pool for writing. The most urgent
/// request comes first, else the oldest. Requests that cannot be done are not repeated; an Organizer tells
/// why (trouble()).
///
/// Requests wait in a queue of messages beside the pool, `<pool>.requests`. A program may push its own there
/// (MessageQueue): the type is the request, the text the id.
/// Crash: if the working process dies, another one repeats its request. Requests do not survive the machine.
/// Errors: invalid_argument in a pool without a hierarchy or without a target below it, and for an urgency
///     above most_urgent; not_found; no_space when 1,024 are waiting; permission_denied in a pool open for
///     reading.
void request(PMEM& pool, Request what, std::string_view id = "/", std::uint32_t urgency = 1);
/// The number of pending requests; 0 without permission to write the pool.
std::uint64_t requests(const PMEM& pool);
/// Blocks that the hierarchy's modes are to flush and that are not flushed yet. Looks at all blocks.
FlushProgress unflushed(const PMEM& pool);
/// Blocks in the flush target that Flush::command has not taken yet; none without a command.
FlushProgress unstaged(const PMEM& pool);
/// Does the background work of a pool while it lives, instead of the processes that store. These leave the
/// work to it and do not wait when they close the pool, whatever the triggers: it copies within
/// Flush::period_s.
///
/// An Organizer is optional: it gives the work a process of its own, which may have its own processors and
/// outlive the others. In a pool without a hierarchy it waits for one. It also does the operations of hints
/// (<pmemcpy/operations.hpp>), except functions that only another process has; the other processes do these
/// operations too.
/// Crash: if its process dies, another takes over within a second; nothing is lost.
class Organizer {
public:
    /// Starts the work. `cores`: its processors, as taskset(1) lists them, "0-3,8"; empty: those of the
    /// hierarchy's `flush.cores`.
    /// Errors: those of PMEM::mmap; permission_denied in a pool open for reading; busy when the pool has an
    ///     Organizer already; invalid_argument for a text that names no processors, or none that this process
    ///     may run on.
    explicit Organizer(const std::string& path, std::string_view cores = {});
    /// Stops the work; if a trigger is `close`, waits first until everything is flushed.
    ~Organizer();
    Organizer(const Organizer&) = delete;
    Organizer& operator=(const Organizer&) = delete;

    /// Why its last work failed; empty if it did not.
    std::string trouble() const;

private:
    std::unique_ptr<mover::Mover> mover_;
    std::unique_ptr<operate::Operator> operator_;
};
/// The counters of this process; zeros without promotion.
ReadCounters read_counters(const PMEM& pool);
/// The receipts of all blocks of an array. Errors: not_found, invalid_argument for what is no array or a pool
/// without a hierarchy.
std::vector<Receipt> receipts(const PMEM& pool, std::string_view id);

}  // namespace pmemcpy
