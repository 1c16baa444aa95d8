#include "buckets/pool.hpp"

#include <algorithm>
#include <bit>
#include <chrono>
#include <thread>
#include <utility>

#include "base/checked.hpp"
#include "os/map.hpp"

namespace pmemcpy::buckets {

using members::Word;

namespace {

Region region_of(const Word& word) { return static_cast<Region>(word.place); }
BucketState state_of(const Word& word) {
    return word.state == state_parting ? BucketState::filling : static_cast<BucketState>(word.state);
}

// Of who needs what another is just making ready, for a tenth of a second in all.
constexpr int most_looks = 450;

members::Shape shape_of(const Layout& layout) { return {layout.bucket_bytes, layout.count, 0, 0}; }

Layout layout_of(const members::Shape& shape) { return lay_out(shape[0], shape[1]); }
members::Body body_of(const Layout& layout) {
    return {layout.file_bytes, layout.words, sizeof(std::uint64_t), layout.count};
}

}  // namespace

Layout lay_out(std::uint64_t bucket_bytes, std::uint64_t count) {
    if (bucket_bytes == 0 || bucket_bytes % page_bytes != 0) {
        throw Error(Code::invalid_argument,
                    "a bucket has " + std::to_string(bucket_bytes) + " bytes, which is no multiple of 4096");
    }
    if (count == 0 || count > most_buckets) {
        throw Error(Code::invalid_argument,
                    std::to_string(count) + " buckets: there can be 1 to " + std::to_string(most_buckets));
    }
    std::uint64_t bytes = 0;
    if (!base::checked_mul(bucket_bytes, count, bytes) || bytes > most_bytes) {
        throw Error(Code::invalid_argument, std::to_string(count) + " buckets of " +
                                                std::to_string(bucket_bytes) +
                                                " bytes are more than a file holds");
    }
    Layout layout;
    layout.bucket_bytes = bucket_bytes;
    layout.count = count;
    layout.words = base::align_up(layout.hints + members::bytes_of_bits(count), 64);
    layout.notes = base::align_up(layout.words + count * sizeof(std::uint64_t), 64);
    layout.data = base::align_up(layout.notes + count * sizeof(Note),
                                 bytes < os::huge_page_bytes ? page_bytes : os::huge_page_bytes);
    layout.file_bytes = layout.data + bytes;
    return layout;
}

std::shared_ptr<Pool> Pool::create(const std::string& path, const BucketOptions& options) {
    const Layout layout = lay_out(options.bucket_bytes, options.count);
    return std::make_shared<Pool>(members::Members::create(
        {path, members::Kind::buckets, shape_of(layout), body_of(layout), options.mode},
        [&](std::byte* base) {
            Runs(base + layout.hints, base + layout.words, static_cast<std::uint32_t>(layout.count)).set_up();
        }));
}

std::shared_ptr<Pool> Pool::open(const std::string& path) {
    return std::make_shared<Pool>(members::Members::open(
        path, members::Kind::buckets, [](const members::Shape& shape) { return body_of(layout_of(shape)); }));
}

Pool::Pool(members::Members members)
    : members_(std::move(members)),
      layout_(layout_of(members_.shape())),
      runs_(members_.base() + layout_.hints, members_.base() + layout_.words,
            static_cast<std::uint32_t>(layout_.count), members_.me().seat),
      mine_(Word{.owner = members_.me()}.packed()),
      has_shift_(std::has_single_bit(layout_.bucket_bytes)),
      shift_(std::countr_zero(layout_.bucket_bytes)) {}

void Pool::prepare() {
    members_.check();
    members_.touch_all(layout_.data);
}

bool Pool::take_slowly(std::uint64_t want, const Word& as, Buckets& held) {
    if (want > layout_.count) return false;
    static thread_local std::vector<members::Run> runs;  // to allocate nothing in the usual case
    runs.clear();
    const auto wanted = static_cast<std::uint32_t>(want);
    std::uint32_t taken = 0;
    const auto give_back = [&] {
        for (const members::Run& run : runs) runs_.give_back(run, members_.me());
    };
    try {
        runs.reserve(want);
        for (int looks = 0;; ++looks) {
            const Runs::Taken more = runs_.take(wanted - taken, as, runs);
            taken += more.count;
            if (taken == wanted) break;
            if (looks > 0 && (more.is_settled || looks == most_looks)) {
                give_back();
                return false;
            }
            std::this_thread::sleep_for(std::chrono::microseconds(looks));
            reclaim();  // also if it is somebody else who frees them
        }
        held.make_room(runs.size());
    } catch (...) {
        give_back();
        throw;
    }
    for (const members::Run& run : runs) {
        runs_.join(run);
        held.hold({bucket(run.first), run.first, run.count});
    }
    return true;
}

// A process that wants a part of a run that a dead one held owns the run for a moment, and leaves it behind in single ones, which are nobody's:
// a process writes no name but its own, so that no life of the dead one's seat meets its name again (`Members::forget_lives`). Another process
// that wants another part waits meanwhile.
void Pool::part_left_behind(std::uint32_t i, members::Roll& roll) const {
    for (int looks = 0; looks < most_looks; ++looks) {
        const std::uint32_t first = runs_.first_of(i);
        const Word head = checked(first);
        if (Runs::follows(head)) continue;  // another process has changed the run between these looks
        if (head.state == state_parting && !members_.is_dead(head.owner)) {
            std::this_thread::sleep_for(std::chrono::microseconds(looks));
            continue;
        }
        const std::uint32_t n = runs_.length(first);
        if (n == 1 || !is_gone(head, roll)) return;
        Word mine = head;
        mine.owner = members_.me();
        mine.state = state_parting;
        if (!runs_.change(first, head, mine)) continue;
        Word left = head;
        left.owner = members::nobody;
        runs_.cut_run(first, runs_.length(first), left);
    }
}

/// What the word of a bucket says that can be taken by this id; nothing if there is none.
std::optional<Word> Pool::find_for(const BucketId& id, members::Roll& roll) const {
    if (id.index >= layout_.count) return std::nullopt;
    part_left_behind(id.index, roll);
    const Word found = said_of(id.index);
    const bool is_to_be_had = state_of(found) == BucketState::offered || is_gone(found, roll);
    if (!is_to_be_had || found.turn != id.turn) return std::nullopt;
    return found;
}

/// Makes one bucket this process's. Says what it was, and what it is.
std::optional<Pool::Taken> Pool::take_one(const BucketId& id, members::Roll& roll) const {
    for (int looks = 0; looks < most_looks; ++looks) {
        const std::optional<Word> found = find_for(id, roll);
        if (!found) break;
        Taken one{id.index, *found, *found};
        const bool is_offered = state_of(*found) == BucketState::offered;
        one.as.owner = members_.me();
        one.as.state = static_cast<std::uint8_t>(is_offered ? BucketState::full : state_of(*found));
        one.before.owner = members::nobody;  // also where a dead process had it: part_left_behind() says why
        if (runs_.change(id.index, *found, one.as)) return one;
        // The word has changed between the look and the exchange. The bucket may be there still, as when another process has cut the run.
    }
    return std::nullopt;
}

// First this process looks whether all are there, so that it takes none where one is missing. Then it takes them in the order of their indexes:
// of several processes that want the same ones, one gets them all.
void Pool::take(std::span<const BucketId> ids, Buckets& held) {
    members::Roll roll(members_);
    const auto throw_missing = [this](const BucketId& id) {
        throw Error(Code::not_found,
                    "bucket " + std::to_string(id.index) + " of '" + members_.path() +
                        "' is not on offer by this id: it was taken, given back, or never was");
    };
    std::vector<BucketId> in_order(ids.begin(), ids.end());
    std::sort(in_order.begin(), in_order.end(),
              [](const BucketId& a, const BucketId& b) { return a.index < b.index; });
    for (std::size_t i = 0; i < in_order.size(); ++i) {
        const bool is_twice = i > 0 && in_order[i].index == in_order[i - 1].index;
        if (is_twice || !find_for(in_order[i], roll)) throw_missing(in_order[i]);
    }
    std::vector<Taken> taken;
    taken.reserve(ids.size());
    held.make_room(ids.size());
    for (const BucketId& id : in_order) {
        if (const auto one = take_one(id, roll)) {
            taken.push_back(*one);
            continue;
        }
        // Another process was faster after we looked.
        for (const Taken& one : taken) runs_.change(one.index, one.as, one.before);
        throw_missing(id);
    }
    for (const BucketId& id : ids) held.hold({bucket(id.index), id.index, 1});
}

Word Pool::checked(std::uint32_t i) const {
    const Word word = runs_.load(i);
    const bool is_right = Runs::follows(word)
                              ? word.place == 0 && i % longest_run != 0
                              : word.state <= state_parting && (word.state == 0) == (word.place == 0);
    if (!is_right) members_.throw_corrupt("says nothing that makes sense of bucket " + std::to_string(i));
    return word;
}

Word Pool::said_of(std::uint32_t i) const {
    const Word word = checked(i);
    if (!Runs::follows(word)) return word;
    checked(runs_.first_of(i));
    return runs_.said_of(i);
}

void Pool::change_own(std::uint32_t i, const std::function<void(Word&)>& change) const {
    const Word found = checked(i);
    Word next = found;
    change(next);
    if (found.owner != members_.me() || !runs_.change(i, found, next))
        members_.throw_corrupt("gave bucket " + std::to_string(i) + " to somebody else");
}

// A note counts beside a word that says full, so it is changed beside one that does not. The word says the same of one note as of the next, so
// the note counts its changes: list() tells by them that it has not read the half of each.
void Pool::fill(std::uint32_t i, const Note& note) const {
    const auto say = [](BucketState state) {
        return [state](Word& word) { word.state = static_cast<std::uint8_t>(state); };
    };
    if (state_of(runs_.load(i)) == BucketState::full) change_own(i, say(BucketState::filling));
    Note& place = this->note(i);
    const std::atomic_ref changes(place.changes);
    changes.store(changes.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    // For list(): a process that reads anything of this note finds the count changed afterwards.
    std::atomic_thread_fence(std::memory_order_release);
    std::atomic_ref(place.tag).store(note.tag, std::memory_order_relaxed);
    std::atomic_ref(place.bytes).store(note.bytes, std::memory_order_relaxed);
    std::atomic_ref(place.part).store(note.part, std::memory_order_relaxed);
    std::atomic_ref(place.parts).store(note.parts, std::memory_order_relaxed);
    change_own(i, say(BucketState::full));
}

void Pool::set_region(std::uint32_t first, std::uint32_t count, Region region) const {
    for (std::uint32_t i = first; i < first + count; ++i) {
        if (!Runs::follows(checked(i)))
            change_own(i, [region](Word& word) { word.place = static_cast<std::uint8_t>(region); });
    }
}

void Pool::offer(std::uint32_t i) const {
    change_own(i, [](Word& word) {
        word.state = static_cast<std::uint8_t>(BucketState::offered);
        word.owner = {};
    });
}

bool Pool::is_gone(const Word& word, members::Roll& roll) const {
    const BucketState state = state_of(word);
    return (state == BucketState::filling || state == BucketState::full) && roll.is_dead(word.owner);
}

BucketInfo Pool::describe(std::uint32_t i, const Word& word, members::Roll& roll) const {
    BucketInfo info;
    info.id = {i, word.turn};
    info.region = region_of(word);
    info.state = state_of(word);
    info.is_left_behind = is_gone(word, roll);
    if (info.state == BucketState::filling) return info;
    Note& place = note(i);
    info.tag = std::atomic_ref(place.tag).load(std::memory_order_relaxed);
    info.bytes = std::atomic_ref(place.bytes).load(std::memory_order_relaxed);
    info.part = std::atomic_ref(place.part).load(std::memory_order_relaxed);
    info.parts = std::atomic_ref(place.parts).load(std::memory_order_relaxed);
    return info;
}

std::vector<BucketInfo> Pool::list(const std::function<bool(const BucketInfo&)>& wanted) const {
    members_.check();
    members::Roll roll(members_);
    std::vector<BucketInfo> all;
    for (std::uint32_t i = 0; i < layout_.count; ++i) {
        const std::atomic_ref changes(note(i).changes);
        for (;;) {
            const std::uint64_t before = changes.load(std::memory_order_acquire);
            const Word word = said_of(i);
            if (word.state == 0) break;
            const BucketInfo info = describe(i, word, roll);
            std::atomic_thread_fence(std::memory_order_acquire);
            // Another process may own the bucket by now, or its owner has written another note.
            if (said_of(i) != word || changes.load(std::memory_order_relaxed) != before) continue;
            if (wanted(info)) all.push_back(info);
            break;
        }
    }
    return all;
}

std::uint64_t Pool::count(const std::function<bool(BucketState, Region)>& wanted) const {
    members_.check();
    std::uint64_t n = 0;
    Word said;
    for (std::uint32_t i = 0; i < layout_.count; ++i) {
        const Word word = checked(i);
        if (!Runs::follows(word)) said = word;
        n += wanted(state_of(said), region_of(said)) ? 1U : 0U;
    }
    return n;
}

std::uint64_t Pool::reclaim() {
    members::Roll roll(members_);
    std::uint64_t n = 0;
    for (std::uint32_t i = 0; i < layout_.count; ++i) {
        const Word word = checked(i);
        if (Runs::follows(word) || !is_gone(word, roll)) continue;
        Word mine = word;
        mine.owner = members_.me();
        if (!runs_.change(i, word, mine)) continue;
        const std::uint32_t count = runs_.length(i);
        runs_.give_back({i, count}, members_.me());
        n += count;
    }
    return n;
}

bool Pool::discard(BucketId id) {
    if (id.index >= layout_.count) return false;
    for (;;) {
        const Word word = checked(id.index);
        if (state_of(word) != BucketState::offered || word.turn != id.turn) return false;
        if (runs_.free(id.index, word)) return true;
    }
}

}  // namespace pmemcpy::buckets
