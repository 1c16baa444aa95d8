#pragma once

// What the processes of the chaos tests write down outside of the pool: what each is about to do, and what it was told is done. Whatever
// is found afterwards must be one of the two; and how it is found.

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

/// What a process finds of its own things and of those of others, in the middle of what they do.
class Looker {
protected:
    Looker(const std::string& ledger, std::size_t me, std::uint64_t seed)
        : ledger_(ledger), me_(me), random_(seed) {}

    static std::string name(std::size_t who, std::size_t i, std::uint64_t state) {
        return "p" + std::to_string(who) + (state % 2 == 0 ? "/v" : "/w") + std::to_string(i);
    }
    static std::string array(std::size_t who) { return "a" + std::to_string(who); }
    static std::string log(std::size_t who) { return "log" + std::to_string(who); }

    void fail(const std::string& what) {
        if (ledger_->failures.fetch_add(1) == 0) {
            const std::string text = "process " + std::to_string(me_) + ": " + what;
            text.copy(ledger_->message, sizeof ledger_->message - 1);
        }
    }

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
    const std::size_t me_;
    std::mt19937_64 random_;
    PMEM pmem_;
};

}  // namespace processes
