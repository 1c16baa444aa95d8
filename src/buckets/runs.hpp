#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "buckets/format.hpp"
#include "members/members.hpp"
#include "members/run.hpp"
#include "members/word.hpp"

namespace pmemcpy::buckets {

/// Buckets that are taken and given back: those that lie next to each other as one, by one CAS on the word of the first.
///
/// The others of a run say that they follow. Who owns a run makes it of single buckets, from its first on, and cuts it, from its last on, by
/// storing one word after another: at each instant each bucket is his, by its own word or by the one that it follows, and has the same turn.
/// So a death in between leaves runs of other lengths, and nothing else.
///
/// The words decide. Which are free is probably known by a bit for each (who runs short looks at the words), and by what this process has
/// given back last, with its turn: the word of a free run says how long it is and what its turn is, so one CAS asks for both.
class Runs {
public:
    /// Processes with different `number`s begin to look at different places.
    Runs(std::byte* bits, std::byte* words, std::uint32_t count, std::uint64_t number = 0);
    /// All free, in memory that is zero.
    void set_up();

    std::atomic_ref<std::uint64_t> word(std::uint32_t i) const {
        return std::atomic_ref(*reinterpret_cast<std::uint64_t*>(words_ + i * sizeof(std::uint64_t)));
    }
    members::Word load(std::uint32_t i) const {
        return members::Word::of(word(i).load(std::memory_order_acquire));
    }
    /// Makes `to` of `from`, of the bucket and of what follows it, unless it is something else by now.
    bool change(std::uint32_t i, const members::Word& from, const members::Word& to) const {
        std::uint64_t expected = from.packed();
        return word(i).compare_exchange_strong(expected, to.packed());
    }
    static bool follows(const members::Word& word) { return word.state == state_follows; }
    /// The first of the run, as it seems now.
    std::uint32_t first_of(std::uint32_t i) const;
    /// How many the run has, which the caller owns or which nobody changes.
    std::uint32_t length(std::uint32_t first) const;
    /// What is said of a bucket, with its own turn.
    members::Word said_of(std::uint32_t i) const;

    /// Takes a run of so many that was given back here, for the packed `as`, whose turn is 0. Nothing if there is none.
    std::optional<std::uint32_t> take_kept(std::uint64_t want, std::uint64_t as) {
        if (want > longest_run) return std::nullopt;
        const auto n = static_cast<std::uint32_t>(want);
        Kept& kept = this->kept();
        while (const std::uint64_t entry = kept.pop(n)) {
            const auto turn = static_cast<std::uint32_t>(entry);
            const auto i = static_cast<std::uint32_t>(entry >> 32) - 1;
            std::uint64_t free = free_word(n, turn).packed();
            if (word(i).compare_exchange_strong(free, as | (turn + 1))) return i;
        }
        return std::nullopt;
    }
    struct Taken {
        std::uint32_t count = 0;
        bool is_settled = true;  ///< false: some were just being given back
    };
    /// Takes `want` single ones of any runs, next to each other where that is to be had, and puts them behind `runs`. Less when there are no
    /// more; what was taken is the caller's then too.
    Taken take(std::uint32_t want, const members::Word& as, std::vector<members::Run>& runs);
    /// Makes as few runs as can be of single ones, all the caller's and in the same state.
    void join(const members::Run& piece) const;
    /// Makes single ones of runs that are the caller's.
    void cut(const members::Run& piece) const;
    /// The same of one run, in the state and the owner of `as`.
    void cut_run(std::uint32_t first, std::uint32_t n, const members::Word& as) const;
    /// Frees those that are `owner`'s, who calls this: nobody else may change their words while he lives. They are runs afterwards.
    void give_back(const members::Run& piece, const members::Owner& owner);
    /// The same of what take_kept() gave to whom `owner` is in a word, and nobody has cut since.
    void give_back_run(const members::Run& run, std::uint64_t owner) {
        const std::uint64_t head = word(run.first).load(std::memory_order_relaxed);
        const members::Word said = members::Word::of(head);
        const bool is_his = (head & members::Word::owner_bits()) == owner;
        if (is_his && said.state != 0 && !follows(said)) free_run(run.first, run.count, said.turn);
    }
    /// Frees a single one whose word is `from`; false if it is not.
    bool free(std::uint32_t i, const members::Word& from) const;

private:
    /// What a thread has given back last, of each length: the index and 1, and the turn. Threads may share one; who mixes up entries of
    /// others finds that their turn is over.
    struct alignas(64) Kept {
        static constexpr std::uint32_t short_run = 8, of_short = 64, of_long = 8;
        std::atomic<std::uint64_t> cursor{0};  // where something was found last
        std::array<std::atomic<std::uint32_t>, longest_run + 1> ends{};
        std::array<std::atomic<std::uint64_t>, short_run * of_short + (longest_run - short_run) * of_long>
            entries{};

        std::atomic<std::uint64_t>& entry(std::uint32_t length, std::uint32_t n) {
            return length <= short_run
                       ? entries[(length - 1) * of_short + n % of_short]
                       : entries[short_run * of_short + (length - short_run - 1) * of_long + n % of_long];
        }
        void push(std::uint32_t length, std::uint32_t i, std::uint32_t turn) {
            const std::uint32_t end = ends[length].load(std::memory_order_relaxed);
            entry(length, end).store((std::uint64_t{i} + 1) << 32 | turn, std::memory_order_relaxed);
            ends[length].store(end + 1, std::memory_order_relaxed);
        }
        std::uint64_t pop(std::uint32_t length) {
            const std::uint32_t last = ends[length].load(std::memory_order_relaxed) - 1;
            std::atomic<std::uint64_t>& place = entry(length, last);
            const std::uint64_t found = place.load(std::memory_order_relaxed);
            if (found == 0) return 0;
            place.store(0, std::memory_order_relaxed);
            ends[length].store(last, std::memory_order_relaxed);
            return found;
        }
    };
    static constexpr std::size_t kept_count = 16;
    Kept& kept() { return kept_[members::thread_number() % kept_count]; }

    std::atomic_ref<std::uint64_t> bits(std::uint64_t at) const {
        return std::atomic_ref(*reinterpret_cast<std::uint64_t*>(bits_ + at * 8));
    }
    void store(std::uint32_t i, const members::Word& to) const {
        word(i).store(to.packed(), std::memory_order_release);
    }
    std::uint32_t end_of_block(std::uint32_t i) const { return std::min((i | 63U) + 1, count_); }
    static bool is_of(const members::Word& word, const members::Owner& owner) {
        return word.state != 0 && !follows(word) && word.owner == owner;
    }
    /// Of one that leads so many, with itself.
    static members::Word free_word(std::uint32_t n, std::uint32_t turn) {
        members::Word word;
        word.owner.life = n - 1;
        word.turn = turn;
        return word;
    }
    void free_run(std::uint32_t first, std::uint32_t n, std::uint32_t turn) {
        store(first, free_word(n, turn));
        kept().push(n, first, turn);
        set(first, n);
    }
    // Of what is taken and given back as it is the bits stay set, so they mostly need only be looked at.
    void set(std::uint32_t first, std::uint32_t n) const {
        const std::uint64_t all = members::low_bits(n) << first % 64;
        if ((bits(first / 64).load() & all) != all) bits(first / 64).fetch_or(all);
    }
    void clear(std::uint64_t at, std::uint64_t wrong) const;
    std::uint64_t taken_of(std::uint64_t at, std::uint64_t row) const;
    std::uint32_t take_run(std::uint32_t i, const members::Word& found, std::uint32_t most,
                           const members::Word& as) const;
    std::uint32_t take_of(std::uint64_t at, std::uint64_t candidates, std::uint32_t want,
                          const members::Word& as, std::vector<members::Run>& runs) const;
    std::uint32_t take_row(std::uint64_t at, std::uint32_t want, const members::Word& as,
                           std::vector<members::Run>& runs) const;
    void attach(std::uint32_t i, std::uint32_t turn) const;
    void join_within(std::uint32_t first, std::uint32_t end) const;

    std::byte* bits_;
    std::byte* words_;
    std::uint32_t count_;
    std::uint64_t bit_words_;
    std::unique_ptr<Kept[]> kept_;
};

}  // namespace pmemcpy::buckets
