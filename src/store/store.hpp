// Length: one class declares the verbs of all files of this room, and what they share.
#pragma once

#include "catalog/catalog.hpp"
#include "catalog/directory.hpp"
#include "catalog/retry.hpp"
#include "heap/heap.hpp"
#include "heat/tally.hpp"
#include "layout/directory_layout.hpp"
#include "layout/inventory.hpp"
#include "layout/place.hpp"
#include "layout/targets.hpp"
#include "os/access.hpp"
#include "os/map.hpp"
#include "pool/pool.hpp"
#include "store/in_transit.hpp"
#include "store/listing.hpp"
#include "store/tiering.hpp"
#include "store/unpacked.hpp"
#include "tier/bursts.hpp"
#include "tier/command.hpp"

#include <pmemcpy/caching.hpp>
#include <pmemcpy/pmemcpy.hpp>
#include <pmemcpy/tiers.hpp>

#include <array>
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace pmemcpy::array {
class CopyPlan;
}

namespace pmemcpy::store {

using catalog::ArrayDefinition;
using catalog::BlockRecord;
using catalog::Directory;
using heap::Extent;
using heap::Link;

/// Attributes with such names are what the library itself notes with the pool, as how its index is kept: seen by nobody else, and set by nobody else.
inline constexpr std::string_view reserved_prefix = "pmemcpy:";

/// A pool that was made just now.
struct Made {
    os::Identity file;
    std::shared_ptr<layout::NewDirectories> directories{};  // null in the file layout
};

/// Which pool an opening is to come to, beside its name.
struct Which {
    std::uint64_t committed = 0;          // a step that was committed with another pool's (commit_with())
    std::optional<pool::Itself> again{};  // no other than this one, which is open here already
    std::array<std::uint8_t, 16>
        side_of{};  // the private objects of the pool of this origin, or made for them
    std::array<std::uint8_t, 16> origin{};  // of a new one that takes the place of this one
};

/// The verbs on variables: each only puts what the rooms below can do into the right order.
class Store : public std::enable_shared_from_this<Store> {
public:
    /// `is_new` gets whether this call has made the pool.
    /// Errors: busy where the name leads to another pool than `which` says.
    static std::shared_ptr<Store> open(const std::string& path, const Options& options,
                                       bool* is_new = nullptr, const Which& which = {});
    /// `salvage`: the pool is a copy of a damaged one, of which recovery is to make the most.
    Store(const layout::Place& place, const Options& options, catalog::Salvage* salvage = nullptr,
          const Which& which = {});
    ~Store();

    // open.cpp
    void close();
    /// The pool goes when it is closed, if this object made it, nothing is in it, and no other has it open for writing.
    void withdraw() { leaves_ = made_ ? Leaves::nothing_unused : Leaves::pool; }
    /// The same with all that is in it, whoever made it.
    void discard() {
        made_ = Made{pool_.file().identity()};
        leaves_ = Leaves::nothing;
    }
    bool has_views() const { return weak_from_this().use_count() > 1; }
    void sync();
    PoolInfo info() const;
    bool read_only() const { return pool_.read_only(); }
    Durability durability() const { return pool_.durability(); }
    SerializerType default_serializer() const;

    // value.cpp
    void store_value(std::string_view id, const Type& type, SerializerType serializer, const Encoder& encoder,
                     bool must_be_new = false);
    void load_value(std::string_view id, const PMEM::Decode& decode) const;
    bool load_raw(std::string_view id, const Type& type, void* value, std::size_t bytes) const;
    Pinned view_value(std::string_view id) const;

    // attribute.cpp
    void set_attributes(std::string_view id, std::span<const Attribute> attributes);
    void set_attribute(std::string_view id, std::string_view name, const Type& type,
                       SerializerType serializer, const Encoder& encoder, bool must_be_new = false);
    void get_attribute(std::string_view id, std::string_view name, const PMEM::Decode& decode) const;
    void for_each_attribute(std::string_view id, const PMEM::VisitAttribute& visit) const;
    std::vector<std::string> attributes(std::string_view id) const;
    Info attribute_info(std::string_view id, std::string_view name) const;
    void remove_attribute(std::string_view id, std::string_view name);

    // array.cpp, write.cpp, read.cpp, view.cpp
    void alloc(std::string_view id, const Type& type, const Dimensions& dims, const ArrayOptions& options);
    void store(std::string_view id, const Type& type, const void* data, const Selection& selection,
               const std::optional<Codec>& codec);
    /// What a load took beside others' stores.
    struct Effort {
        std::uint64_t looks = 0;   // at the array's directory
        std::uint64_t blocks = 0;  // that were read, also in vain
    };
    Effort load(std::string_view id, const Type& type, void* data, const Selection& selection,
                std::optional<std::uint64_t> step) const;
    Dimensions dims(std::string_view id) const;
    PMEM::RawView view(std::string_view id, const Type& type, const Selection& selection, bool writable);
    void freeze(std::string_view id);

    // names.cpp
    bool exists(std::string_view id) const;
    /// Nothing, if there is no such id.
    std::optional<bool> is_group(std::string_view id) const;
    void make_group(std::string_view id);
    void erase(std::string_view id);
    /// That very object, whatever its name is, and nothing that has come into its place. False when it is gone.
    bool erase_this(const Oid& oid);
    /// What has this name, if it is that object. False when it is another one, or nothing.
    bool erase_if(std::string_view id, const Oid& oid);
    void rename(std::string_view from, std::string_view to);
    Info info(std::string_view id) const;
    std::vector<BlockInfo> blocks(std::string_view id) const;
    Creation creation(std::string_view id) const;
    /// What is created through this attachment from here on was created by somebody else: it is only moved here.
    void create_as(const std::string& id, const Store& from);
    Oid oid(std::string_view id) const;
    std::string name_of(const Oid& oid) const;

    // listing.cpp
    std::vector<std::string> ids(std::string_view prefix, bool groups) const;
    std::vector<std::string> members(std::string_view group) const;
    std::size_t count_members(std::string_view group) const;

    // watching.cpp, following.cpp
    /// What readers see under an id, as far as it tells one version from another.
    struct Seen {
        Link link{};
        std::vector<std::uint64_t> versions{};  // of a value, or of an array's blocks, sorted
    };
    Seen look(std::string_view id) const;
    /// For whoever keeps something that is derived from the catalog: what has changed.
    pool::Feed& feed() const { return pool_.feed(); }
    /// Every variable and group has a place, which it keeps when it is renamed; another gets it after an erase.
    /// Its id, if readers see it.
    std::optional<std::string> id_at(std::uint64_t place) const;
    std::optional<std::uint64_t> place_of(std::string_view id) const;
    void for_each_place(const std::function<void(std::uint64_t place, const std::string& id)>& f) const;
    /// Another number when anything of it was stored anew, its attributes too. Shape: 0 if there is no such thing.
    std::uint64_t fingerprint(std::string_view id) const;
    /// The same without its attributes.
    std::uint64_t content_fingerprint(std::string_view id) const;
    /// Errors: io_error, where somebody has cut off a file of the pool that is open (law 12).
    void check_there() const { pool_.check_there(); }
    bool is_there() const { return pool_.is_there(); }
    /// Another number when something has become private, or shared again, since.
    std::uint64_t scopes() const {
        check_readable();
        return persist::Medium::load(&pool_.state().scopes.value);
    }
    void announce_scopes() { pool_.medium().fetch_add(&pool_.state().scopes.value, 1); }
    /// Short notes of the library's own, as attributes that nobody else sees.
    std::optional<std::string> note(std::string_view id, std::string_view name) const;
    void set_note(std::string_view id, std::string_view name, const std::string& text);
    void remove_note(std::string_view id, std::string_view name);
    /// A step is begun that is not committed: what is stored in it is not seen yet.
    bool step_is_open() const;
    /// This Store is in a step, so that it sees what others do not.
    bool in_step() const { return step_.load() != 0; }
    std::uint64_t step() const { return step_.load(); }
    /// How the pool's index is to be kept, as the index says it. When there is a word, whoever opens the pool for writing has its
    /// changes told to the feed, whether he keeps the index or not.
    /// How an id is to be indexed, if that was said of it: of "/" the pool.
    std::optional<std::string> index_word(std::string_view id) const;
    void set_index_word(std::string_view id, const std::string& word);
    void remove_index_word(std::string_view id);
    /// Whether any id but "/" ever had one.
    bool has_own_index_words() const;
    /// As if the id, and all that is in it, were changed, for whoever follows the feed.
    void announce_all_in(std::string_view id);
    std::array<std::uint8_t, 16> uuid() const { return pool_.super().uuid; }
    /// As users name it.
    const std::string& path() const { return directory_layout_ ? directory_layout_->path() : pool_.path(); }
    bool is_device() const { return pool_.probe().is_devdax; }
    /// Of the pool's file, as chmod(1) has them.
    unsigned permissions() const { return pool_.file().mode_bits(); }
    unsigned owner() const { return pool_.file().owner(); }
    const pool::Superblock& super() const { return pool_.super(); }
    /// Whether this is a pool of private objects, as its own file says.
    bool is_side() const { return super().side_of != std::array<std::uint8_t, 16>{}; }
    /// For a process that opens it once more.
    pool::Itself itself() const { return pool_.itself(); }
    /// See pool::Pool.
    std::array<std::uint8_t, 16> origin() const { return pool_.origin(); }
    /// Held by one process at a time, in a pool of private objects.
    pool::Pool::ScopeLock hold_scopes() { return pool::Pool::ScopeLock(pool_); }
    /// Where a file or directory that belongs to the pool lies: the pool's path and this ending. Errors: those of check_in_place().
    std::string path_beside(const std::string& ending) const {
        return pool::path_beside(pool_.file(), ending);
    }
    /// The same to be told to people: nothing is opened there.
    std::string path_beside_name(const std::string& ending) const {
        return pool::path_beside_name(pool_.file(), ending);
    }
    /// Errors: busy where the pool's name leads to it no more: see pool::check_in_place().
    void check_in_place() const { pool::check_in_place(pool_.file()); }
    bool is_in_place() const { return pool::is_in_place(pool_.file()); }
    std::optional<std::string> path_now() const { return pool::path_now(pool_.file()); }
    /// Where processes leave what they ask of whoever works in the background.
    std::string requests_path() const { return path_beside(".requests"); }
    /// Errors: permission_denied; invalid_argument for a pool in which nothing is done in the background.
    void check_may_be_asked() const;
    /// Errors: permission_denied for what is beside the pool and somebody's who may not write it.
    void refuse_foreign(const os::File& file) const { pool::refuse_foreign(file, pool_.file()); }
    void share_like(os::File& file, unsigned bits) const { os::share_like(file, pool_.file(), bits); }
    /// The same of a file that an earlier process may have made: the pool's rights may be others since.
    void keep_like(os::File& file, unsigned bits) const { os::keep_like(file, pool_.file(), bits); }

    // targets.cpp, move.cpp, room.cpp
    /// Nothing where the pool has none.
    std::optional<Hierarchy> hierarchy() const;
    /// Null: none from here on.
    void set_hierarchy(const Hierarchy* hierarchy);
    /// Of all ids that a glob matches; of "/" the hierarchy's.
    void set_mode(std::string_view match, Buffering mode);
    std::vector<TargetInfo> targets() const;
    std::uint64_t move(std::string_view id, std::string_view target,
                       const std::function<bool(const FlushProgress&)>& progress);

    // lifetimes.cpp
    /// load(), after which blocks go that were to go when they are read.
    void take(std::string_view id, const Type& type, void* data, const Selection& selection,
              std::optional<std::uint64_t> step);
    /// While one lives, nothing goes because this thread takes it: for who looks at what is there on his own account.
    class Looking {
    public:
        Looking();
        ~Looking();
        Looking(const Looking&) = delete;
        Looking& operator=(const Looking&) = delete;
    };
    /// What is done by whoever leaves or dies last is done. See Pool::announce_done().
    bool is_forked() const { return pool_.is_forked(); }
    /// Errors: busy in a forked child, io_error when the pool's memory is gone.
    void check_usable() const { pool_.check_usable(); }
    /// Pools that share a target with this one, and of which a job that was killed has left what was to go with it. Who opens and closes one for
    /// writing erases that: he is the next job, and the last of it.
    std::vector<std::string> left_by_dead_jobs();
    void announce_done() { pool_.announce_done(); }
    bool others_may_store() const { return pool_.others_may_store(); }
    std::uint64_t session_began_at() const { return pool_.session_began_at(); }

    // reserve.cpp
    void reserve(std::uint64_t bytes, std::string_view target);
    std::uint64_t reserved(std::string_view target) const;
    /// Errors: invalid_argument for a target that the pool does not have.
    std::size_t level_of(std::string_view target) const;

    // recode.cpp
    /// Has the blocks of an array that lie in the pool compressed with this codec, or by `none` decompressed. The elements stay the same, and are as
    /// old as they were. Blocks that would become larger, and such as lie below the pool, stay as they are.
    /// Errors: not_found; unsupported (contiguous arrays; the codec); no_space; corrupt.
    void recode(std::string_view id, const Codec& codec);

    // flush.cpp
    /// What of it is copied.
    struct Flushing {
        bool for_modes = false;   // only what the modes say
        bool what_fills = false;  // only what lies where somebody needs its place soonest: see to_drain()
        std::uint64_t before = ~std::uint64_t{0};  // only what was stored before this version was drawn
        bool takes_inventory = true;               // afterwards, unless nothing is to be said
    };
    /// Copies what the flush target does not have of an id, or of all in a group.
    std::uint64_t flush(std::string_view id, const Flushing& what,
                        const std::function<bool(const FlushProgress&)>& progress,
                        const std::function<bool(std::uint64_t)>& written = {});
    /// Whether what is to be flushed waits for this.
    bool flushes_on(Trigger trigger) const;
    FlushProgress unflushed() const;
    std::vector<Receipt> receipts(std::string_view id) const;
    /// What all have stored together since somebody began to count.
    std::uint64_t stored_bytes() const;
    /// A target out of which blocks are to go.
    struct Emptying {
        std::size_t level;
        std::uint64_t free_bytes;  // that there are to be
        bool in_haste;             // somebody stores: what is quickest goes before what is read again faster
    };
    /// What the watermarks ask for now.
    std::vector<Emptying> to_empty(const tier::Bursts& bursts) const;
    /// As long as `goes_on`.
    void empty(const Emptying& what, const std::function<bool()>& goes_on);
    /// How much is to stay in the pool while somebody stores, though nobody needs the room yet: what goes down anyhow can go straight to the
    /// last target above the flush target, which has nothing to do before all above it are full. Nothing where there is no such target.
    std::optional<std::uint64_t> to_drain(const tier::Bursts& bursts) const;
    /// Moves until no more than `stays` is there, as long as `goes_on`. False if nothing was to be moved.
    bool drain(std::uint64_t stays, const std::function<bool()>& goes_on);
    /// Removes copies whose blocks are gone. `also_odd`: and such as only look like copies, after a power loss. True if some blocks are
    /// going, so that their copies can be removed later.
    bool sweep_copies(bool also_odd);
    // inventory.cpp
    /// Writes down in the flush target what a new pool could be made of if this one were lost, unless nothing has changed since. What of an id, or of
    /// all in a group, has come since flush() is copied for it; empty: of nothing. `for_modes`, `written`: as of flush(). False if it
    /// could not be done now: somebody is in the way, or `written` has had enough.
    bool take_inventory(std::string_view id, bool for_modes,
                        const std::function<bool(std::uint64_t)>& written = {});
    /// How long the last one took here, without what had to be copied for it.
    std::uint64_t inventory_took_ns() const { return inventory_took_ns_; }

    // hand_over.cpp
    /// Runs the command of the hierarchy's `flush` for each file that the inventory names and that it has not taken yet, as long as `is_wanted`; then for the
    /// inventory. Returns whether that was to be done here: false while another attachment is at it.
    /// Errors: io_error when it fails, with what it printed; permission_denied.
    bool hand_over(const std::function<bool()>& is_wanted);
    FlushProgress unstaged() const;

    // finish.cpp
    /// Of each variable and group at the top a number that is another one when something in it has changed.
    using Tops = std::map<std::string, std::uint32_t>;
    /// Writes the finished files that the hierarchy's `flush` asks for, as long as `is_wanted`: of `id`, or of all ("/"), those that have changed. `looked`:
    /// but not those that have changed since the last call with it, which sets it. Returns whether that was done: not while another attachment is at it.
    /// Errors: io_error when it fails, with what was printed.
    bool finish_files(std::string_view id, Tops* looked, const std::function<bool()>& is_wanted);

    /// A block that somebody here has read.
    struct Read {
        std::string id;
        BlockRecord block;
    };
    /// Called for each block that load() or view() needs. Null: nobody wants to know.
    void set_on_read(std::function<void(Read)> f);
    /// Called for each block that is stored into a pool with a hierarchy, before it is. Null: nobody wants to know.
    void set_on_store(std::function<void()> f);
    bool is_below(const BlockRecord& block) const {
        return block.block.extent.target >= layout::first_target_below;
    }
    /// Of an array the blocks that lie below the pool and have these boxes, as many as there are.
    std::vector<Read> blocks_below(const std::string& id, const std::vector<Box>& boxes) const;
    /// Brings a block up into the pool, and older ones down if that is needed. False if it is not to be there, is there, or is gone.
    enum class Why {
        read,    ///< it was
        ahead,   ///< it is likely to be
        wanted,  ///< somebody has said so, whatever the hierarchy says of promotion
    };
    bool bring_up(const Read& read, Why why);
    /// The box of a block as users see it.
    Box box_for_users(const Read& read) const;
    std::vector<Read> blocks_meeting(const std::string& id, const std::optional<Box>& box) const;
    Promotion promotion() const;
    /// Errors: invalid_argument for a pool in which nothing is brought up; permission_denied.
    void check_may_promote() const;

    /// Frees what this attachment has retired, as far as nobody reads it any more.
    void reclaim() { heap_.reclaim(); }
    /// Opens the targets below the pool, which else the first store does that comes upon them.
    void meet_targets();
    /// Nothing where nothing is to be done in the background.
    std::optional<Flush> background() const;
    /// Called once for each hierarchy that wants something done in the background, by the thread that first meets it.
    void set_on_hierarchy(std::function<void()> f) { on_hierarchy_ = std::move(f); }
    /// Rises with every store; where there is a hierarchy, again when that or another change can be seen.
    std::uint64_t newest_version() const { return pool_.next_version(); }
    std::uint64_t committed_step() const { return pool_.committed_step(); }
    /// Another one when somebody has set another hierarchy.
    std::uint64_t hierarchy_number() const { return persist::Medium::load(&pool_.state().hierarchy.value); }
    /// By whoever operates on some variables in the background, so that nobody else does.
    pool::Pool::OperationLock try_operate(std::uint64_t number) { return {pool_, number}; }
    pool::Pool::RegistryLock lock_registry() { return pool::Pool::RegistryLock(pool_); }
    pool::Pool::LeadLock try_lead() { return pool::Pool::LeadLock(pool_); }
    /// By who does nothing but work in the background: others leave it to him.
    pool::Pool::OrganizerLock try_organize() { return pool::Pool::OrganizerLock(pool_); }
    bool has_organizer() const { return pool_.has_organizer(); }
    /// By whoever brings changes into the index.
    pool::Pool::IndexLock try_to_index() const { return pool::Pool::IndexLock(pool_); }

    // heat.cpp
    /// Says of the blocks of an array that meet a box, or of all blocks in a group, whether they will be read. Returns them.
    std::vector<Read> say(std::string_view id, const std::optional<Box>& box, tier::Need need);
    bool moves_by_heat() const;
    /// Brings up what is hotter than what it takes the place of, where moves_by_heat(). Errors: those of move().
    void settle_by_heat();
    /// Of a pool with a hierarchy; null where nothing is counted.
    std::shared_ptr<heat::Tally> tally() const;
    /// Of each array that has blocks: its reads per block, faded until now.
    std::vector<VariableHeat> heat_of_arrays() const;
    std::optional<PoolCounters> pool_counters() const;

    // restore.cpp
    /// Fills a pool that nobody else knows yet with what an inventory names.
    void restore(const layout::Inventory& inventory, const os::File& directory, Rebuilt& result,
                 const std::function<void()>& progress);

    // step.cpp, space.cpp, verify.cpp
    void begin(std::uint64_t step);
    /// Errors: invalid_argument while this Store is in another step that is not committed, and nobody else is there who might be about to
    /// commit it.
    void check_may_leave_step_for(std::uint64_t next) const;
    /// After a begin() whose other half failed, so that nothing was stored in it: in the step that this Store was in, 0: in none.
    void go_back_to(std::uint64_t step);
    void commit(std::uint64_t step);
    /// Two pools at once, of which the first decides: a process that dies, or is held, when only that one shows the step, leaves a note
    /// there of the step (note_step()), by which others bring the second one up to it (settle_with()).
    void commit_with(std::uint64_t step, Store& second);
    /// Behind a commit, what the mode write-through promises of it. Errors: those of flush(), and the step is committed all the same.
    void flush_step();
    /// In the step that this Store has begun: the one of that name is in it, too. What an earlier committed step has left goes.
    void note_step(std::string_view name, std::uint64_t step);
    /// The newest committed step that has such a note; 0: none.
    std::uint64_t committed_with(std::string_view name) const;
    /// What was committed in `first` with this pool's step is committed here.
    void settle_with(const Store& first, std::string_view name);
    /// Those who died in a step are known to be dead, so that a step that is begun here is not theirs.
    void tell_of_deaths();
    void abandon();
    void prepare(std::uint64_t bytes);
    void compact();
    std::uint64_t trim();
    /// From here on space is wiped before it is free; and what is free now.
    /// Errors: busy, when others have the pool open for writing, or views keep something that was erased.
    void start_wiping();
    /// Whether what was erased or overwritten is in no file of the pool any more. A pool that wipes; others do not know.
    bool is_wiped();
    std::vector<Damage> verify(const std::function<void(std::uint64_t, std::uint64_t)>& progress) const;
    /// Takes out of the pool whatever verify() finds damaged in it, and tells what that was.
    std::vector<Damage> discard_damaged();

private:
    /// So many drafts of one store may lie in memory that turns out to be gone (io_error) before it fails.
    static constexpr std::size_t places_tried = 4;

    std::uint64_t fingerprint_of(std::string_view id, bool with_attributes) const;
    friend class Inspection;
    friend class Watching;
    friend class MoveWithin;  // of the crash tests, which have no target but the pool
    /// A value's record as one reader has copied it.
    struct ValueSeen {
        ValueSeen() {}  // NOLINT(modernize-use-equals-default): leaves the bytes of `copy` as they are
        Link link;
        catalog::Value record{};
        heap::RecordCopy copy;
        heap::Seen seen() const { return {link, record.header.version}; }
        /// Errors: corrupt.
        Type type() const;
        /// Of a small value all its bytes.
        std::span<const std::byte> inline_bytes() const {
            const bool is_inline = record.extent.length == 0;
            return {copy.data() + sizeof record + record.type_bytes, is_inline ? record.bytes : 0};
        }
    };
    /// Blocks that lie at equal distances in memory, so that whoever has read them need not gather them.
    struct BlocksRead {
        const BlockRecord* first;
        std::size_t count;
        std::size_t distance_bytes;
        const BlockRecord& operator[](std::size_t i) const {
            const auto* const begin = reinterpret_cast<const std::byte*>(first);
            return *reinterpret_cast<const BlockRecord*>(begin + i * distance_bytes);
        }
    };
    void check_readable() const { pool_.check_usable(); }
    /// load(), of who has looked whether the pool may be read. `read`: filled with the blocks that were.
    Effort load_checked(std::string_view id, const Type& type, void* data, const Selection& selection,
                        std::optional<std::uint64_t> step, std::vector<BlockRecord>* read) const;
    void check_writable() const { pool_.check_writable(); }
    /// What is under this entry has just been published, or taken away: for those who wait, and those who follow.
    void announce(std::uint64_t entry);
    void announce(Link entry) { announce(entry.offset()); }
    void count_change();
    bool is_visible(std::uint64_t step) const;
    bool is_committed(std::uint64_t step) const;
    /// Runs f, and again if space ran out: after taking back what dead processes and old versions hold, and then as long as
    /// something can be moved to a lower target.
    template <class F>
    auto with_space(F&& f) {
        for (int attempt = 0;; ++attempt) {
            try {
                return f();
            } catch (const Error& error) {
                if (error.kind() != Code::no_space) throw;
                if (attempt == 0 ? !take_back_space() : !push_down()) throw;
            }
        }
    }
    bool take_back_space();
    /// Moves something out of the pool to the next target, if there is one that has room. False if nothing can be.
    bool push_down();

    std::optional<ValueSeen> find_value(std::string_view id) const;
    std::optional<ValueSeen> visible_value(const catalog::Catalog::Named& named) const;
    std::optional<ValueSeen> read_value(Link entry) const;
    std::optional<ValueSeen> read_value_record(Link link) const;
    /// Returns the entry.
    Link put_value(const std::function<Link()>& entry_of, std::string_view id, const Type& type,
                   SerializerType serializer, const Encoder& encoder, bool must_be_new,
                   std::uint32_t flags = 0);
    void place_attribute(Link owner, std::string_view name, const Type& type, SerializerType serializer,
                         const Encoder& encoder, bool must_be_new = false);
    void check_room_for_attribute(std::string_view id, Link owner, std::string_view name) const;
    void put_attribute(std::string_view id, std::string_view name, const Type& type,
                       SerializerType serializer, const Encoder& encoder, bool must_be_new = false);
    void fill_value(catalog::Draft& draft, catalog::Value& value, const std::vector<std::byte>& type_bytes,
                    bool is_inline, const Encoder& encoder);
    bool publish_value(Link entry, std::string_view id, catalog::Draft& draft, bool must_be_new);
    void encode_into(const Extent& extent, const Encoder& encoder, catalog::Value& value);
    bool decode_value(std::string_view id, const ValueSeen& seen, const PMEM::Decode& decode) const;
    Info describe_value(std::string_view id, const ValueSeen& seen) const;
    bool makes_sense(Link definition) const;
    std::optional<Info> describe(std::string_view id, const catalog::Catalog::Named& named) const;
    void check_may_erase(std::string_view id) const;
    void erase_named(const catalog::Catalog::Named& named, std::string_view id);
    Oid oid_of(const catalog::Catalog::Named& named) const;
    void check_value(const ValueSeen& seen) const;
    void discard_block(const std::string& id, Link block);
    Link make_owner_of_attributes(std::string_view id);
    Link owner_of_attributes(std::string_view id) const;
    void compact_array(Directory& directory);
    void check_may_begin(std::uint64_t step) const;
    void check_may_commit(std::uint64_t step);
    void leave_committed_step();
    void for_each_noted_step(std::string_view name,
                             const std::function<void(const std::string& note, std::uint64_t step)>& f) const;
    [[noreturn]] void throw_is_committed(std::uint64_t step) const;
    void go_on_in(std::uint64_t step);
    void drop_abandoned_step(std::uint64_t next, const pool::Pool::StepLock& lock);
    void drop_from(std::uint64_t step);
    void drop_from(std::uint64_t step, Link entry, std::string_view name);
    /// Calls f(link, header) for every whole record that was stored in that step or a later one.
    void for_each_from(std::uint64_t step,
                       const std::function<void(Link, const heap::RecordHeader&)>& f) const;

    std::optional<catalog::Catalog::Named> defined(std::string_view id) const;
    /// Of what an entry defines, if this process sees it.
    std::optional<catalog::Catalog::Nature> visible_nature(std::string_view id, Link entry) const;
    bool is_array(Link definition) const;
    std::shared_ptr<Directory> directory_of(Link definition) const;
    std::shared_ptr<Directory> array(std::string_view id) const;
    [[noreturn]] void throw_no_array(std::string_view id, std::optional<Link> definition) const;
    Dimensions dims_now(const Directory& directory) const;
    bool take_back(Link entry, std::string_view id, Directory& directory);
    bool define_array(Link entry, Link empty_word, const ArrayDefinition& asked);
    void ensure_in_place(Directory& directory);
    void store_in_place(std::string_view id, Directory& directory, const void* data,
                        const Selection& selection);
    void publish_block(std::string_view id, Directory& directory, catalog::Draft& draft,
                       const Selection& box);
    /// A store of this process, from before it says in which step it is until it is published.
    class InStep {
    public:
        explicit InStep(Store& store);
        ~InStep();
        InStep(const InStep&) = delete;
        InStep& operator=(const InStep&) = delete;
        std::uint64_t step() const { return step_; }

    private:
        void end();
        Store& store_;
        std::uint64_t step_ = 0;
        bool is_counted_ = false;
    };
    std::uint64_t take_step_away();
    void check_is_not_broken(std::uint64_t step) const;
    void retire_covered(Directory& directory, const Selection& box, std::uint64_t version,
                        std::uint64_t step);
    void fill_block(const ArrayDefinition& array, const void* data, const Codec& codec, catalog::Draft& draft,
                    catalog::Block& block, std::uint32_t target);
    Link seal_for(catalog::Draft& draft, const std::uint64_t* slot, Link old);
    // targets.cpp: null where the pool has no hierarchy
    std::shared_ptr<Tiering> tiering() const;
    std::vector<layout::Mount> mounts() const;
    /// After an error of a target below the pool: true if that is the target's trouble, so that another one may do.
    bool set_aside(std::uint32_t target, const Error& error, std::uint64_t bytes);
    /// What took so long that something must be wrong with the target.
    void note_speed(const Tiering& tiering, std::uint32_t target, std::uint64_t bytes, std::uint64_t took_ns);
    std::uint32_t target_for(std::string_view id, const Selection& box, std::uint64_t bytes);
    std::array<tier::Level, tier::most_targets> ledger_of(Tiering& tiering) const;
    /// One level of it, of which nothing is as old as the last count of the pool.
    tier::Level count_anew(Tiering& tiering, std::size_t level) const;
    /// About how long a piece of a block takes to be written to a target.
    double piece_takes_s(std::uint32_t target) const;
    void share_out(std::uint32_t target, tier::Level& level) const;
    bool give_way(Tiering& tiering, const std::array<tier::Level, tier::most_targets>& ledger);
    void tell_others(std::uint32_t target, TargetInfo& info) const;
    std::uint64_t chunks_for_records() const;
    void turn_away_from(const std::vector<layout::Mount>& leaving, const std::string& note);
    void put_note(const std::string& text);
    void refuse_removal(const std::vector<layout::Mount>& leaving) const;
    /// Holding the HierarchyLock.
    void put_hierarchy(const Hierarchy* hierarchy);
    void finish_hierarchy();
    void finish_for_dead();
    void check_may_have(const Hierarchy* hierarchy) const;
    // room.cpp
    /// Which blocks do not leave for the sake of others.
    struct Spared {
        std::uint32_t hotter_than = tier::most_heat;  // this score
        bool needed = false;                          // those that somebody has said he will read
        bool has(const Resident& resident) const;
    };
    /// True if anything was moved, or there was room for a moment, which others may have taken: who asked for it tries again.
    bool make_room(Tiering& tiering, std::size_t level, std::uint64_t bytes, bool in_haste,
                   const Spared& spared, const std::function<bool()>& goes_on = {});
    bool make_room(Tiering& tiering, std::size_t level, std::uint64_t bytes, bool in_haste) {
        return make_room(tiering, level, bytes, in_haste, Spared{});
    }
    bool has_been_used_since(const Tiering& tiering, const Resident& resident) const;
    bool may_live_on_in_copy(Tiering& tiering, std::size_t level, const Resident& resident,
                             bool in_haste) const;
    /// The last level above the flush target's, if others lie between it and the pool; else 0.
    static std::size_t drain_level(const Tiering& tiering);
    bool has_room_below(Tiering& tiering, std::size_t level, std::size_t end, std::uint64_t bytes) const;
    static std::size_t at_a_time(const Tiering& tiering, std::size_t to, std::uint64_t bytes);
    std::uint64_t move_down_together(Tiering& tiering, std::size_t to, const std::vector<Resident>& blocks,
                                     std::size_t threads, layout::PayloadFiles::IfBusy if_busy);
    bool move_down(Tiering& tiering, std::size_t to, const Resident& resident,
                   layout::PayloadFiles::IfBusy if_busy);
    std::vector<Resident> residents_of(const Tiering& tiering, std::size_t level) const;
    bool move_block(const std::string& id, Directory& directory, const BlockRecord& from,
                    std::uint32_t target,
                    layout::PayloadFiles::IfBusy if_busy = layout::PayloadFiles::IfBusy::copy_too);
    bool move_to_copy(const std::string& id, Directory& directory, const BlockRecord& from,
                      std::uint32_t target, layout::PayloadFiles::IfBusy if_busy);
    bool holds(const catalog::Block& block) const;
    void copy_block(const std::string& id, const BlockRecord& from, const heap::Bytes& there);
    bool put_in_place(Directory& directory, const BlockRecord& from, const catalog::Block& block,
                      catalog::Draft& draft);
    bool move_array(const std::string& id, std::uint32_t target, FlushProgress& done,
                    const std::function<bool(const FlushProgress&)>& progress);
    std::vector<BlockRecord> elsewhere(const std::string& id, std::uint32_t target) const;
    /// Null for what is no array, or none any more.
    std::shared_ptr<Directory> directory_of(const std::string& id) const;
    // restore.cpp
    class Restoring;
    void restore_block(const std::string& id, Directory& directory, const BlockRecord& from,
                       const os::Mapping& stored);
    void publish_restored(Directory& directory, catalog::Draft& draft);
    // recode.cpp
    bool recode_block(const std::string& id, Directory& directory, const BlockRecord& from,
                      const Codec& codec);
    bool publish_in(const Directory::EmptySlot& slot, Link fresh);
    // collect.cpp
    bool may_collect(const ArrayDefinition& d) const;
    bool is_part(const ArrayDefinition& d, const BlockRecord& block) const;
    std::vector<BlockRecord> appended_last(Directory& directory, const Box& box) const;
    /// Behind a store of this box: joins what was appended last, once it lies in many blocks.
    void collect_appended(std::string_view id, Directory& directory, const Box& box);
    /// Joins all neighbours that are small. Errors: corrupt, no_space.
    void collect_all(std::string_view id, Directory& directory);
    void join(std::string_view id, Directory& directory, const std::vector<BlockRecord>& parts);
    void publish_joined(Directory& directory, const std::vector<BlockRecord>& parts, const Selection& box,
                        catalog::Draft& draft);
    // heat.cpp
    void count_reads(std::string_view id, const Directory& directory, const BlocksRead& blocks) const;
    void renew_tally() const;
    void count_move(const BlockRecord& block, std::uint32_t to) const;
    tier::Past past_of(const Tiering& tiering, const BlockRecord& block) const;
    std::uint32_t score_of(const Tiering& tiering, const std::shared_ptr<Directory>& directory) const;

    // flush.cpp
    static layout::CopyMark mark_of(const BlockRecord& block);
    /// Whether the flush target has one.
    bool has_copy(const Tiering& tiering, const BlockRecord& block) const;
    /// By this process, or to the flush target by any.
    using IfBusy = layout::PayloadFiles::IfBusy;
    class Copying;
    /// Copies what a value has outside of its record. False if it is gone.
    bool flush_value(const Tiering& tiering, const ValueSeen& value);
    static layout::CopyMark mark_of(const ValueSeen& value);
    /// How many blocks are copied to the flush target at once.
    static std::size_t writers(const Tiering& t);
    /// Who waits for whom.
    static IfBusy patience(const Tiering& tiering);
    bool flush_block(const std::string& id, const BlockRecord& block,
                     const std::function<bool(std::uint64_t)>& written, IfBusy if_busy);
    /// The same by whoever holds a claim on it.
    bool flush_claimed(const std::string& id, const BlockRecord& block,
                       const std::function<bool(std::uint64_t)>& written, IfBusy if_busy);
    void drop_if_wanted(Tiering& tiering, const Resident& flushed);
    bool is_pressed(Tiering& tiering, const Resident& block) const;
    void flush_through(const std::string& id, Directory& directory, const Selection& box,
                       std::uint64_t version);
    void copy_through(const Tiering& t, const std::function<std::vector<Resident>()>& find,
                      const std::string& done);
    std::vector<Resident> unflushed_in(const Tiering& tiering, std::string_view id,
                                       const Flushing& what) const;
    void tell_when(const Tiering& tiering, const BlockRecord& block, Receipt& receipt,
                   std::optional<std::vector<Resident>>& waiting) const;
    void forget_copies(std::uint32_t target);
    class Stocktaking;
    void drop_kept(const Tiering& tiering) const;
    void check_may_run_commands() const;
    std::string run_command(const Tiering& tiering, const tier::HandedFile& handed,
                            const std::function<bool()>& is_wanted) const;
    static std::string run_program(const std::vector<std::string>& words, const std::string& what,
                                   double seconds, const std::function<bool()>& is_wanted);
    Tops tops() const;
    std::optional<os::File> finished_directory(const Tiering& tiering, bool is_to_be) const;
    std::string finishing_trouble(const Tiering& tiering) const;
    void load_dims(std::string_view variable, const Type& type, void* data, const Selection& selection) const;
    struct Wanted;
    struct Reading;
    bool try_load(Directory& directory, const Wanted& what, Reading& reading, catalog::Retry& retry) const;
    bool plan(Directory& directory, const Wanted& what, Reading& reading, catalog::Retry& retry) const;
    bool read_at_once(Directory& directory, const Wanted& what, Reading& reading,
                      catalog::Retry& retry) const;
    bool read_one_by_one(Directory& directory, const Wanted& what, Reading& reading,
                         catalog::Retry& retry) const;
    bool doubt_if_there(Directory& directory, std::uint64_t handle, Link block, catalog::Retry& retry) const;
    // lifetimes.cpp
    void drop_read(const Tiering& tiering, const std::string& id, const Selection& selection,
                   const BlockRecord& block);
    void note_stored(const std::string& id, const Selection& box, std::uint64_t version);
    void tell_of_store();
    void forget_gone(std::unordered_set<std::uint64_t>& versions, const std::string& id) const;
    std::function<void()> at_end_of_job();
    void take_pool_away() noexcept;
    bool is_unused() const;
    void erase_scratch() noexcept;
    void end_scratch() noexcept;
    std::shared_ptr<Tiering> with_scratch() const;
    /// Whether what is stored under an id now is to go when the job ends.
    bool is_scratch(std::string_view id) const;
    bool is_scratch(std::string_view id, const Selection& box) const;
    void erase_scratch_of(const Tiering& tiering, const std::string& id);
    void copy_part(std::string_view id, const ArrayDefinition& array, const BlockRecord& block,
                   const Selection& wanted, const Selection& part, void* data) const;
    void check_block(std::string_view id, const BlockRecord& block) const;
    void unpack(std::string_view id, const BlockRecord& block, const std::byte* from,
                const array::CopyPlan& plan, std::byte* to) const;

    // readable.cpp: names for other programs, in the directory layout
    std::optional<std::uint64_t> payload_to_read(std::string_view id) const;
    void name_changed(std::string_view id);
    void settle_names();
    void heal_names();

    Options options_;
    mutable pool::Pool pool_;
    mutable heap::Heap heap_;
    mutable catalog::Catalog catalog_;
    mutable layout::Targets targets_;
    mutable std::mutex tiering_mutex_;
    mutable std::shared_ptr<Tiering> tiering_;
    std::function<void()> on_hierarchy_;
    // Set when there is somebody to be told, or a tally to count in; so that without either a load does not even look.
    mutable std::atomic<bool> counts_reads_ = false;
    mutable std::atomic<const heat::Tally*> counting_ = nullptr;  // what tally_ is, or was
    mutable std::atomic<double> half_life_s_ = 0;
    mutable std::mutex tally_mutex_;
    mutable std::shared_ptr<heat::Tally> tally_;
    mutable std::vector<std::shared_ptr<heat::Tally>> old_tallies_;  // other threads may still count in them
    mutable std::mutex on_read_mutex_;
    std::function<void(Read)> on_read_;
    std::mutex on_store_mutex_;
    std::function<void()> on_store_;
    std::mutex own_mutex_;
    std::unordered_map<std::string, std::unordered_set<std::uint64_t>>
        own_;  // of ids whose blocks go when they are read, the versions that were stored here
    std::size_t own_count_ = 0;
    std::size_t own_most_ = 1024;
    std::unique_ptr<layout::DirectoryLayout> directory_layout_;  // null in the file layout
    std::atomic<std::uint64_t> inventory_took_ns_ = 0;
    InTransit in_transit_{pool_};
    std::atomic<std::uint64_t> step_{0};
    std::atomic<std::uint32_t> stores_in_step_{0};  // see InStep
    // The other pool's committed step when its notes were looked at.
    std::atomic<std::uint64_t> settled_with_{0};
    mutable Unpacked unpacked_;
    std::shared_ptr<const Listing> listing() const;
    mutable std::mutex listing_mutex_;
    mutable std::shared_ptr<const Listing> listing_;
    mutable std::mutex directories_mutex_;
    mutable std::unordered_map<std::uint64_t, std::shared_ptr<Directory>> directories_;  // by definition link
    bool closed_ = false;
    std::optional<Made> made_;  // when open() has made the pool for this object
    enum class Leaves : std::uint8_t { pool, nothing_unused, nothing } leaves_ = Leaves::pool;
};

}  // namespace pmemcpy::store
