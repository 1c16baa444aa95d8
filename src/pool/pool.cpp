#include "pool/pool.hpp"

#include "base/checked.hpp"
#include "os/guard.hpp"
#include "pool/geometry.hpp"

#include <pmemcpy/error.hpp>

#include <fcntl.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <vector>

namespace pmemcpy::pool {
namespace {

// One that the medium does not give is as good as one that is damaged: there is another.
void read_copy(const os::File& file, Superblock& super, std::uint64_t offset) {
    try {
        file.read_exactly(&super, sizeof super, offset);
    } catch (const Error& error) {
        if (error.kind() != Code::io_error) throw;
        super = {};
    }
}

}  // namespace

Pool::Pool(const std::string& path, bool read_only, MapSync map_sync)
    : file_(os::File::open(path, read_only ? O_RDONLY : O_RDWR)),
      file_fork_(file_),
      read_only_(read_only),
      medium_(Durability::none),
      fork_generation_(os::fork_generation()) {
    read_superblock();
    refuse_unfit_file_system(file_);
    if (file_.shares_extents()) {
        throw Error(Code::unsupported,
                    path +
                        " shares blocks with a reflinked copy, so that writing to its allocated "
                        "space may run out of space; copy it with cp --reflink=never");
    }
    probe_ = persist::probe(file_, map_sync);
    // Views of the parent's are read in a forked child; all that this class does is refused there.
    map_ = os::Mapping(file_, super_.max_bytes,
                       {.access = read_only ? os::Access::read : os::Access::read_write,
                        .is_inherited = true,
                        .map_sync = probe_.map_sync});
    medium_ = persist::Medium(probe_.durability, read_only ? nullptr : &state().failed.value);
}

Pool::~Pool() = default;

// A store into allocated space must not fail later, so the file system has to keep what fallocate promises.
void Pool::refuse_unfit_file_system(const os::File& file) {
    if (file.fs_kind() == os::FileSystem::other) {
        throw Error(Code::unsupported,
                    file.path() +
                        " lies on a file system that cannot promise space to a mapped file; use tmpfs, "
                        "hugetlbfs, ext2/3/4, xfs or a devdax device");
    }
}

void Pool::read_superblock() {
    const std::uint64_t size = file_.size();
    Superblock spare{};
    if (size < state_offset + page_bytes) {
        throw Error(Code::corrupt,
                    path() + " is no pMEMCPY pool: it has only " + std::to_string(size) + " bytes");
    }
    if (file_.fs_kind() == os::FileSystem::devdax) {  // a device can be mapped but not read
        const os::Mapping map(file_, os::huge_page_bytes, {.access = os::Access::read});
        for (auto [copy, offset] : {std::pair{&super_, superblock_offset}, std::pair{&spare, spare_offset}}) {
            const std::byte* there = map.base() + offset;
            if (!os::guarded(there, sizeof *copy, [&] { std::memcpy(copy, there, sizeof *copy); }))
                *copy = {};
        }
    } else {
        read_copy(file_, super_, superblock_offset);
        read_copy(file_, spare, spare_offset);
    }
    if (super_.magic != pool_magic && spare.magic != pool_magic) {
        const bool is_device = file_.fs_kind() == os::FileSystem::devdax;
        throw Error(Code::corrupt, path() +
                                       " is no pMEMCPY pool: it does not begin with the magic \"pMEMCPY\"" +
                                       (is_device ? "; `pmemcpy create " + path() +
                                                        "` makes one of the device, and what is on it is lost"
                                                  : std::string()));
    }
    // One whole superblock is enough. Only when neither is do their first words tell why.
    const bool spare_is_better =
        !is_consistent(super_) && (is_consistent(spare) || super_.magic != pool_magic);
    const Superblock& readable = spare_is_better ? spare : super_;
    if (readable.endian != endian_mark) {
        throw Error(Code::unsupported, path() + " was written on a machine of the other byte order");
    }
    if (readable.version > format_version) {
        throw Error(Code::unsupported, path() + " has format version " + std::to_string(readable.version) +
                                           ", this library reads up to " + std::to_string(format_version) +
                                           "; use a newer pMEMCPY");
    }
    if (!is_consistent(super_)) super_ = spare;
    if (!is_consistent(super_)) {
        throw Error(Code::corrupt, path() + ": both superblocks are damaged; restore it from a copy");
    }
    if ((super_.features & ~known_features) != 0) {
        throw Error(Code::unsupported, path() + " needs features that this library does not know (bits " +
                                           std::to_string(super_.features & ~known_features) +
                                           "); use a newer pMEMCPY");
    }
    if (super_.max_bytes > size) {
        throw Error(Code::corrupt, path() + " is truncated: it has " + std::to_string(size) + " bytes of " +
                                       std::to_string(super_.max_bytes) + "; restore it from a copy");
    }
}

// Somebody who was alone may have added one after this process had read it and before it was let in.
void Pool::refresh_features() {
    if (as<Superblock>(superblock_offset).features != super_.features) read_superblock();
    wipes_ = (super_.features & feature_wipes) != 0;
}

// One copy after the other, each of them durable: one of the two is whole at any moment.
void Pool::Wiping::keep() {
    Superblock super = pool_.super_;
    super.features |= feature_wipes;
    super.checksum = checksum_of(super);
    const persist::Medium& m = pool_.medium_;
    for (const std::uint64_t offset : {superblock_offset, spare_offset}) {
        m.write(pool_.at(offset), &super, sizeof super);
        m.persist(pool_.at(offset), sizeof super);
        // No image shows it: the explorer's pages arrive whole. A device may tear one, and then the other copy has to be whole.
        if (pool_.probe_.needs_sync) m.sync(pool_.file_);
    }
    pool_.super_.features = super.features;
    pool_.super_.checksum = super.checksum;
}

// Nothing covers the few words that change, but the mark of an orderly close.
void Pool::check_state() const {
    const auto repair = "; `pmemcpy repair " + path() + " NEW` makes a new pool of what is whole";
    const std::uint64_t usable = usable_chunks();
    if (usable > super_.chunk_count) {
        throw Error(Code::corrupt, path() + " says that " + std::to_string(usable) +
                                       " chunks are usable and has only " +
                                       std::to_string(super_.chunk_count) + repair);
    }
    check_table(0, usable);
}

void Pool::check_table(std::uint64_t first, std::uint64_t chunks) const {
    check_memory(at(super_.table_offset + first * chunk_entry_bytes), chunks * chunk_entry_bytes);
}

// Who attaches takes the mark away before it changes a word: so words that do not fit their mark are damaged.
Pool::Closed Pool::how_it_was_closed() const {
    for (;;) {
        const std::uint64_t mark = persist::Medium::load(&state().clean.value);
        if (mark == 0) return Closed::not_cleanly;
        const bool is_clean = mark == clean_mark(state());
        const bool is_kept = mark == kept_mark(state());
        if (mark != persist::Medium::load(&state().clean.value)) continue;
        if (is_clean) return Closed::cleanly;
        if (is_kept) return Closed::with_something_kept;
        throw Error(Code::corrupt, path() + ": the pool's state does not fit its checksum; `pmemcpy repair " +
                                       path() + " NEW` makes a new pool of what is whole");
    }
}

void Pool::throw_no_memory() const {
    throw Error(Code::io_error,
                path() +
                    ": memory that holds records of the pool is poisoned or gone (SIGBUS); pmemcpy "
                    "verify names what is damaged, and `pmemcpy repair " +
                    path() + " NEW` makes a new pool of the rest");
}

std::optional<std::uint64_t> Pool::damaged_superblock() const {
    for (const std::uint64_t offset : {superblock_offset, spare_offset}) {
        Superblock super{};
        const auto* there = &as<Superblock>(offset);
        const bool is_readable =
            os::guarded(there, sizeof super, [&] { std::memcpy(&super, there, sizeof super); });
        if (!is_readable || !is_consistent(super) || super.uuid != super_.uuid) return offset;
        // A feature may have come since a reader has looked.
        if (!read_only_ && std::memcmp(&super, &super_, sizeof super) != 0) return offset;
    }
    return std::nullopt;
}

void Pool::check_usable() const {
    if (fork_generation_ != os::fork_generation()) {
        throw Error(Code::busy,
                    path() + " was opened by the parent of this forked process; open it again here");
    }
    check_there();
}

// Of the pool's file the page that each verb looks at; of its `.rt` the last one that anybody uses, for whoever cuts a file off begins at
// its end.
bool Pool::is_there() const {
    return os::guarded(nullptr, SIZE_MAX, [&] {
        static_cast<void>(persist::Medium::load(&state().clean.value));
        if (!runtime_) return;
        const std::uint64_t used = persist::Medium::load(&runtime_->header().slots_used);
        static_cast<void>(persist::Medium::load(
            &runtime_->slot(std::clamp<std::uint64_t>(used, 1, slot_count) - 1).attached));
    });
}

void Pool::check_there() const {
    if (is_there()) return;
    check_memory(&state(), sizeof(PoolState));
    throw Error(Code::io_error, path() +
                                    ".rt has become shorter while the pool was open: let all processes close "
                                    "the pool, and open it again");
}

void Pool::check_writable() const {
    check_usable();
    if (read_only_)
        throw Error(Code::permission_denied,
                    path() + " is open for reading only; open it for writing (mode r+)");
    if (persist::Medium::load(&state().failed.value) != 0) throw_latched();
}

void Pool::throw_latched() const {
    throw Error(Code::io_error,
                path() +
                    ": the device refused an earlier sync, so what it holds is unknown; `pmemcpy repair " +
                    path() + " NEW` makes a new pool of what is whole");
}

std::uint64_t Pool::draw_version() { return medium_.fetch_add(&state().next_version.value, 1); }

std::uint64_t Pool::versions_drawn() const {
    const std::uint64_t next = next_version();
    return next == session_began_at() ? persist::Medium::load(&runtime_->header().left_off) : next;
}

// Both sides exchange what they store before they look for what the other has stored, so one of them sees it.
Pool::GroupErasure::GroupErasure(Pool& pool) : pool_(pool) {
    std::uint64_t* word = &pool.runtime_->header().group_erasures;
    if (persist::Medium::load(word) % 2 == 0) pool.medium_.fetch_add(word, 1);  // else its process has died
    std::atomic_thread_fence(std::memory_order_seq_cst);
}

Pool::GroupErasure::~GroupErasure() { pool_.medium_.fetch_add(&pool_.runtime_->header().group_erasures, 1); }

std::uint64_t Pool::group_erasures() const {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    return persist::Medium::load(&runtime_->header().group_erasures);
}

// As above: each says what it does before it looks for the other.
Pool::Renaming::Renaming(Pool& pool, std::uint64_t link) : pool_(pool), link_(link) {
    pool.medium_.store(&pool.runtime_->header().renaming, link);
    std::atomic_thread_fence(std::memory_order_seq_cst);
}

Pool::Renaming::~Renaming() { pool_.medium_.store(&pool_.runtime_->header().renaming, 0); }

bool Pool::Renaming::is_being_erased() const {
    const Runtime& runtime = *pool_.runtime_;
    const std::uint64_t used = persist::Medium::load(&runtime.header().slots_used);
    for (std::uint64_t i = 0; i < used; ++i) {
        const Slot& slot = runtime.slot(i);
        const bool erases =
            i != pool_.slot_ && persist::Medium::load(&slot.attached) != 0 &&
            persist::Medium::load(&slot.intent) == static_cast<std::uint64_t>(Intent::erase) &&
            persist::Medium::load(&slot.intent_a) == link_;
        if (erases && !runtime.is_dead(i)) return true;
    }
    return false;
}

bool Pool::is_being_renamed(std::uint64_t link) const {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    return persist::Medium::load(&runtime_->header().renaming) == link;
}

std::uint64_t Pool::recovery_count() const { return persist::Medium::load(&state().recovery_count.value); }

}  // namespace pmemcpy::pool
