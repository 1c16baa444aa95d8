#include "buckets/runs.hpp"

#include <algorithm>
#include <bit>
#include <pmemcpy/buckets.hpp>

namespace pmemcpy::buckets {

using members::append;
using members::bit;
using members::low_bits;
using members::Owner;
using members::Run;
using members::Word;

namespace {

Word with_turn(Word word, std::uint32_t turn) {
    word.turn = turn;
    return word;
}

}  // namespace

Runs::Runs(std::byte* bits, std::byte* words, std::uint32_t count, std::uint64_t number)
    : bits_(bits),
      words_(words),
      count_(count),
      bit_words_(members::bit_words(count)),
      kept_(std::make_unique<Kept[]>(kept_count)) {
    for (std::uint64_t i = 0; i < kept_count; ++i)
        kept_[i].cursor = members::place_to_begin(number, i, kept_count, bit_words_);
}

void Runs::set_up() {
    for (std::uint64_t at = 0; at < bit_words_; ++at)
        bits(at).store(low_bits(static_cast<std::uint32_t>(count_ - at * 64)));
}

std::uint32_t Runs::first_of(std::uint32_t i) const {
    while (i % longest_run != 0 && follows(load(i))) --i;
    return i;
}

std::uint32_t Runs::length(std::uint32_t first) const {
    const std::uint32_t end = end_of_block(first);
    std::uint32_t i = first + 1;
    while (i < end && follows(load(i))) ++i;
    return i - first;
}

// A run that is another between two looks has another first word, or other words that follow; or its owner did not change.
Word Runs::said_of(std::uint32_t i) const {
    for (;;) {
        const Word own = load(i);
        if (!follows(own)) return own;
        const std::uint32_t first = first_of(i);
        const Word head = load(first);
        if (follows(head) && first % longest_run == 0) return own;  // it makes no sense
        bool is_same = !follows(head) && load(i) == own;
        for (std::uint32_t k = first + 1; k < i; ++k) is_same = is_same && follows(load(k));
        if (is_same && load(first) == head) return with_turn(head, head.turn + own.turn);
    }
}

// Who frees sets the word, and then looks at the bit. If that came in between, the bit is put back.
void Runs::clear(std::uint64_t at, std::uint64_t wrong) const {
    bits(at).fetch_and(~wrong);
    std::uint64_t right = 0;
    for (; wrong != 0; wrong &= wrong - 1) {
        const auto lowest = static_cast<unsigned>(std::countr_zero(wrong));
        if (said_of(static_cast<std::uint32_t>(at * 64 + lowest)).state == 0) right |= bit(lowest);
    }
    if (right != 0) bits(at).fetch_or(right);
}

/// Those of a row that are not free, or not by a word of the row.
std::uint64_t Runs::taken_of(std::uint64_t at, std::uint64_t row) const {
    bool is_free = false;
    std::uint64_t taken = 0;
    for (; row != 0; row &= row - 1) {
        const auto lowest = static_cast<unsigned>(std::countr_zero(row));
        const Word found = load(static_cast<std::uint32_t>(at * 64 + lowest));
        if (!follows(found)) is_free = found.state == 0;
        if (!is_free) taken |= bit(lowest);
    }
    return taken;
}

/// Takes the first ones of a run, `most` at most. Who takes one that is longer owns more than he wants for a moment, and says so.
std::uint32_t Runs::take_run(std::uint32_t i, const Word& found, std::uint32_t most, const Word& as) const {
    if (found.state != 0) return 0;
    const std::uint32_t n = length(i);
    Word mine = with_turn(as, found.turn + 1);
    if (n > most) mine.state = state_parting;
    if (!change(i, found, mine)) return 0;
    cut_run(i, n, mine);
    if (n <= most) return n;
    join_within(i + most, i + n);
    store(i + most, free_word(n - most, load(i + most).turn));
    set(i + most, n - most);
    for (std::uint32_t k = i; k < i + most; ++k) store(k, with_turn(as, load(k).turn));
    return most;
}

std::uint32_t Runs::take_of(std::uint64_t at, std::uint64_t candidates, std::uint32_t want, const Word& as,
                            std::vector<Run>& runs) const {
    std::uint32_t taken = 0;
    std::uint64_t tried = 0;
    while (candidates != 0 && taken < want) {
        const auto lowest = static_cast<unsigned>(std::countr_zero(candidates));
        const auto i = static_cast<std::uint32_t>(at * 64 + lowest);
        if (i >= count_) break;  // bits that are nobody's
        const std::uint32_t n = take_run(i, load(i), want - taken, as);
        const std::uint64_t these = low_bits(std::max(n, 1U)) << lowest;
        candidates &= ~these;
        tried |= these;
        if (n == 0) continue;
        append(runs, {i, n});
        taken += n;
    }
    if (tried != 0) clear(at, tried);
    return taken;
}

std::uint32_t Runs::take_row(std::uint64_t at, std::uint32_t want, const Word& as,
                             std::vector<Run>& runs) const {
    std::uint64_t free = bits(at).load(std::memory_order_relaxed);
    if (bit_words_ == at + 1 && count_ % 64 != 0) free &= low_bits(count_ % 64);
    while (const auto row = members::row_of(free, want)) {
        const std::uint64_t all = low_bits(want) << *row;
        const std::uint64_t wrong = taken_of(at, all);
        if (wrong == 0) return take_of(at, all, want, as, runs);
        clear(at, wrong);
        free &= ~wrong;
    }
    return 0;
}

Runs::Taken Runs::take(std::uint32_t want, const Word& as, std::vector<Run>& runs) {
    std::atomic<std::uint64_t>& cursor = kept().cursor;
    const std::uint64_t home = cursor.load(std::memory_order_relaxed);
    constexpr std::uint64_t near = 16;  // words in which a row is looked for before pieces will do
    Taken taken;
    if (want <= longest_run) {
        for (std::uint64_t step = 0; step < std::min(near, bit_words_) && taken.count == 0; ++step) {
            const std::uint64_t at = (home + step) % bit_words_;
            taken.count = take_row(at, want, as, runs);
            if (taken.count != 0 && step > 0) cursor.store(at, std::memory_order_relaxed);
        }
    }
    for (std::uint64_t step = 0; step < bit_words_ && taken.count < want; ++step) {
        const std::uint64_t at = (home + step) % bit_words_;
        const std::uint64_t free = bits(at).load(std::memory_order_relaxed);
        taken.count += take_of(at, free, want - taken.count, as, runs);
        // Or the next one would look through all these again.
        if (taken.count == want && step >= near) cursor.store(at, std::memory_order_relaxed);
    }
    for (std::uint32_t i = 0; i < count_ && taken.count < want; ++i) {
        const std::uint32_t n = take_run(i, load(i), want - taken.count, as);
        if (n == 0) {
            if (load(i).state == state_parting) taken.is_settled = false;
            continue;
        }
        append(runs, {i, n});
        taken.count += n;
    }
    return taken;
}

/// Makes a single one follow a word with that turn.
void Runs::attach(std::uint32_t i, std::uint32_t turn) const {
    Word word;
    word.state = state_follows;
    word.turn = load(i).turn - turn;
    store(i, word);
}

void Runs::join_within(std::uint32_t first, std::uint32_t end) const {
    const std::uint32_t turn = load(first).turn;
    for (std::uint32_t i = first + 1; i < end; ++i) attach(i, turn);
}

void Runs::join(const Run& piece) const {
    const std::uint32_t end = piece.first + piece.count;
    for (std::uint32_t i = piece.first; i < end; i = end_of_block(i))
        join_within(i, std::min(end, end_of_block(i)));
}

void Runs::cut_run(std::uint32_t first, std::uint32_t n, const Word& as) const {
    const std::uint32_t turn = load(first).turn;
    for (std::uint32_t i = first + n - 1; i > first; --i) store(i, with_turn(as, turn + load(i).turn));
    store(first, with_turn(as, turn));
}

void Runs::cut(const Run& piece) const {
    const std::uint32_t end = piece.first + piece.count;
    for (std::uint32_t first = piece.first, n = 0; first < end; first += n) {
        n = std::min(length(first), end - first);
        if (n > 1) cut_run(first, n, load(first));
    }
}

void Runs::give_back(const Run& piece, const Owner& owner) {
    for (std::uint32_t first = piece.first, end = piece.first + piece.count, i = 0; first < end; first = i) {
        Word head = load(first);
        i = first + 1;
        // It is another's only if somebody has scribbled over the word; then it is not to be freed.
        if (!is_of(head, owner)) continue;
        const std::uint32_t last = std::min(end, end_of_block(first));
        while (i < last && follows(load(i))) ++i;
        // What he has cut is one run again, so that it can be taken as one.
        for (; i < last && is_of(load(i), owner) && length(i) == 1; ++i) {
            head.state = static_cast<std::uint8_t>(BucketState::filling);
            store(first, head);
            attach(i, head.turn);
        }
        free_run(first, i - first, head.turn);
    }
}

bool Runs::free(std::uint32_t i, const Word& from) const {
    if (!change(i, from, free_word(1, from.turn))) return false;
    set(i, 1);
    return true;
}

}  // namespace pmemcpy::buckets
