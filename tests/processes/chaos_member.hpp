#pragma once

// One of the processes that do everything at once while some of them are killed, or stopped for a while.

#include <algorithm>

#include "chaos_looks.hpp"

namespace processes {

class Member : protected Looker {
public:
    Member(const std::string& pool, const std::string& ledger, std::size_t me, std::uint64_t seed)
        : Looker(ledger, me, seed), pool_(pool), crowd_(ledger_->writers) {
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

    void open() {
        Options options;
        if (reads_only()) options.mode = pmemcpy::Mode::read;
        while (!try_to([&] { pmem_.mmap(pool_, options); })) {
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

    const std::string pool_;
    const std::size_t crowd_;
    std::uint64_t next_ = 0;
};

}  // namespace processes
