#include "pool/feed.hpp"

#include "os/access.hpp"
#include "os/guard.hpp"
#include "os/names.hpp"
#include "os/process.hpp"
#include "pool/draw.hpp"
#include "pool/pool.hpp"
#include "pool/runtime.hpp"

#include <pmemcpy/error.hpp>

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <utility>

namespace pmemcpy::pool {

using persist::Medium;

namespace {

constexpr std::uint64_t lap_bits = 24;
constexpr std::uint64_t lap_mask = (1ULL << lap_bits) - 1;

// Of the nth change of a ring. No slot that was never filled, or is of the lap before, looks filled.
std::uint64_t lap_of(std::uint64_t n) { return (n / feed_slots + 1) & lap_mask; }

// So that a follower who knows a position of a session that was cut short does not take it for one of a later session.
std::uint64_t draw_position() { return draw() & ((1ULL << 62) - 1); }

// Where a session's changes are counted from: above all positions before it, as far as is drawn. Ten changes a second for a thousand years
// come nowhere near the next drawn one, nor 2^22 sessions to the end.
std::uint64_t draw_base(std::uint64_t first) {
    constexpr std::uint64_t least = 1ULL << 20, most = 1ULL << 40;
    constexpr std::uint64_t last = 1ULL << 63;
    const std::uint64_t drawn = draw_position();
    return first >= last ? drawn : first + least + drawn % most;
}

// Whoever may read the pool may read what changes in it, and who may write it says so.
unsigned feed_mode(unsigned pool_mode) { return (pool_mode & 0666) | 0600; }

}  // namespace

std::string Feed::path() const { return path_beside(pool_.file(), ".feed"); }

bool Feed::is_running() const { return Medium::load(&pool_.state().feed.value) != 0; }

// What others publish before they see the new number is seen by whoever looks at the catalog after it: each has published by
// a locked instruction before it reads the number, and the exchange here comes before all looks.
void Feed::start() {
    if (joined() != nullptr) return;
    const Pool::FeedLock one_at_a_time(pool_);
    if (joined() != nullptr) return;
    remove_file();
    try {
        make_ring();
    } catch (...) {
        // What is changed now nobody hears, so no follower may find this pool as he left it.
        pool_.medium().store(&pool_.state().feed_position.value, draw_position());
        remove_file();
        throw;
    }
}

// A user may have called something of their own so.
bool Feed::is_no_ring(const os::File& file) {
    return file.is_regular() && file.size() != 0 && file.size() != sizeof(Ring);
}

// Beside a name that leads to the pool no more only the file that this process has mapped is the pool's.
bool Feed::is_file_its_own(const std::string& path) const {
    if (is_in_place(pool_.file())) return true;
    const Joined* const ring = current_;
    return ring != nullptr && os::identity_at(path) == ring->file;
}

// In a directory with the sticky bit only its maker may remove it. Nobody believes a ring whose number the pool's state does not name.
void Feed::remove_file() const {
    try {
        const std::string path = path_beside_name(pool_.file(), ".feed");
        const auto there = os::File::open_if_exists(path, O_PATH | O_NOFOLLOW);
        if (!there || is_no_ring(*there) || !is_file_its_own(path)) return;
        os::remove_file(path);
    } catch (const Error&) {
        // Whoever makes the next ring takes this file for it, or says why he cannot.
    }
}

// A new one, or what is left of another user's.
os::File Feed::open_for_ring() const {
    try {
        os::File file = os::File::open(path(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
        os::share_like(file, pool_.file(), feed_mode(pool_.file().mode_bits()));
        check_in_place(pool_.file());
        return file;
    } catch (const Error& error) {
        if (error.kind() != Code::already_exists) throw;
    }
    os::File file = os::File::open(path(), O_RDWR | O_NOFOLLOW);
    refuse_foreign(file, pool_.file());
    if (!file.is_regular() || file.link_count() != 1)
        throw Error(Code::permission_denied, path() + " is no file of the pool's; remove it");
    if (is_no_ring(file)) throw_something_else(file);
    check_in_place(pool_.file());  // what is in it is overwritten, and it may be another pool's by now
    return file;
}

void Feed::make_ring() {
    os::File file = open_for_ring();
    const bool is_left = file.size() != 0;  // of an earlier session
    if (file.size() != sizeof(Ring)) file.resize(sizeof(Ring));
    if (file.fs_kind() == os::FileSystem::tmpfs || file.fs_kind() == os::FileSystem::ext ||
        file.fs_kind() == os::FileSystem::xfs)
        file.allocate(0, sizeof(Ring));  // else a full device is a signal, later
    auto fresh = std::make_unique<Joined>();
    fresh->file = file.identity();
    fresh->map = os::Mapping(file, sizeof(Ring));
    fresh->number = pool_.draw_version();
    Ring& ring = fresh->ring();
    if (is_left) {
        for (std::uint64_t& slot : ring.slots) std::atomic_ref(slot).store(0);
        for (std::uint64_t& word : ring.under_way) std::atomic_ref(word).store(0);
        std::atomic_ref(ring.uncounted).store(0);
    }
    ring.number = fresh->number;
    ring.first = Medium::load(&pool_.state().feed_position.value);
    ring.base = draw_base(ring.first);
    ring.head = ring.first;
    pool_.medium().store(&pool_.state().feed_position.value, draw_position());
    const std::lock_guard joining(joining_);
    if (joined_) old_.push_back(std::move(joined_));
    joined_ = std::move(fresh);
    current_ = joined_.get();
    std::atomic_ref(pool_.state().feed.value).exchange(joined_->number);
}

const Feed::Joined* Feed::joined() {
    const std::uint64_t number = Medium::load(&pool_.state().feed.value);
    if (number == 0) return nullptr;
    const Joined* ring = current_;
    if (ring == nullptr || ring->number != number) return join(number);
    if (os::can_read(&ring->ring().slots[feed_slots - 1], sizeof(std::uint64_t))) return ring;
    drop_cut_off(*ring);
    return nullptr;
}

// Somebody may cut the file off: then it is as good as removed (law 12). It is removed, or it would be taken for a user's own file, and there
// would be no other ring.
void Feed::drop_cut_off(const Joined& ring) {
    if (pool_.read_only()) return;
    give_up(ring.number);
    try {
        if (const std::string path = this->path(); os::identity_at(path) == ring.file) os::remove_file(path);
    } catch (const Error&) {
        // Of another user's, in a directory with the sticky bit: the next start() says what is in the way.
    }
}

const Feed::Joined* Feed::join(std::uint64_t number) {
    const std::lock_guard joining(joining_);
    if (joined_ && joined_->number == number) return joined_.get();
    const int flags = (pool_.read_only() ? O_RDONLY : O_RDWR) | O_NOFOLLOW;
    std::optional<os::File> file;
    try {
        file = os::File::open_if_exists(path(), flags);
        if (file) refuse_foreign(*file, pool_.file());
    } catch (const Error&) {
        file.reset();  // as if it were not there
    }
    if (!file || !file->is_regular() || file->size() < sizeof(Ring)) return nullptr;
    auto found = std::make_unique<Joined>();
    const os::MapRequest request{pool_.read_only() ? os::Access::read : os::Access::read_write};
    found->file = file->identity();
    found->map = os::Mapping(*file, sizeof(Ring), request);
    found->number = number;
    if (found->ring().number != number) return nullptr;
    if (joined_) old_.push_back(std::move(joined_));
    joined_ = std::move(found);
    current_ = joined_.get();
    return current_;
}

// Somebody has removed the file, or cut it off. Then nobody hears any more what this process changes: so nobody may go on believing the ring.
void Feed::give_up(std::uint64_t number) {
    std::atomic_ref(pool_.state().feed.value).compare_exchange_strong(number, 0);
}

void Feed::say(std::uint64_t what) {
    const std::uint64_t number = Medium::load(&pool_.state().feed.value);
    if (number == 0) return;
    const Joined* ring = nullptr;
    try {
        ring = joined();
    } catch (const Error&) {  // what was published stays so
    }
    if (ring == nullptr) return give_up(number);
    fill_next_slot(ring->ring(), what);
    if (after_append_) after_append_(what == commit_mark || what == lost_mark ? 0 : what * 64);
}

void Feed::fill_next_slot(Ring& ring, std::uint64_t what) {
    const std::atomic_ref head(ring.head);
    for (;;) {
        std::uint64_t at = head.load();
        const std::uint64_t n = at == ring.first ? 0 : at - ring.base;
        const std::atomic_ref slot(ring.slots[n % feed_slots]);
        std::uint64_t there = slot.load();
        const bool is_filled = (there & lap_mask) == lap_of(n);
        if (!is_filled) {
            if (head.load() != at) continue;  // `there` may be of a later lap
            if (!slot.compare_exchange_strong(there, what << lap_bits | lap_of(n))) continue;
        }
        head.compare_exchange_strong(at, position_of(ring, n + 1));  // if nobody else has
        if (!is_filled) return;
    }
}

// A process that waits, or is held, between what others can see and append() has its word here. So a reader of these words, and then of
// the head, knows of all that was seen before: of each change that has no word any more the head is past it.
void Feed::UnderWay::say(std::uint64_t what) {
    const Joined* joined = nullptr;
    try {
        joined = feed_.joined();
    } catch (const Error&) {  // nobody hears what will be said of it, either
    }
    if (joined == nullptr) return;
    const std::uint64_t mine = what << lap_bits | (feed_.pool_.slot_index() + 1);
    if (word_ != nullptr) return std::atomic_ref(*word_).store(mine);
    if (uncounted_ != nullptr) return;
    Ring& ring = joined->ring();
    static std::atomic<std::uint64_t> threads = 0;
    thread_local const std::uint64_t thread = threads++;
    const std::uint64_t first = feed_.pool_.slot_index() * words_of_a_line + thread % words_of_a_line;
    for (std::uint64_t i = 0; i < words_under_way; ++i) {
        std::uint64_t* const word = &ring.under_way[(first + i) % words_under_way];
        std::uint64_t nobody = 0;
        if (Medium::load(word) != 0 || !std::atomic_ref(*word).compare_exchange_strong(nobody, mine))
            continue;
        word_ = word;
        return;
    }
    uncounted_ = &ring.uncounted;
    std::atomic_ref(*uncounted_).fetch_add(1);
}

Feed::UnderWay::~UnderWay() {
    if (word_ != nullptr) std::atomic_ref(*word_).store(0, std::memory_order_release);
    if (uncounted_ != nullptr) std::atomic_ref(*uncounted_).fetch_sub(1);
}

Changes Feed::under_way() {
    Changes changes;
    const Joined* joined = this->joined();
    if (joined == nullptr) return changes;
    Ring& ring = joined->ring();
    changes.lost = Medium::load(&ring.uncounted) != 0;
    for (const std::uint64_t& place : ring.under_way) {
        const std::uint64_t what = Medium::load(&place) >> lap_bits;
        if (what == commit_mark) {
            changes.committed = true;
        } else if (what != 0) {
            changes.offsets.push_back(what * 64);
        }
    }
    return changes;
}

void Feed::forget_under_way(std::uint64_t slot) {
    const Joined* joined = this->joined();
    if (joined == nullptr) return;
    for (std::uint64_t& place : joined->ring().under_way) {
        std::uint64_t word = Medium::load(&place);
        if ((word & lap_mask) == slot + 1) std::atomic_ref(place).compare_exchange_strong(word, 0);
    }
}

std::optional<std::uint64_t> Feed::changes_at(const Ring& ring, std::uint64_t position) {
    if (position == ring.first) return 0;
    if (position <= ring.base) return {};
    return position - ring.base;
}

std::uint64_t Feed::position() {
    const Joined* ring = joined();
    return ring != nullptr ? Medium::load(&ring->ring().head)
                           : Medium::load(&pool_.state().feed_position.value);
}

Changes Feed::since(std::uint64_t position, std::uint64_t at_most) {
    const Joined* joined = this->joined();
    Changes changes;
    if (joined == nullptr) {
        changes.next = position;
        changes.lost = position != Medium::load(&pool_.state().feed_position.value);
        return changes;
    }
    const Ring& ring = joined->ring();
    const std::uint64_t head = Medium::load(&ring.head);
    const std::uint64_t all = *changes_at(ring, head);
    const auto before = changes_at(ring, position);
    if (!before || *before > all || all - *before > feed_slots) {
        changes.next = head;
        changes.lost = true;
        return changes;
    }
    const std::uint64_t end = *before + std::min(all - *before, at_most);
    changes.next = position_of(ring, end);
    changes.left = all - end;
    changes.offsets.reserve(end - *before);
    for (std::uint64_t n = *before; n < end; ++n) {
        const std::uint64_t word = Medium::load(&ring.slots[n % feed_slots]);
        const std::uint64_t what = word >> lap_bits;
        if ((word & lap_mask) != lap_of(n) || what == lost_mark) {
            changes.lost = true;
        } else if (what == commit_mark) {
            changes.committed = true;
        } else {
            changes.offsets.push_back(what * 64);
        }
    }
    return changes;
}

void Feed::reset(bool was_clean) {
    PoolState& state = pool_.state();
    if (!was_clean) pool_.medium().store(&state.feed_position.value, draw_position());
    if (state.feed.value == 0) return;
    pool_.medium().store(&state.feed.value, 0);
    remove_file();
}

void Feed::settle() {
    PoolState& state = pool_.state();
    if (state.feed.value == 0) return;
    if (const Joined* ring = joined()) pool_.medium().store(&state.feed_position.value, ring->ring().head);
    pool_.medium().store(&state.feed.value, 0);
    remove_file();
}

}  // namespace pmemcpy::pool
