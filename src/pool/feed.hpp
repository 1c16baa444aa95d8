#pragma once

// <pool>.feed: what has changed in the catalog, in one order for all. It is there while somebody follows, whoever may read the
// pool may read it, and it is worth nothing once the last process has gone.

#include "os/file.hpp"
#include "os/map.hpp"
#include "pool/format.hpp"

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace pmemcpy::pool {

class Pool;

inline constexpr std::uint64_t feed_slots = 1ULL << 17;

/// The changes that somebody asked for.
struct Changes {
    std::uint64_t next = 0;  ///< the position to go on from
    /// Some are not known any more, or a process died that may have published without saying so: anything may have changed.
    bool lost = false;
    std::uint64_t left = 0;  ///< how many came behind these
    bool committed = false;  ///< a step was: what was changed in it before is seen now
    std::vector<std::uint64_t>
        offsets{};  ///< of the entries that changed, in order; an entry as often as it did
};

/// Numbers the changes of the catalog. Nothing is done, and nothing costs anything, before somebody follows.
///
/// A slot of the ring is {offset / 64, the lap}: it is filled by one CAS, and then the head is moved by another one, which
/// whoever comes next does too if it is still to be done. So a process that dies in between leaves no hole. One that has
/// published and dies before it said so is known to who cleans up after it, who says `lost`.
class Feed {
public:
    explicit Feed(Pool& pool) : pool_(pool) {}

    /// From here on every process that is attached, or comes, says what it changes. Errors: io_error, no_space, permission_denied.
    void start();
    bool is_running() const;
    /// Whether this process is told: somebody follows, and the file can be read.
    bool is_heard() { return joined() != nullptr; }
    /// What was published under the entry at `offset` is another thing now, or gone. Comes after publishing it.
    void append(std::uint64_t offset) { say(offset / 64); }
    void append_commit() { say(commit_mark); }
    void append_lost() { say(lost_mark); }
    /// A change on its way: from before anybody can see it until it has been said. So long the entry may be another thing than those who
    /// follow believe, and they look at it themselves.
    class UnderWay {
    public:
        explicit UnderWay(Feed& feed) : feed_(feed) {}
        UnderWay(const UnderWay&) = delete;
        UnderWay& operator=(const UnderWay&) = delete;
        ~UnderWay();
        void of(std::uint64_t offset) { say(offset / 64); }
        void of_commit() { say(commit_mark); }

    private:
        void say(std::uint64_t what);
        Feed& feed_;
        std::uint64_t* word_ = nullptr;
        std::uint64_t* uncounted_ = nullptr;
    };
    /// The entries of which changes are on their way; lost: more than are counted.
    Changes under_way();
    /// Called after each append with its offset, or 0 where it was none, by the thread that did it; must not throw. To be set while no other thread uses the pool.
    void set_after_append(std::function<void(std::uint64_t)> f) { after_append_ = std::move(f); }

    /// Where the feed is: behind the newest change. It is still there when the pool is opened again, if that was closed in an orderly
    /// way; else somewhere else. Positions grow with each change, the first of a session by a number that is drawn: so of two sessions
    /// that begin with the same bytes, one of them with a backup, neither comes by a position of the other.
    std::uint64_t position();
    /// What has changed since the feed was at `position`, the first `at_most` of it. Where nobody follows nothing is known of changes
    /// since; but after an orderly close, that there were none.
    Changes since(std::uint64_t position, std::uint64_t at_most);

    // ---- for Pool ----

    /// Alone in the pool, before all else: what an earlier session has left is of no use.
    void reset(bool was_clean);
    /// The last one out, of a pool that is whole.
    void settle();
    /// What that process had on its way; after append_lost().
    void forget_under_way(std::uint64_t slot);

private:
    static constexpr std::uint64_t lost_mark = 0;
    static constexpr std::uint64_t commit_mark = 1;
    static constexpr std::uint64_t first_offset = 16;

    // Words of changes on their way: a line for each process, as long as there are no more; {offset / 64, the slot + 1 of the process}.
    static constexpr std::uint64_t words_of_a_line = 8;
    static constexpr std::uint64_t words_under_way = 60 * words_of_a_line;

    struct Ring {
        std::uint64_t number;  // which ring this is; the same in the pool's state
        std::uint64_t first;   // the position that it began at
        std::uint64_t base;    // behind it come this and one, this and two, ...
        alignas(64) std::uint64_t head;
        alignas(64) std::uint64_t uncounted;  // changes on their way for which there was no word
        alignas(64) std::uint64_t under_way[words_under_way];
        alignas(4096) std::uint64_t slots[feed_slots];
    };
    static std::uint64_t position_of(const Ring& ring, std::uint64_t changes) {
        return changes == 0 ? ring.first : ring.base + changes;
    }
    /// How many changes the ring had at a position, if it was ever there.
    static std::optional<std::uint64_t> changes_at(const Ring& ring, std::uint64_t position);
    struct Joined {
        std::uint64_t number = 0;
        os::Identity file;
        os::Mapping map;
        Ring& ring() const { return *reinterpret_cast<Ring*>(map.base()); }
    };

    std::string path() const;
    static bool is_no_ring(const os::File& file);
    bool is_file_its_own(const std::string& path) const;
    void remove_file() const;
    os::File open_for_ring() const;
    void make_ring();
    void say(std::uint64_t what);
    void fill_next_slot(Ring& ring, std::uint64_t what);
    /// The ring that the pool's state names, which stays as long as this object; null if there is none, or it can't be opened.
    const Joined* joined();
    const Joined* join(std::uint64_t number);
    void give_up(std::uint64_t number);
    void drop_cut_off(const Joined& ring);

    Pool& pool_;
    std::function<void(std::uint64_t)> after_append_;
    std::mutex joining_;
    std::unique_ptr<Joined> joined_;                // under joining_
    std::atomic<const Joined*> current_ = nullptr;  // the same, without the mutex
    std::vector<std::unique_ptr<Joined>> old_;      // other threads may still be at them
};

}  // namespace pmemcpy::pool
