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

// Tiers: slower, larger places under a pool, into which blocks go when the pool is full, and from which they are read like any
// others. Nothing but this has to be said, once:
//
//     pmemcpy tiers run.pmem hierarchy.yaml     # targets, from the fastest to the slowest, and how fast they are
//
// From then on every process that stores into the pool follows it, also those that have it open. docs/tiers.md says how to choose.

namespace pmemcpy {

namespace mover {
class Mover;
}
namespace operate {
class Operator;
}

enum class TargetKind {
    dax,     ///< persistent memory, mapped
    tmpfs,   ///< memory, gone with the node
    file,    ///< a file system on a device of this node: NVMe, SSD, a disk
    shared,  ///< a directory that other nodes see too: a burst buffer, a parallel file system
};

/// What a medium does with one process: bytes a second for large accesses, seconds for a small one.
struct Speed {
    double bytes_per_second = 0;
    double latency_s = 0;
};

/// What a target's speed was measured on, and with several processes at once; by it is noticed that the figures no longer fit.
struct Measured {
    std::string at{};           ///< the directory
    std::uint64_t time_s = 0;   ///< seconds since 1970
    std::string file_system{};  ///< as the kernel calls it: "ext4", "lustre"
    std::string device{};       ///< "/dev/nvme0n1p2", "server:/export"
    std::uint64_t size_bytes = 0;
    Durability durability = Durability::none;  ///< what the place promises
    bool is_direct = false;                    ///< past the page cache (O_DIRECT)
    std::uint32_t processes = 1;
    Speed write{};  ///< of so many processes: bytes a second together, seconds of each
    Speed read{};   ///< the same
};

/// A place that holds blocks.
struct Target {
    std::string name;
    TargetKind kind = TargetKind::file;
    std::string
        path{};  ///< an existing directory; empty: the pool itself, which is the first target and nothing but it
    std::uint64_t capacity_bytes = 0;  ///< that the pool may use of it; 0: all that there is
    Speed write{};
    Speed read{};
    /// Accesses take no less time than `write` and `read` say, of all processes of the node together: for a good neighbour on a shared file
    /// system, or to try a hierarchy on another machine. Not of the first target.
    bool limited = false;
    std::optional<Measured> measured{};  ///< by the profiler: <pmemcpy/profile.hpp>
    /// Other pools may have targets in the same directory. When they need more room, or write more at once, than there is, each gets so much
    /// in proportion: twice the share is twice the capacity and twice the bandwidth. From 1 to 1000. Not of the first target.
    std::uint32_t share = 1;
    /// That all pools of this node together may use of the directory; 0: all that there is. Where they do not agree the least counts. Not of the
    /// first target.
    std::uint64_t together_bytes = 0;
};

/// Where a new block goes. Each decides by the cost that its equation gives (docs/tiers.md), over what each target has left.
/// Source: Hermes (Kougkas, Devarakonda, Sun; HPDC 2018), section 3.2.2 and appendix.
enum class Policy {
    max_bandwidth,  ///< as fast as possible for who stores
    max_locality,   ///< a variable's blocks stay together
    hot_data,       ///< what is read often lies high
    user_defined,   ///< as the rules say; what none names goes to the first target that has room
};

/// What becomes of a block after it was stored. Source: Hermes, section 3.2.1.
enum class Buffering {
    none,           ///< it stays where it is until there is no room
    write_back,     ///< copied to the flush target soon, in the background
    write_through,  ///< copied to the flush target before the store returns; of a step, before commit returns
    bypass,         ///< stored in the flush target at once
    /// Gone with the job: never flushed by itself, brought down only when there is no room above, and erased when the job ends, if it was
    /// stored in this mode and still has it. A job is all processes that have the pool open for writing, from the first that opens it to
    /// the last that closes it or dies.
    scratch,
};

/// When `write_back` copies. Source: Hermes, section 3.2.1.
enum class Trigger {
    period,  ///< again and again: Flush::period_s
    store,  ///< within a tenth of a second after a store, with all that was stored before it; the store does not wait
    close,  ///< munmap, or the normal end of a program that does not call it, waits until all is copied
    exit,   ///< the same of the last of all processes that have the pool open for writing
};

/// Whether blocks come back up when they are read.
enum class Promotion {
    never,       ///< they stay where they are until somebody moves them
    on_read,     ///< what is read from below the pool is brought up, in the background
    read_ahead,  ///< also what is likely to be read next, by who reads blocks one after the other, at equal distances, or as before
};

/// Which block leaves a target first when room is made there. Before that counts what the application has said (caching.hpp), and under
/// Policy::hot_data how hot it is; blocks that rules hold there do not leave.
enum class Replacement {
    fifo,         ///< the one that came first
    lru,          ///< the one that was not read, or stored, for the longest time
    lfu,          ///< the one that was read least often; what is long ago counts less
    application,  ///< the one of the oldest step; of those of one step the first that came
};

/// How blocks are copied to the target where they are to survive: the block stays where it is, the copy is made besides.
struct Flush {
    std::string to{};  ///< the name of a target; empty: the last
    /// One or several. What is still to be copied when a process is killed, the next who opens the pool copies in the background.
    std::vector<Trigger> on = {Trigger::period};
    double period_s = 5;  ///< how often who has the pool open looks for what was stored, or erased, since
    double bytes_per_second = 0;  ///< at most, in the background; 0: as fast as it goes
    /// That copy blocks at the same time, or move them to a target that takes long for each. 0: two, or as many as the target's profile says
    /// have more of it together than one alone.
    unsigned threads = 0;
    std::vector<unsigned>
        cores{};  ///< processors on which whatever is done in the background runs; empty: any
    /// A program, and its arguments, that takes each file on from the flush target when it is durable there: "dwstage {file} /pfs/{name}". No shell
    /// reads it; docs/tiers.md says how words are parted and what {...} stand for. Exit code 0 means that it was done; else it is tried again later.
    /// It may get a file twice. Nobody but who owns the pool may have it run.
    std::string command{};
    double command_timeout_s = 60;  ///< after which it is killed, with all that it has started
    /// "hdf5", "netcdf" or "zarr": finished files for other programs, besides, of each variable and group at the top of the pool one. They are in the
    /// directory POOL.finished of the flush target, and written anew when something in them has changed: in the background when it has not changed for
    /// `period_s`, on `close`, on `exit`, and by flush(). By the program `pmemcpy`, which has to be in PATH. Empty: none.
    std::string as{};
};

/// A target that is fuller than `high` is emptied to `low`, in the background. Parts of its capacity. While processes store it is only
/// kept from being full; when they pause, it is emptied so far, but not below half of `low`, that as much as they have stored at a time of
/// late finds room below `high`, for a second. A `high` of 1: only who needs room makes it.
struct Watermarks {
    double high = 0.9;
    double low = 0.75;
};

/// What a user knows better, for the ids that a glob matches. Of several rules that match the first counts. Rules count under every
/// policy.
struct Rule {
    std::string match;         ///< a glob over ids, as find takes it; "**" is every id
    std::optional<Box> box{};  ///< only for blocks that meet it
    std::optional<std::int32_t> first_rank{}, last_rank{};  ///< only for blocks that these ranks store
    std::string pin{};  ///< the name of a target: there and nowhere else, even if that means no_space
    std::vector<std::string> prefer{};  ///< names of targets: tried in this order, before the policy is asked
    bool never_evict = false;           ///< stays where it was put until somebody moves it
    std::optional<Buffering> mode{};    ///< else the hierarchy's
    bool drop_after_flush = false;  ///< gives up its place when there is a copy: it is read from there then
    /// Erased when it has been read: after a load() that covered the whole of the block, by a PMEM that is open for writing and has
    /// not stored the block itself. Until such a load has got all of it, whoever looks finds it; a reader that dies before leaves it. Views,
    /// loads of a part, and readers that have the pool open for reading leave it. A block stays that hides part of an older one, which
    /// would be seen again. What was dropped is to later loads as if it had never been stored: the fill value, or not_found; an array that
    /// grows is as long as its last block reaches.
    /// Source: Hermes, section 3.2.1 (conditional overwriting).
    bool drop_after_read = false;
};

/// The targets under a pool, the fastest first, and how they are used.
struct Hierarchy {
    std::vector<Target> targets;
    Policy policy = Policy::max_bandwidth;
    std::uint64_t granularity_bytes = 1 << 20;  ///< room that is too small counts in such pieces
    std::vector<Rule> rules{};
    Buffering mode = Buffering::write_back;
    Flush flush{};
    Watermarks watermarks{};
    Promotion promotion = Promotion::read_ahead;
    Replacement replacement = Replacement::fifo;
    double half_life_s =
        60;  ///< after which a read counts for half, where it counts how often something is read
};

/// Another pool that has a target in the same directory.
struct TargetUser {
    std::string pool{};  ///< its path; empty where that may not be known
    std::uint64_t used_bytes = 0;
    std::uint64_t share = 1;
    bool is_open = false;     ///< for writing; of one that is not open only what it uses counts
    bool needs_room = false;  ///< has found less room lately than its part is
    bool is_writing = false;  ///< there, now
};

/// A target as it is now.
struct TargetInfo {
    Target target;
    std::uint64_t used_bytes = 0;  ///< by this pool
    std::uint64_t capacity_bytes = 0;
    std::string trouble{};             ///< why nothing is put there at present; empty if it is well
    std::uint64_t together_bytes = 0;  ///< that all pools may use of its directory. Not of the pool itself
    std::uint64_t part_bytes =
        0;  ///< of these, the fair part of this pool; 0 if nobody has it open for writing
    std::vector<TargetUser> others{};
    std::string
        command_trouble{};  ///< of the flush target: why Flush::command, or Flush::as, failed last; empty if neither did
};

/// What there is to flush or to move, and how much of it is done.
struct FlushProgress {
    std::uint64_t blocks = 0, of_blocks = 0;
    std::uint64_t bytes = 0, of_bytes = 0;
};

/// Where a block is and what it survives. Each failure includes those before it.
struct Receipt {
    enum class Survives {
        process,  ///< any process, not the node's power
        power,    ///< as far as the pool's Durability promises it: at once, or since the last sync
        node,     ///< there is a copy in a target that other nodes see
    };
    Selection box;
    std::string target;
    bool is_flushed = false;  ///< the flush target has it, or a copy
    bool is_staged = false;   ///< and Flush::command has taken it from there
    Survives survives = Survives::process;
    Buffering mode = Buffering::none;  ///< that counts for it
    /// Seconds until it is flushed if all goes as the hierarchy says: what waits before it over the target's bandwidth. Nothing if it
    /// is, or if nobody is to do it before the pool is closed.
    std::optional<double> flushed_in_s{};
    /// What it waits for, if it is to be flushed and is not: the first in time of the hierarchy's triggers.
    std::optional<Trigger> waits_for{};
};

/// What came of promotion in this process, since it opened the pool: blocks that load() and view() needed.
struct ReadCounters {
    std::uint64_t above = 0;       ///< that lay in the pool
    std::uint64_t below = 0;       ///< that had to be read from another target
    std::uint64_t brought_up = 0;  ///< moved into the pool because they were read
    std::uint64_t read_ahead = 0;  ///< moved into the pool before they were read
    std::uint64_t ahead_used =
        0;  ///< of these, that were then read in the pool; the others were brought up in vain, so far
    std::uint64_t ahead_wasted = 0;       ///< of these, that were moved down again before anybody read them
    std::uint64_t prefetcher_failed = 0;  ///< times that the user's function threw something (set_prefetcher)
};

/// "dax", "tmpfs", "file", "shared".
const char* name_of(TargetKind kind) noexcept;
/// "max-bandwidth", "max-locality", "hot-data", "user-defined".
const char* name_of(Policy policy) noexcept;
/// "none", "write-back", "write-through", "bypass", "scratch".
const char* name_of(Buffering mode) noexcept;
/// "period", "store", "close", "exit".
const char* name_of(Trigger trigger) noexcept;
/// A mode by its name. Errors: invalid_argument.
Buffering parse_buffering(std::string_view name);
/// "never", "on-read", "read-ahead".
const char* name_of(Promotion promotion) noexcept;
/// "fifo", "lru", "lfu", "application".
const char* name_of(Replacement replacement) noexcept;
/// "process", "power", "node".
const char* name_of(Receipt::Survives failure) noexcept;

/// A hierarchy as YAML; docs/tiers.md lists the keys. Errors: invalid_argument with the line: unknown keys, sizes and speeds that make
/// no sense, targets that are not in the order of their speed, rules that name none of them; unsupported by a build without yaml-cpp.
Hierarchy parse_hierarchy(std::string_view yaml);
std::string to_yaml(const Hierarchy& hierarchy);
/// Errors: those of parse_hierarchy(), not_found, io_error.
Hierarchy read_hierarchy(const std::string& path);

/// Gives a pool its hierarchy, which is kept in it: all who have it open follow it from their next store on. A target that the pool
/// had and that is not among them any more must hold none of its blocks.
/// Crash: the old one counts or the new one.
/// Errors: invalid_argument; busy, when a target is left out in which blocks of the pool lie, or when a directory holds blocks
///     of another pool with the same identity, as a copy of a pool file has it; not_found for a directory that is missing;
///     permission_denied; unsupported by a build without yaml-cpp.
void set_hierarchy(PMEM& pool, const Hierarchy& hierarchy);
/// Sets the mode of all ids that a glob matches, stored already or not; of "/" that of the hierarchy. A rule for it comes before the
/// others, and keeps what else was said of this id; a rule for the same glob, and for all of it, is changed.
/// Crash, Sharing: as set_hierarchy(); two who do it at once do it one after the other.
/// Errors: invalid_argument, when the pool has no hierarchy, or no target below it and the mode needs one.
void set_mode(PMEM& pool, std::string_view match, Buffering mode);
/// Takes it away. Errors: busy, when blocks lie in other targets than the pool; move() brings them back.
void remove_hierarchy(PMEM& pool);
/// Nothing, if the pool has none. Errors: unsupported by a build without yaml-cpp.
std::optional<Hierarchy> hierarchy_of(const PMEM& pool);
/// The targets of a pool; of one without a hierarchy the pool itself.
std::vector<TargetInfo> targets(const PMEM& pool);

/// Moves the blocks of a variable, or of all that is in a group ("/": the pool), to a target. Each is copied, its checksum
/// verified, and its new place published, so that readers see it at any moment; views keep what they show. What is stored meanwhile is
/// left where it is stored. Values up to 512 bytes, attributes, and arrays that are filled in place stay in the pool.
/// Returns the bytes that were moved. `progress`, if given, is called after each block; false stops.
/// Crash: each block is in the old place or in the new one, whole.
/// Errors: not_found; invalid_argument for a target that the pool does not have; no_space (what was moved stays there); corrupt,
///     when a block has another checksum than when it was stored: it stays where it is; io_error.
std::uint64_t move(PMEM& pool, std::string_view id, std::string_view target,
                   const std::function<bool(const FlushProgress&)>& progress = {});

/// From here on so much of what is free in a target can only be taken by stores through this PMEM, until they have taken it, the pool is
/// closed, or the process dies. Older blocks go down for it, if that is needed. A new call for the same target counts anew; 0 bytes give it
/// up. `target` may be left out: the pool, also one without a hierarchy.
/// Units: bytes; in the pool whole chunks are reserved. What is overwritten or erased does not come back to it.
/// Sharing: of others' stores those that find nothing else are no_space, or go to another target.
/// Errors: no_space, and then nothing is reserved; invalid_argument for a target that the pool does not have; unsupported for a pool in a
///     directory.
void reserve(PMEM& pool, std::uint64_t bytes, std::string_view target = {});
/// What is left of it.
std::uint64_t reserved(const PMEM& pool, std::string_view target = {});

/// Copies what the flush target does not have yet of a variable, or of all in a group ("/": the pool), and returns the bytes copied. In
/// modes other than `none` and `scratch` this goes on by itself; here somebody waits for it. Of a group all but scratch. A copy counts
/// from when it is durable as a whole. Where there is a Flush::command, all that is there is handed to it then.
/// `progress`, if given, is called after each block; false stops.
/// Crash: what was copied is; nothing is half copied.
/// Errors: invalid_argument where the pool has no hierarchy, or it has no target below the pool; not_found; no_space; io_error, also for a command that
///     fails; permission_denied for one that others may have chosen; corrupt for a
///     block that has another checksum than when it was stored.
std::uint64_t flush(PMEM& pool, std::string_view id = "/",
                    const std::function<bool(const FlushProgress&)>& progress = {});
/// How a pool is made again that was lost.
struct RebuildOptions {
    std::optional<Hierarchy> hierarchy{};  ///< nothing: that of the lost pool, if its directories are there
    std::uint64_t max_bytes = 0;  ///< 0: as the lost one, or as large as it must be without a hierarchy
    std::function<void(const FlushProgress&)> progress{};  ///< called after each block
};
/// What rebuild() has brought back, and what it has not.
struct Rebuilt {
    std::string lost{};  ///< the path of the pool that was lost
    std::uint64_t written_ns =
        0;                        ///< since 1970: when what it held was last written down in the flush target
    std::uint64_t variables = 0;  ///< in the new pool
    std::uint64_t blocks = 0;
    std::uint64_t bytes = 0;          ///< of these blocks, as they are stored
    std::string hierarchy_trouble{};  ///< why the new pool has no hierarchy; empty if it has one
    std::vector<Damage> damages{};    ///< what could not be brought back, by variable and box
};
/// Makes a pool at `to` of what was flushed to `from`, when the pool that it was flushed of is lost: all groups, variables, attributes and blocks that
/// the flush target's newest inventory names, which each flush writes (docs/tiers.md). `from`: a directory in which one pool was flushed, as the hierarchy
/// names it, or the one of the pool in it. It is only read; the new pool has files of its own. Blocks keep their step, time, writer, codec and
/// checksum; values and attributes are stored anew; the index, and hints of operations, are not among it.
/// Each variable is as it was at one moment, and of a step that was committed all of its variables that are flushed by their modes are there or none.
/// What is missing or damaged in the flush target is named, and the rest is there: of an array what was stored there before shows, or the fill value, or nothing.
/// Crash: the new pool is there whole or not at all.
/// Errors: not_found, where nothing was flushed; invalid_argument for what was flushed of several pools; busy, when the pool that was flushed is there;
///     already_exists when there is something at `to`; unsupported for a device; corrupt when no inventory is whole; no_space.
Rebuilt rebuild(const std::string& from, const std::string& to, const RebuildOptions& options = {});
/// What whoever works in the background of a pool may be asked for.
enum class Request : std::uint32_t {
    flush = 1,     ///< what flush() does
    bring_up = 2,  ///< what will_need() does
};
inline constexpr std::uint32_t most_urgent = 3;
/// Asks for it and returns at once: it is done by the process that moves blocks in the background, which may be another one, such as an
/// Organizer; of several requests the most urgent first, else in their order. They wait in a queue of messages beside the pool, `<pool>.requests`, into which
/// a program may push its own as well (MessageQueue): the type is the request, the text the id. If nobody is there, whoever opens the pool next for
/// writing does them. What could not be done is not tried again; an Organizer tells why (trouble()).
/// Crash: of whoever is at it, another does it once more. The requests do not survive the machine.
/// Errors: invalid_argument in a pool without a hierarchy or with no target below it, and for an urgency above most_urgent; not_found;
///     no_space when 1,024 are waiting; permission_denied for who only reads the pool.
void request(PMEM& pool, Request what, std::string_view id = "/", std::uint32_t urgency = 1);
/// How many wait, or are just being done; 0 for who may not write the pool.
std::uint64_t requests(const PMEM& pool);
/// What is to be flushed by the hierarchy's modes, and is not yet. Looks at all blocks.
FlushProgress unflushed(const PMEM& pool);
/// What lies in the flush target, and Flush::command has not taken yet. Nothing, where there is no command.
FlushProgress unstaged(const PMEM& pool);
/// Does what is to be done in the background of a pool as long as it lives, in the place of the processes that store: those leave it to this one,
/// and do not wait when they close the pool, whatever the triggers: it copies within Flush::period_s. Nobody needs one: it gives that work a process of its own, which may have
/// processors of its own and outlive the others. A pool without a hierarchy waits for one. It also does what hints want done with arrays
/// (<pmemcpy/operations.hpp>), as far as no function is wanted that only another process has; the others do not leave that to it.
/// Crash: of the process, another takes over within a second; nothing is lost.
class Organizer {
public:
    /// `cores`: processors on which it runs, as taskset(1) lists them, "0-3,8"; empty: those of the hierarchy's `flush.cores`.
    /// Errors: those of PMEM::mmap; permission_denied in a pool that may only be read; busy, when the pool has one already; invalid_argument
    ///     for what names no processors, or none that this process may run on.
    explicit Organizer(const std::string& path, std::string_view cores = {});
    /// Gives up what it is at; where a trigger is `close`, waits until everything is flushed.
    ~Organizer();
    Organizer(const Organizer&) = delete;
    Organizer& operator=(const Organizer&) = delete;

    /// Why the last thing that it tried could not be done; empty if it could.
    std::string trouble() const;

private:
    std::unique_ptr<mover::Mover> mover_;
    std::unique_ptr<operate::Operator> operator_;
};
/// Zeros where nobody promotes anything.
ReadCounters read_counters(const PMEM& pool);
/// Of each block of an array. Errors: not_found, invalid_argument for what is no array or a pool without a hierarchy.
std::vector<Receipt> receipts(const PMEM& pool, std::string_view id);

}  // namespace pmemcpy
