#include "index/engine/pages.hpp"

#include <fcntl.h>

#include <algorithm>
#include <bit>

#include "base/hash.hpp"
#include "os/guard.hpp"
#include "os/lock.hpp"
#include "os/process.hpp"

namespace pmemcpy::index {

namespace {

constexpr std::uint64_t least_bytes = 1ULL << 28;
constexpr std::uint64_t most_grown_at_once = 1024;  // pages
constexpr std::uint64_t longest_wait_ns = 1'000'000'000;
constexpr std::uint64_t shortest_nap_ns = 20'000;
constexpr std::uint64_t longest_nap_ns = 1'000'000;

std::uint64_t sum_of(const void* bytes, std::size_t size) {
    const std::uint64_t sum = base::xxh3_64(bytes, size);
    return sum == 0 ? 1 : sum;
}

// The number of a commit with a checksum of its own in the lowest bits.
constexpr unsigned check_bits = 16;
std::uint64_t published_word(std::uint64_t commit) {
    return commit << check_bits | (base::xxh3_64(&commit, sizeof commit) & 0xffff);
}

std::size_t meta_at(std::uint64_t commit) { return metas_at + commit % 2 * meta_stride; }

bool is_whole(const Meta& meta) {
    return meta.magic == meta_magic && meta.sum == sum_of(&meta, offsetof(Meta, sum));
}

// Where a process may have less address space than that, such as under ulimit -v, it has to do with less.
os::Mapping as_large_as_can_be(const os::File& file, std::uint64_t at_most, bool is_writable) {
    for (;; at_most /= 16) {
        try {
            return {file, at_most, {.access = is_writable ? os::Access::read_write : os::Access::read}};
        } catch (const Error&) {
            if (at_most / 16 < least_bytes) throw;
        }
    }
}

os::File opened(const std::string& path, Pages::How how, unsigned mode) {
    if (how == Pages::How::read) return os::File::open(path, O_RDONLY | O_NOFOLLOW);
    return os::File::open(path, O_RDWR | O_NOFOLLOW | (how == Pages::How::make ? O_CREAT : 0), mode);
}

}  // namespace

Pages::Pages(const std::string& path, How how, std::uint64_t at_most, unsigned mode)
    : file_(opened(path, how, mode)), closed_in_child_(file_), is_writable_(how != How::read) {
    if (how == How::read) at_most = file_.size();
    at_most = std::max<std::uint64_t>(at_most / page_bytes, 1) * page_bytes;
    if (how == How::make) prepare();
    if (file_.size() < first_page * page_bytes) throw_damaged("its file");
    map_ = as_large_as_can_be(file_, at_most, is_writable_);
    most_pages_ = std::min<std::uint64_t>(map_.size() / page_bytes, UINT32_MAX);
    known_ = std::make_unique<std::atomic<Known*>[]>(most_pages_ / known_at_once + 1);
    has_slot_.resize(most_readers);
    expect_in_file(newest_meta().pages);
}

Pages::~Pages() {
    for (std::uint64_t i = 0; known_ && i <= most_pages_ / known_at_once; ++i) delete known_[i].load();
}

// Whoever dies in it leaves a file without a word that publishes anything, which the next one begins anew. One that has begun is left
// alone without the lock, which others hold while they write.
void Pages::prepare() {
    const auto is_begun = [&] {
        std::uint64_t published = 0;
        if (file_.size() >= first_page * page_bytes)
            file_.read_exactly(&published, sizeof published, published_at);
        return published != 0 || file_.size() > first_page * page_bytes;
    };
    if (is_begun()) return;
    lock_writing();
    try {
        if (!is_begun()) {
            file_.allocate(0, first_page * page_bytes);
            write_head(file_, {.magic = meta_magic, .pages = first_page});
        }
    } catch (...) {
        unlock_writing();
        throw;
    }
    unlock_writing();
}

// A file is cut off at its end.
void Pages::expect_head() const {
    if (!os::can_read(base() + first_page * page_bytes - 1, 1)) throw_damaged("its file");
}

std::uint64_t Pages::published() const {
    expect_head();
    const std::uint64_t word = this->word(published_at).load();
    const std::uint64_t commit = word >> check_bits;
    if (word != published_word(commit)) throw_damaged("what it says of itself");
    return commit;
}

// Word by word, because somebody may just be writing over it, two commits later.
bool Pages::read_meta(std::uint64_t commit, Meta& meta) const {
    std::array<std::uint64_t, sizeof meta / sizeof(std::uint64_t)> words{};
    for (std::size_t i = 0; i < words.size(); ++i)
        words[i] = word(meta_at(commit) + i * sizeof words[i]).load(std::memory_order_acquire);
    meta = std::bit_cast<Meta>(words);
    if (!is_whole(meta) || meta.commit != commit) {
        if (published() != commit) return false;
        throw_damaged("what it says of itself");
    }
    expect_in_file(meta.pages);
    return true;
}

Meta Pages::newest_meta() const {
    Meta meta;
    while (!read_meta(published(), meta)) {
    }
    return meta;
}

// Whoever sees the word sees the meta and all pages that it leads to.
void Pages::publish(Meta& meta) {
    meta.sum = index::sum_of(&meta, offsetof(Meta, sum));
    const auto words = std::bit_cast<std::array<std::uint64_t, sizeof meta / sizeof(std::uint64_t)>>(meta);
    for (std::size_t i = 0; i < words.size(); ++i)
        word(meta_at(meta.commit) + i * sizeof words[i]).store(words[i], std::memory_order_relaxed);
    word(published_at).store(published_word(meta.commit));
}

void Pages::write_head(os::File& file, Meta meta) {
    meta.sum = index::sum_of(&meta, offsetof(Meta, sum));
    file.write_exactly(&meta, sizeof meta, meta_at(meta.commit));
    const std::uint64_t published = published_word(meta.commit);
    file.write_exactly(&published, sizeof published, published_at);
}

// A page that lies behind the end of a file that was cut is a signal when it is read. Somebody may cut it while it is mapped.
void Pages::expect_in_file(std::uint64_t pages) const {
    const std::uint64_t there = file_.size() / page_bytes;
    if (pages > there || pages > most_pages_) throw_damaged("its file");
    pages_in_file_ = there;
}

std::uint64_t Pages::sum_of(const char* page) { return index::sum_of(page, page_bytes); }

const char* Pages::looked_at(const Link& link) const {
    if (link.sum == 0 || link.page < first_page || link.page >= pages_in_file_) throw_damaged("a link");
    if (sum_of(bytes(link.page)) != link.sum) {
        condemn();
        throw_damaged("a page");
    }
    remember(link);
    return bytes(link.page);
}

void Pages::copy(const Link& link, char* to) const {
    std::memcpy(to, trusted(link), page_bytes);
    if (sum_of(to) == link.sum) return;
    condemn();
    throw_damaged("a page");
}

// Nothing is published here any more, so that whoever keeps the index makes it anew, though it may never come to this page itself.
void Pages::condemn() const {
    if (is_writable_) word(published_at) = 0;
}

void Pages::remember(const Link& link) const {
    std::atomic<Known*>& known = known_[link.page / known_at_once];
    Known* there = known.load(std::memory_order_acquire);
    if (there == nullptr) {
        auto fresh = std::make_unique<Known>();
        if (known.compare_exchange_strong(there, fresh.get())) there = fresh.release();
    }
    (*there)[link.page % known_at_once].store(link.sum, std::memory_order_relaxed);
}

void Pages::make_room(std::uint64_t pages) {
    if (pages <= pages_in_file_.load(std::memory_order_relaxed)) return;
    if (pages > most_pages_) throw Error(Code::no_space, path() + ": the index is as large as it may be");
    const std::uint64_t there = file_.size() / page_bytes;
    if (pages > there) {
        const std::uint64_t more = std::clamp<std::uint64_t>(there / 8, 16, most_grown_at_once);
        const std::uint64_t wanted = std::min(std::max(pages, there + more), most_pages_);
        file_.allocate(there * page_bytes, (wanted - there) * page_bytes);
    }
    pages_in_file_ = file_.size() / page_bytes;
}

void Pages::throw_held() const {
    const std::uint64_t process = os::stopped_holder(file_, published_at);
    if (process == 0)
        throw Error(Code::busy, path() + ": another process has been changing the index for a second");
    throw Error(Code::busy, path() + ": " + os::described(process) +
                                " is stopped in changing the index; continue it (kill -CONT) or end it "
                                "(kill -KILL), then try again");
}

// Not in the kernel's queue, which nobody can leave: a process may be stopped in the middle of a commit, and nobody needs an index.
void Pages::lock_writing() {
    writing_.lock();
    try {
        const std::uint64_t began = os::monotonic_ns();
        std::uint64_t nap = shortest_nap_ns;
        while (!os::try_lock(file_, os::LockKind::exclusive, published_at, 1)) {
            if (os::monotonic_ns() - began > longest_wait_ns) throw_held();
            os::sleep_ns(nap);
            nap = std::min(nap * 2, longest_nap_ns);
        }
    } catch (...) {
        writing_.unlock();
        throw;
    }
}

void Pages::unlock_writing() {
    os::unlock(file_, published_at, 1);
    writing_.unlock();
}

std::uint32_t Pages::take_slot() {
    expect_head();
    const std::lock_guard lock(slots_mutex_);
    if (!idle_slots_.empty()) {
        const std::uint32_t slot = idle_slots_.back();
        idle_slots_.pop_back();
        return slot;
    }
    for (std::uint32_t slot = 0; slot < most_readers; ++slot) {
        const std::size_t at = slots_at + slot * slot_bytes;
        if (has_slot_[slot] || !os::try_lock(file_, os::LockKind::exclusive, at, 1)) continue;
        has_slot_[slot] = true;
        slot_word(slot) = 0;
        std::uint64_t taken = word(slots_taken_at);
        while (taken <= slot && !word(slots_taken_at).compare_exchange_weak(taken, slot + 1)) {
        }
        return slot;
    }
    throw Error(Code::busy, path() + ": too many read the index");
}

void Pages::leave_slot(std::uint32_t slot) {
    const std::lock_guard lock(slots_mutex_);
    idle_slots_.push_back(slot);
}

// A commit that is still published when it has been announced was so when the writer of a later one looked at the announcements, or that
// writer saw this one: what a commit replaces is used again by none before the second one after it.
std::uint64_t Pages::begin_reading(std::uint32_t slot) const {
    for (;;) {
        const std::uint64_t commit = published();
        slot_word(slot).store(commit + 1);
        if (published() == commit) return commit;
    }
}

void Pages::end_reading(std::uint32_t slot) const {
    std::atomic<std::uint64_t>& word = slot_word(slot);
    // In a file that somebody has cut off there is nothing to end.
    static_cast<void>(os::guarded(&word, sizeof word, [&] { word.store(0, std::memory_order_release); }));
}

std::uint64_t Pages::oldest_read() {
    std::uint64_t oldest = published();
    const std::lock_guard lock(slots_mutex_);
    const std::uint64_t taken = std::min<std::uint64_t>(word(slots_taken_at), most_readers);
    for (std::uint32_t slot = 0; slot < taken; ++slot) {
        const std::uint64_t commit = slot_word(slot);
        if (commit == 0 || commit > oldest) continue;
        const std::size_t at = slots_at + slot * slot_bytes;
        if (!has_slot_[slot] && os::try_lock(file_, os::LockKind::exclusive, at, 1)) {
            slot_word(slot) = 0;  // its process has died
            os::unlock(file_, at, 1);
            continue;
        }
        oldest = commit - 1;
    }
    return oldest;
}

}  // namespace pmemcpy::index
