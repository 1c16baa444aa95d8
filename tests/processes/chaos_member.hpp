#pragma once

// One of the processes that do everything at once while some of them are killed, or stopped for a while. Outside of the pool each
// writes down what it is about to do and what it was told is done: whatever is found afterwards must be one of the two.

#include <algorithm>

#include "worker.hpp"

namespace processes {

using pmemcpy::Box;
using pmemcpy::Code;
using pmemcpy::Dimensions;
using pmemcpy::Error;
using pmemcpy::Options;
using pmemcpy::PMEM;

inline constexpr std::size_t most_writers = 64;
inline constexpr std::size_t values = 6;  // of each process
inline constexpr std::uint64_t rows = 6, columns = 40;

/// 0: absent. Else a sequence number, times 2, plus which of its two names a value has.
struct Track {
    Word intended;
    Word acknowledged;
};

struct Ledger {
    Word writers;  // and behind them a reader
    Word stops;    // whether some are stopped for a while, so that what waits for them may be `busy`
    Word stop;
    Word failures;
    Word busy;
    Word done[most_writers + 1];  // calls that returned
    Track value[most_writers][values];
    Track attribute[most_writers];
    Track row[most_writers][rows];
    Track log[most_writers];  // rows appended
    Track step;               // of process 0: two values, stored in one step
    Word opening, opened;     // counted by each that opens the pool
    Word views_of_reader;     // that it holds
    char message[400];
};

using Words = std::vector<std::uint64_t>;

// Says who, which and how much it is; every word depends on all of that.
inline Words content(std::uint64_t who, std::uint64_t state, std::uint64_t length) {
    Words words(length);
    for (std::uint64_t i = 0; i < length; ++i)
        words[i] = (who << 48) ^ (state * 0x9e3779b97f4a7c15ULL) ^ (i << 20) ^ length;
    if (length > 0) words[0] = state;
    return words;
}
// Of 8 bytes to 64 MiB, and most of them small.
inline std::uint64_t length_of(std::uint64_t state) {
    if (state % 61 == 0) return std::uint64_t{1} << (state / 61 % 24);
    return 1 + state * 7919 % (state % 11 == 0 ? 6000 : 150);
}
/// Whether words are content(who, state, length): of many words one of each cache line.
inline bool is_content(const Words& words, std::uint64_t who, std::uint64_t state, std::uint64_t length) {
    if (words.size() != length || words[0] != state) return false;
    for (std::uint64_t i = 1; i<length; i += length> 65536 ? 8 : 1) {
        if (words[i] != ((who << 48) ^ (state * 0x9e3779b97f4a7c15ULL) ^ (i << 20) ^ length)) return false;
    }
    return true;
}

class Member {
public:
    Member(const std::string& pool, const std::string& ledger, std::size_t me, std::uint64_t seed)
        : ledger_(ledger), pool_(pool), me_(me), crowd_(ledger_->writers), random_(seed) {
        ++ledger_->opening;
        open();
        ++ledger_->opened;
        if (reads_only()) return;
        pmem_.alloc<std::uint64_t>(array(me_), {rows, columns});
        pmem_.alloc<std::uint64_t>(log(me_), {pmemcpy::unlimited, columns});
        settle();
    }

    // What a dead predecessor intended may have happened or not; from here on it is known.
    void settle() {
        for (std::size_t i = 0; i < values; ++i)
            settle(ledger_->value[me_][i], find_value(me_, i), "value " + std::to_string(i));
        settle(ledger_->attribute[me_], find_attribute(me_), "attribute");
        for (std::uint64_t r = 0; r < rows; ++r)
            settle(ledger_->row[me_][r], find_row(me_, r), "row " + std::to_string(r));
        settle(ledger_->log[me_], pmem_.load_dims(log(me_))[0], "log");
        check_log(me_);
        if (me_ == 0) settle(ledger_->step, find_step(), "step");
    }

    void go_on() {
        while (ledger_->stop == 0) {
            if (reads_only()) {
                hold_views();
            } else {
                act();
            }
            look(random_() % crowd_);
            ++ledger_->done[me_];
        }
    }

    // What is seen through a view stays as it is, whatever is stored over it, for as long as the view is held.
    void hold_views() {
        std::vector<std::pair<pmemcpy::View<const std::uint64_t>, Words>> held;
        for (std::size_t n = random_() % 6; n > 0; --n) {
            try {
                auto view = pmem_.view<std::uint64_t>(array(random_() % crowd_),
                                                      Box{{random_() % rows, 0}, {1, columns}});
                Words first(view.begin(), view.end());
                held.emplace_back(std::move(view), std::move(first));
            } catch (const Error& error) {
                if (error.kind() != Code::not_found) fail(std::string("a view: ") + error.what());
            }
        }
        ledger_->views_of_reader = held.size();
        sleep_us(random_() % 10'000);
        for (const auto& [view, first] : held) {
            if (!std::equal(view.begin(), view.end(), first.begin())) fail("a view has changed");
        }
        ledger_->views_of_reader = 0;
    }

private:
    bool reads_only() const { return me_ == crowd_; }
    static std::string name(std::size_t who, std::size_t i, std::uint64_t state) {
        return "p" + std::to_string(who) + (state % 2 == 0 ? "/v" : "/w") + std::to_string(i);
    }
    static std::string array(std::size_t who) { return "a" + std::to_string(who); }
    static std::string log(std::size_t who) { return "log" + std::to_string(who); }

    void open() {
        Options options;
        if (reads_only()) options.mode = pmemcpy::Mode::read;
        while (!try_to([&] { pmem_.mmap(pool_, options); })) {
        }
    }

    void fail(const std::string& what) {
        if (ledger_->failures.fetch_add(1) == 0) {
            const std::string text = "process " + std::to_string(me_) + ": " + what;
            text.copy(ledger_->message, sizeof ledger_->message - 1);
        }
    }

    void settle(Track& track, std::uint64_t found, const std::string& what) {
        if (found != track.acknowledged && found != track.intended) {
            fail("own " + what + " is " + std::to_string(found) + ", acknowledged " +
                 std::to_string(track.acknowledged) + ", intended " + std::to_string(track.intended));
        }
        track.intended = found;
        track.acknowledged = found;
    }

    // False if it has not happened: it did not fit, as a small machine may have less room than the pool; or it would have had to wait
    // for a process that is stopped.
    template <class F>
    bool try_to(F&& f) {
        try {
            f();
            return true;
        } catch (const Error& error) {
            const bool is_busy = error.kind() == Code::busy && ledger_->stops != 0;
            if (error.kind() != Code::no_space && !is_busy) throw;
            if (is_busy) ++ledger_->busy;
            return false;
        }
    }

    template <class F>
    void track(Track& track, std::uint64_t state, F&& f) {
        track.intended = state;
        if (try_to(f)) {
            track.acknowledged = state;
        } else {
            track.intended = track.acknowledged.load();
        }
    }

    void act() {
        const std::size_t i = random_() % values;
        Track& value = ledger_->value[me_][i];
        const std::uint64_t before = value.acknowledged;
        const std::uint64_t next = (before / 2 + 1 + next_++ % 3) * 2 + before % 2;
        switch (random_() % 10) {
            case 0:
            case 1:
            case 2:
                track(value, next,
                      [&] { pmem_.store(name(me_, i, next), content(me_, next, length_of(next))); });
                return;
            case 3:
                if (before != 0) track(value, 0, [&] { pmem_.erase(name(me_, i, before)); });
                return;
            case 4:
                if (before != 0)
                    track(value, before ^ 1,
                          [&] { pmem_.rename(name(me_, i, before), name(me_, i, before ^ 1)); });
                return;
            case 5:
                return act_on_attribute();
            case 6:
                return act_on_array();
            case 7:
                return append();
            case 8:
                return act_on_all();
            default:
                if (me_ == 0) act_in_step();
                return;
        }
    }

    // What is done rarely, and much of it to more than one's own.
    void act_on_all() {
        const std::string own = "p" + std::to_string(me_);
        switch (random_() % 12) {
            case 0:
                try_to([&] { pmem_.make_group(own + "/group/below"); });
                return;
            case 1:
                for (const char* group : {"/group/below", "/group"}) {
                    if (pmem_.exists(own + group)) try_to([&] { pmem_.erase(own + group); });
                }
                return;
            case 2:
                try_to([&] { pmem_.set_attributes(log(me_), {{"a", next_}, {"b", "text"}, {"c", 0.5}}); });
                return;
            case 3:
                try_to([&] { pmem_.prepare(); });
                return;
            case 4:
                try_to([&] { pmem_.trim(); });
                return;
            case 5:
                try_to([&] { pmem_.sync(); });
                return;
            case 6:
                try_to([&] { pmem_.compact(); });
                return;
            case 7:
                return list(own);
            case 8:
                return act_on_frozen();
            case 9:
                if (random_() % 8 != 0) return;
                for (const auto& damage : pmem_.verify())
                    fail(damage.id + " is called damaged: " + damage.what);
                return;
            case 10:
                if (random_() % 8 != 0) return;
                try_to([&] { pmem_.munmap(); });
                open();
                return settle();
            default:
                look_at_all();
                return;
        }
    }

    // Nobody else stores or erases here.
    void list(const std::string& own) {
        std::vector<std::string> expected;
        for (std::size_t i = 0; i < values; ++i) {
            const std::uint64_t state = ledger_->value[me_][i].acknowledged;
            if (state != 0) expected.push_back(name(me_, i, state));
        }
        std::sort(expected.begin(), expected.end());
        if (pmem_.ids(own + "/") != expected) fail("a list of its values is wrong");
    }

    void look_at_all() {
        for (const std::string& id : pmem_.ids()) {
            try {
                pmem_.info(id);
                pmem_.attributes(id);
            } catch (const Error& error) {
                if (error.kind() != Code::not_found) fail(id + ": " + error.what());
            }
        }
    }

    // An array that is stored to where it lies, and is within the promise from then on.
    void act_on_frozen() {
        const std::string id = "frozen" + std::to_string(me_);
        if (pmem_.exists(id) && !try_to([&] { pmem_.erase(id); })) return;
        pmemcpy::ArrayOptions options;
        options.contiguous = true;
        const Words data = content(me_, ++next_, columns);
        if (!try_to([&] { pmem_.alloc<std::uint64_t>(id, {columns}, options); })) return;
        {
            const auto view = pmem_.update<std::uint64_t>(id);
            std::copy(data.begin(), data.end(), view.begin());
        }
        pmem_.freeze(id);
        Words back(columns);
        pmem_.load(id, back.data(), Box{{0}, {columns}});
        if (back != data) fail(id + " is not what was put into it");
    }

    void act_on_attribute() {
        Track& attribute = ledger_->attribute[me_];
        const std::uint64_t before = attribute.acknowledged;
        if (before != 0 && random_() % 3 == 0)
            return track(attribute, 0, [&] { pmem_.remove_attribute(array(me_), "state"); });
        const std::uint64_t next = ++next_ + before;
        track(attribute, next,
              [&] { pmem_.set_attribute(array(me_), "state", content(me_, next, length_of(next))); });
    }

    // One row, or all of them by one store.
    void act_on_array() {
        const bool all = random_() % 4 == 0;
        const std::uint64_t first = all ? 0 : random_() % rows;
        const std::uint64_t count = all ? rows : 1;
        const std::uint64_t next = ledger_->row[me_][first].acknowledged + 1 + next_++ % 5;
        Words data(count * columns);
        for (std::uint64_t r = 0; r < count; ++r) {
            const Words row = content(me_, next, columns);
            std::copy(row.begin(), row.end(), data.begin() + static_cast<std::ptrdiff_t>(r * columns));
            ledger_->row[me_][first + r].intended = next;
        }
        const bool is_done = try_to([&] {
            pmem_.store(array(me_), data.data(), Box{{first, 0}, {count, columns}});
        });
        for (std::uint64_t r = first; r < first + count; ++r) {
            Track& row = ledger_->row[me_][r];
            if (is_done) {
                row.acknowledged = next;
            } else {
                row.intended = row.acknowledged.load();
            }
        }
    }

    void append() {
        const std::uint64_t length = ledger_->log[me_].acknowledged;
        if (length >= 400) return;
        const Words row = content(me_, length + 1, columns);
        track(ledger_->log[me_], length + 1, [&] {
            pmem_.store(log(me_), row.data(), Box{{length, 0}, {1, columns}});
        });
    }

    void act_in_step() {
        const std::uint64_t step = pmem_.info().committed_step + 1;
        if (!try_to([&] { pmem_.begin(step); })) return;
        const bool is_stored = try_to([&] {
            pmem_.store("step/a", content(0, step, length_of(step)));
            pmem_.store("step/b", content(0, step, length_of(step + 1)));
        });
        if (is_stored) track(ledger_->step, step, [&] { pmem_.commit(step); });
        if (ledger_->step.acknowledged != step) {
            while (!try_to([&] { pmem_.abandon(); })) {
            }
        }
    }

    // ---- looking: at one's own things and at those of others, in the middle of what they do ----

    std::uint64_t check(std::size_t who, const Words& words, const std::string& what,
                        std::uint64_t more = 0) {
        if (words.empty()) return fail(what + " is empty"), 0;
        if (!is_content(words, who, words[0], length_of(words[0] + more)))
            fail(what + " of state " + std::to_string(words[0]) + " is torn or foreign");
        return words[0];
    }

    std::uint64_t find_value(std::size_t who, std::size_t i) {
        std::uint64_t found = 0;
        for (const std::uint64_t which : {0U, 1U}) {
            const std::string id = name(who, i, which);
            try {
                const std::uint64_t state = check(who, pmem_.load<Words>(id), id);
                if (who == me_ && found != 0) fail(id + " has both names");
                found = state / 2 * 2 + which;
            } catch (const Error& error) {
                if (error.kind() != Code::not_found) fail(id + ": " + error.what());
            }
        }
        return found;
    }

    std::uint64_t find_attribute(std::size_t who) {
        try {
            return check(who, pmem_.get_attribute<Words>(array(who), "state"), "attribute");
        } catch (const Error& error) {
            if (error.kind() != Code::not_found) fail(std::string("attribute: ") + error.what());
            return 0;
        }
    }

    std::uint64_t find_row(std::size_t who, std::uint64_t r) {
        Words row(columns);
        try {
            pmem_.load(array(who), row.data(), Box{{r, 0}, {1, columns}});
        } catch (const Error& error) {
            if (error.kind() != Code::not_found) fail(std::string("row: ") + error.what());
            return 0;
        }
        if (row != content(who, row[0], columns))
            fail("row of state " + std::to_string(row[0]) + " is torn or foreign");
        return row[0];
    }

    void check_log(std::size_t who) {
        const std::uint64_t length = pmem_.load_dims(log(who))[0];
        if (length == 0) return;
        const std::uint64_t r = random_() % length;
        Words row(columns);
        pmem_.load(log(who), row.data(), Box{{r, 0}, {1, columns}});
        if (row != content(who, r + 1, columns))
            fail("row " + std::to_string(r) + " of a log is torn or foreign");
    }

    // What is committed: both or none.
    std::uint64_t find_step() {
        for (int attempt = 0;; ++attempt) {
            const std::uint64_t before = pmem_.info().committed_step;
            std::uint64_t a = 0, b = 0;
            try {
                a = check(0, pmem_.load<Words>("step/a"), "step/a");
                b = check(0, pmem_.load<Words>("step/b"), "step/b", 1);
            } catch (const Error& error) {
                if (error.kind() != Code::not_found || before != 0)
                    fail(std::string("step: ") + error.what());
            }
            if (pmem_.info().committed_step != before) continue;
            if (a != b || a != before)
                fail("half a step: " + std::to_string(a) + " and " + std::to_string(b) + " at " +
                     std::to_string(before));
            return a;
        }
    }

    void look(std::size_t who) {
        try {
            switch (random_() % 6) {
                case 0:
                    find_attribute(who);
                    return;
                case 1:
                    find_row(who, random_() % rows);
                    return;
                case 2:
                    check_log(who);
                    return;
                case 3:
                    if (random_() % 8 == 0) find_step();
                    return;
                case 4: {
                    const auto view =
                        pmem_.view<std::uint64_t>(array(who), Box{{random_() % rows, 0}, {1, columns}});
                    const Words first(view.begin(), view.end());
                    if (first != content(who, first[0], columns)) fail("a view is torn or foreign");
                    if (random_() % 4 == 0) sleep_us(200);
                    if (!std::equal(view.begin(), view.end(), first.begin())) fail("a view has changed");
                    return;
                }
                default:
                    find_value(who, random_() % values);
                    return;
            }
        } catch (const Error& error) {
            if (error.kind() != Code::not_found) fail(std::string("looking: ") + error.what());
        }
    }

    Shared<Ledger> ledger_;
    const std::string pool_;
    const std::size_t me_;
    const std::size_t crowd_;
    std::mt19937_64 random_;
    std::uint64_t next_ = 0;
    PMEM pmem_;
};

}  // namespace processes
