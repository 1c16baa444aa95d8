// Length: one sweep after another of the same two kinds of files.
// Processes that share buckets and messages, killed or stopped at any instruction: one is stepped through a verb, and at each place where that
// makes a difference it is killed, or left where it is while a survivor goes on, and then goes on itself.

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <stdexcept>
#include <unordered_map>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>
#include <pmemcpy/buckets.hpp>
#include <pmemcpy/messages.hpp>

#include "members/format.hpp"
#include "members/word.hpp"
#include "stepping.hpp"
#include "tests/folder.hpp"

namespace pmemcpy::crash {
namespace {

constexpr std::uint64_t page = 4096;
constexpr std::uint64_t bucket_count = 6;
constexpr std::uint64_t capacity = 5;

/// What a process has in its hands.
struct Hands {
    std::optional<BucketPool> pool;
    Buckets held;
    std::optional<MessageQueue> queue;
    std::optional<Delivery> delivery;
};

struct Verb {
    std::string name;
    std::function<void(Hands&)> prepare;  // in the process that is stepped, before
    std::function<void(Hands&)> call;     // stepped; nothing: the opening itself
    std::function<void(Hands&)> die;      // what another process does that died before all this
    std::uint64_t lives = 0;  // if not 0, the dead process had the second seat, and it has had so many
};

struct Position {
    std::uint64_t place;
    std::uint64_t occurrence;
};

Message numbered(std::uint64_t number, std::uint32_t priority = 0) { return {1, priority, {number}}; }

/// A file as it is before each death.
class Original {
public:
    explicit Original(std::string path) : path_(std::move(path)) {
        std::ifstream file(path_, std::ios::binary);
        bytes_.assign(std::istreambuf_iterator<char>(file), {});
    }
    void restore() const {
        ::unlink(path_.c_str());
        std::ofstream(path_, std::ios::binary) << bytes_;
    }
    bool has_changed(std::string& seen) const {
        std::string now(bytes_.size(), '\0');
        std::ifstream(path_, std::ios::binary).read(now.data(), static_cast<std::streamsize>(now.size()));
        const bool is_other = now != seen;
        seen = std::move(now);
        return is_other;
    }

private:
    std::string path_;
    std::string bytes_;
};

class SharedSweep : public ::testing::TestWithParam<Verb> {
protected:
    enum class Fate { killed, stopped };

    void open(Hands& hands) const {
        hands.pool = BucketPool::open(buckets_);
        hands.queue = MessageQueue::open(messages_);
    }

    // The seat of the process that dies is the first, which the survivor takes again; or it stays empty, and only the kernel knows of the death.
    enum class Seat { taken_again, empty };

    void set_up_files(Seat seat) {
        {
            BucketPool::create(buckets_, {.bucket_bytes = page, .count = bucket_count});
            MessageQueue queue = MessageQueue::create(messages_, {.capacity = capacity, .priorities = 2});
            for (std::uint64_t i = 1; i <= 3; ++i) queue.push(numbered(i));
        }
        if (!GetParam().die) return;
        std::array<Hands, 2> before;  // in the seats that the survivor and the stepped process take later
        if (seat == Seat::empty || GetParam().lives != 0) open(before[0]);
        if (seat == Seat::empty && GetParam().lives == 0) open(before[1]);
        const pid_t child = ::fork();
        if (child == 0) {
            static Hands hands;
            open(hands);
            GetParam().die(hands);
            ::kill(::getpid(), SIGKILL);
        }
        int status = 0;
        ::waitpid(child, &status, 0);
        if (GetParam().lives != 0) set_lives();
    }

    void set_lives() const {
        for (const std::string& path : {buckets_, messages_}) {
            std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
            file.seekp(members::lives_offset + 8);
            file.write(reinterpret_cast<const char*>(&GetParam().lives), 8);
        }
    }

    std::unique_ptr<SteppedChild> start() const {
        auto hands = std::make_shared<Hands>();
        return std::make_unique<SteppedChild>(
            [=, this] {
                open(*hands);
                if (GetParam().prepare) GetParam().prepare(*hands);
            },
            [=, this] { GetParam().call ? GetParam().call(*hands) : open(*hands); });
    }

    // Those before which something has changed that others can see, and those at system calls and atomics.
    std::vector<Position> find_positions(const Original& buckets, const Original& messages) {
        const auto child = start();
        std::string seen_buckets, seen_messages;
        buckets.has_changed(seen_buckets);
        messages.has_changed(seen_messages);
        std::vector<Position> positions;
        std::unordered_map<std::uint64_t, std::uint64_t> occurrences;
        bool after_system_call = true;
        do {
            const std::uint64_t place = child->place();
            const std::uint64_t occurrence = ++occurrences[place];
            const bool at_system_call = child->is_at_system_call();
            const bool has_changed = buckets.has_changed(seen_buckets) | messages.has_changed(seen_messages);
            // Before an atomic it has seen something that need not be so any more when it goes on.
            if (has_changed || at_system_call || after_system_call || child->is_at_atomic_or_fence())
                positions.push_back({place, occurrence});
            after_system_call = at_system_call;
        } while (child->step());
        positions.push_back({0, 0});  // done, and not yet gone
        return positions;
    }

    static void advance(SteppedChild& child, const Position& position) {
        if (position.place != 0) {
            child.run_to(position.place, position.occurrence);
        } else {
            child.finish();
        }
    }

    // The survivor lends buckets in several lengths, hands one over and takes it back, pushes and pops, while the other may be anywhere. Returns what it popped.
    static std::vector<std::uint64_t> live(Hands& survivor) {
        std::vector<std::uint64_t> popped;
        if (auto some = survivor.pool->try_acquire(page)) {
            const auto ids = some->offer(5, 1);
            survivor.pool->take(ids);
        }
        for (const std::uint64_t pages : {2U, 3U, 1U, 2U}) {
            auto some = survivor.pool->try_acquire(pages * page);
            if (!some) continue;
            some->write("survivor", 8, pages * page - 8);
            const auto others = survivor.pool->try_acquire(page);
            char text[8];
            some->read(text, 8, pages * page - 8);
            if (std::memcmp(text, "survivor", 8) != 0) throw std::runtime_error("a bucket was lent twice");
        }
        // What is given back is the same message in the same node, at another place of the queue.
        if (auto claimed = survivor.queue->try_claim()) claimed->give_back();
        if (survivor.queue->try_push(numbered(50))) {
            const auto message = survivor.queue->try_pop();
            if (message) popped.push_back(message->attributes[0]);
        }
        survivor.queue->recover();
        survivor.pool->reclaim();
        return popped;
    }

    // When the other is dead: each bucket is somebody's, each message comes as promised, and there is room for all again.
    std::string judge(Hands& survivor, std::vector<std::uint64_t> popped) const {
        for (const BucketInfo& info : survivor.pool->list()) {
            if (info.state == BucketState::offered) {
                if (info.tag != 7 || info.bytes != (info.part < 2 ? page : 1))
                    return "an offered bucket says something else";
                survivor.pool->discard(info.id);
            } else if (!info.is_left_behind) {
                return "a bucket of nobody is not left behind";
            }
        }
        survivor.pool->reclaim();
        if (survivor.pool->acquire(bucket_count * page).count() != bucket_count) return "buckets are lost";
        survivor.queue->recover();
        while (const auto message = survivor.queue->try_pop()) popped.push_back(message->attributes[0]);
        if (survivor.queue->claimed() != 0 || survivor.queue->size() != 0)
            return "a message is held by nobody";
        const bool takes_one = GetParam().name.starts_with("pop") || GetParam().name.starts_with("done");
        std::size_t missing = 0;
        for (std::uint64_t i = 1; i <= 3; ++i) {
            const auto times = std::count(popped.begin(), popped.end(), i);
            if (times > 1) return "a message came twice";
            if (times == 0) ++missing;
        }
        if (missing > (takes_one ? 1U : 0U)) return "a message is lost";
        if (std::count(popped.begin(), popped.end(), 99U) > 1) return "a pushed message came twice";
        for (std::uint64_t i = 0; i < capacity; ++i)
            if (!survivor.queue->try_push(numbered(i))) return "places for messages are lost";
        for (std::uint64_t i = 0; i < capacity; ++i)
            if (survivor.queue->try_pop() != numbered(i)) return "the queue is out of order";
        return {};
    }

    std::string meet(const Position& position, Fate fate) {
        Hands survivor;
        open(survivor);
        const auto child = start();
        advance(*child, position);
        std::vector<std::uint64_t> popped;
        if (fate == Fate::stopped) {
            popped = live(survivor);
            child->finish();
        }
        child->kill();
        return judge(survivor, std::move(popped));
    }

    void sweep(Seat seat) {
        for (const std::string& path : {buckets_, messages_}) ::unlink(path.c_str());
        set_up_files(seat);
        const Original buckets(buckets_), messages(messages_);
        std::size_t failures = 0;
        const std::vector<Position> positions = find_positions(buckets, messages);
        for (const Position& position : positions) {
            for (const Fate fate : {Fate::killed, Fate::stopped}) {
                buckets.restore();
                messages.restore();
                std::string wrong;
                try {
                    wrong = meet(position, fate);
                } catch (const std::exception& error) {
                    wrong = error.what();
                }
                if (wrong.empty() || ++failures > 5) continue;
                ADD_FAILURE() << (fate == Fate::killed ? "killed at " : "stopped at ")
                              << name_of_place(position.place) << ", time " << position.occurrence << ": "
                              << wrong;
            }
        }
        std::printf("%-30s killed and stopped at %zu places\n", GetParam().name.c_str(), positions.size());
    }

    Folder folder_;
    std::string buckets_ = folder_ / "b", messages_ = folder_ / "q";
};

TEST_P(SharedSweep, loses_nothing_and_gives_nothing_twice) {
    sweep(Seat::taken_again);
    if (GetParam().die && GetParam().lives == 0) sweep(Seat::empty);
}

// The owner of a full bucket writes another note, beside the same word, after each instruction of a process that lists the buckets.
TEST(SharedNotes, are_not_listed_by_halves) {
    const Folder folder;
    const std::string path = folder / "b";
    BucketPool pool = BucketPool::create(path, {.bucket_bytes = page, .count = 1});
    Buckets held = pool.acquire(page);
    const auto write_note = [&](std::uint64_t i) { held.set_full(i, i % page); };
    write_note(1);
    std::optional<BucketPool> there;
    SteppedChild child([&] { there = BucketPool::open(path); },
                       [&] {
                           for (const BucketInfo& info : there->list()) {
                               if (info.tag % page != info.bytes)
                                   throw std::runtime_error("half of one note, half of another\n");
                           }
                       });
    constexpr std::uint64_t notes = 6000;  // enough to come to the bucket, and to look at it many times
    std::uint64_t i = 1;
    EXPECT_NO_THROW({
        while (i < notes && child.step()) write_note(++i);
        child.finish();
    });
    EXPECT_EQ(i, notes) << "the list was made while notes were written";
}

// Which six are free as one, and this process has it in its memory.
void free_six(Hands& hands) { hands.pool->acquire(bucket_count * page); }
void free_and_hold_three(Hands& hands) {
    free_six(hands);
    hands.held = hands.pool->acquire(3 * page);
}
void hold_three(Hands& hands) { hands.held = hands.pool->acquire(3 * page); }
void claim_one(Hands& hands) { hands.delivery = hands.queue->try_claim(); }
// Of buckets a full and a filling one, of messages two claimed, of which one is given back by nobody.
void die_with_all(Hands& hands) {
    hands.held = hands.pool->acquire(4 * page);
    claim_one(hands);
    static std::optional<Delivery> second = hands.queue->try_claim();
}

std::vector<Verb> verbs() {
    return {
        {"acquire", {}, [](Hands& h) { h.held = h.pool->acquire(page); }, {}},
        {"acquire_several", {}, hold_three, {}},
        {"acquire_what_the_dead_have_left",
         {},
         [](Hands& h) { h.held = h.pool->acquire(5 * page); },
         die_with_all},
        {"acquire_what_is_free_as_one", free_six, [](Hands& h) { h.held = h.pool->acquire(6 * page); }, {}},
        {"acquire_a_part_of_what_is_free_as_one", free_six, hold_three, {}},
        {"acquire_one_of_what_is_free_as_one",
         {},
         [](Hands& h) { h.held = h.pool->acquire(page); },
         free_six},
        {"acquire_what_is_free_in_parts",
         [](Hands& h) {
             const Buckets two = h.pool->acquire(2 * page), one = h.pool->acquire(page);
             h.held = h.pool->acquire(page);
         },
         [](Hands& h) { const Buckets five = h.pool->acquire(5 * page); },
         {}},
        {"release_what_was_cut",
         [](Hands& h) {
             free_and_hold_three(h);
             h.held.set_full(7, 2 * page + 1);
         },
         [](Hands& h) { h.held.release(); },
         {}},
        {"release_and_acquire_again",
         free_and_hold_three,
         [](Hands& h) {
             h.held.release();
             h.held = h.pool->acquire(3 * page);
         },
         {}},
        {"release", hold_three, [](Hands& h) { h.held.release(); }, {}},
        {"set_full", hold_three, [](Hands& h) { h.held.set_full(7, 2 * page + 1); }, {}},
        {"move", hold_three, [](Hands& h) { h.held.move(Region::nvme); }, {}},
        {"offer", hold_three, [](Hands& h) { h.held.offer(7, 2 * page + 1); }, {}},
        {"offer_and_take",
         hold_three,
         [](Hands& h) { h.held = h.pool->take(h.held.offer(7, 2 * page + 1)); },
         {}},
        {"take_what_the_dead_have_left",
         {},
         [](Hands& h) {
             std::vector<BucketId> ids;
             for (const BucketInfo& info : h.pool->left_behind()) ids.push_back(info.id);
             try {
                 h.held = h.pool->take(ids);
             } catch (const Error&) {  // the survivor was faster
             }
         },
         die_with_all},
        {"take_a_part_of_what_the_dead_have_left",
         {},
         [](Hands& h) {
             try {
                 h.held = h.pool->take(std::vector{h.pool->left_behind().at(2).id});
             } catch (const Error&) {
             } catch (const std::out_of_range&) {  // the survivor has freed them
             }
         },
         die_with_all},
        {"reclaim", {}, [](Hands& h) { h.pool->reclaim(); }, die_with_all},
        {"push", {}, [](Hands& h) { h.queue->push(numbered(99)); }, {}},
        {"push_urgently", {}, [](Hands& h) { h.queue->push(numbered(99, 1)); }, {}},
        {"pop", {}, [](Hands& h) { h.queue->try_pop(); }, {}},
        {"claim", {}, claim_one, {}},
        {"done", claim_one, [](Hands& h) { h.delivery->done(); }, {}},
        {"give_back", claim_one, [](Hands& h) { h.delivery->give_back(); }, {}},
        {"recover", {}, [](Hands& h) { h.queue->recover(); }, die_with_all},
        {"attach", [](Hands& h) { h = {}; }, {}, {}},
        // The life before the last one is that of the preparation.
        {"attach_when_the_tags_of_a_seat_are_used_up",
         [](Hands& h) { h = {}; },
         {},
         die_with_all,
         (std::uint64_t{1} << members::life_bits) - 2},
    };
}

INSTANTIATE_TEST_SUITE_P(every, SharedSweep, ::testing::ValuesIn(verbs()),
                         [](const auto& verb) { return verb.param.name; });

void PrintTo(const Verb& verb, std::ostream* out) { *out << verb.name; }

}  // namespace
}  // namespace pmemcpy::crash
