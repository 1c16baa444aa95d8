#include "members/claims.hpp"

#include <algorithm>
#include <bit>

namespace pmemcpy::members {

Claims::Claims(std::byte* hints, std::byte* words, std::uint64_t stride, std::uint32_t count,
               std::uint64_t number)
    : hints_(hints), words_(words), stride_(stride), count_(count), hint_words_(bit_words(count)) {
    for (std::uint64_t i = 0; i < cursors_.size(); ++i)
        cursors_[i].at = place_to_begin(number, i, cursors_.size(), hint_words_);
}

void Claims::set_up() {
    for (std::uint64_t at = 0; at < hint_words_; ++at)
        hint(at).store(low_bits(static_cast<std::uint32_t>(count_ - at * 64)));
}

bool Claims::try_take(std::uint32_t i, const Word& as) const {
    const Word found = load(i);
    if (found.state != 0) return false;
    Word mine = as;
    mine.turn = found.turn + 1;
    return change(i, found, mine);
}

// Who frees sets the word, and then the bit. If that came in between, its bit is put back.
void Claims::clear_hints(std::uint64_t at, std::uint64_t bits) const {
    hint(at).fetch_and(~bits);
    for (; bits != 0; bits &= bits - 1) {
        const auto i = static_cast<unsigned>(std::countr_zero(bits));
        if (load(static_cast<std::uint32_t>(at * 64 + i)).state == 0) hint(at).fetch_or(bit(i));
    }
}

std::optional<std::uint32_t> Claims::take_one(const Word& as) {
    const std::uint64_t first = cursor().load(std::memory_order_relaxed);
    for (std::uint64_t step = 0, at = first; step < hint_words_; ++step) {
        std::uint64_t bits = hint(at).load(std::memory_order_relaxed);
        for (; bits != 0; bits &= bits - 1) {
            const auto lowest = static_cast<unsigned>(std::countr_zero(bits));
            const auto i = static_cast<std::uint32_t>(at * 64 + lowest);
            if (i >= count_) break;  // bits that are nobody's
            const bool taken = try_take(i, as);
            clear_hints(at, bit(lowest));
            if (!taken) continue;
            if (at != first) cursor().store(at, std::memory_order_relaxed);
            return i;
        }
        if (++at == hint_words_) at = 0;
    }
    for (std::uint32_t i = 0; i < count_; ++i) {
        if (try_take(i, as)) return i;
    }
    return std::nullopt;
}

std::uint32_t Claims::take_of(std::uint64_t at, std::uint64_t candidates, std::uint32_t want, const Word& as,
                              std::vector<Run>& runs) const {
    std::uint32_t taken = 0;
    std::uint64_t tried = 0;
    for (; candidates != 0 && taken < want; candidates &= candidates - 1) {
        const auto lowest = static_cast<unsigned>(std::countr_zero(candidates));
        const auto i = static_cast<std::uint32_t>(at * 64 + lowest);
        if (i >= count_) break;
        tried |= bit(lowest);
        if (!try_take(i, as)) continue;
        append(runs, {i, 1});
        ++taken;
    }
    if (tried != 0) clear_hints(at, tried);
    return taken;
}

std::uint32_t Claims::take(std::uint32_t want, const Word& as, std::vector<Run>& runs) {
    const std::uint64_t home = cursor().load(std::memory_order_relaxed);
    constexpr std::uint64_t near = 16;  // words in which a row is looked for before pieces will do
    std::uint32_t taken = 0;
    if (want <= 64) {
        for (std::uint64_t step = 0; step < std::min(near, hint_words_) && taken == 0; ++step) {
            const std::uint64_t at = (home + step) % hint_words_;
            const auto row = row_of(hint(at).load(std::memory_order_relaxed), want);
            if (!row) continue;
            taken = take_of(at, low_bits(want) << *row, want, as, runs);
            if (step > 0) cursor().store(at, std::memory_order_relaxed);
        }
    }
    for (std::uint64_t step = 0; step < hint_words_ && taken < want; ++step) {
        const std::uint64_t at = (home + step) % hint_words_;
        taken += take_of(at, hint(at).load(std::memory_order_relaxed), want - taken, as, runs);
        // Or the next one would look through all these again.
        if (taken == want && step >= near) cursor().store(at, std::memory_order_relaxed);
    }
    for (std::uint32_t i = 0; i < count_ && taken < want; ++i) {
        if (!try_take(i, as)) continue;
        append(runs, {i, 1});
        ++taken;
    }
    return taken;
}

bool Claims::free(std::uint32_t i, const Word& from) {
    Word nobodys;
    nobodys.turn = from.turn;
    if (!change(i, from, nobodys)) return false;
    set_hints(i / 64, bit(i % 64));
    return true;
}

void Claims::set_hints(std::uint64_t at, std::uint64_t bits) {
    hint(at).fetch_or(bits);
    if (cursor().load(std::memory_order_relaxed) != at) cursor().store(at, std::memory_order_relaxed);
}

}  // namespace pmemcpy::members
