#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "members/members.hpp"
#include "members/run.hpp"
#include "members/word.hpp"

namespace pmemcpy::members {

/// Things that are taken and given back, each by one CAS on its word.
///
/// The word alone decides. Beside the words lies a bit for each, which says that the word is probably free: it spares looking, and who dies
/// between a word and its bit leaves no more than a bit that is wrong, which the next one who runs short puts right.
class Claims {
public:
    /// Words lie `stride` bytes apart; the bits are bytes_of_bits(count) at `hints`, both at multiples of 8.
    /// Processes with different `number`s begin to look at different places.
    Claims(std::byte* hints, std::byte* words, std::uint64_t stride, std::uint32_t count,
           std::uint64_t number = 0);
    /// All free, in memory that is zero.
    void set_up();

    std::uint32_t count() const { return count_; }
    std::atomic_ref<std::uint64_t> word(std::uint32_t i) const {
        return std::atomic_ref(*reinterpret_cast<std::uint64_t*>(words_ + i * stride_));
    }
    Word load(std::uint32_t i) const { return Word::of(word(i).load(std::memory_order_acquire)); }
    /// Makes `to` of `from`, unless it is something else by now.
    bool change(std::uint32_t i, const Word& from, const Word& to) const {
        std::uint64_t expected = from.packed();
        return word(i).compare_exchange_strong(expected, to.packed());
    }

    /// Takes one for `as`, whose turn is ignored. Nothing if all are taken.
    std::optional<std::uint32_t> take_one(const Word& as);
    /// Takes `want`, next to each other where that is to be had, and puts them behind `runs`. Less when there are no more; what was
    /// taken is the caller's then too.
    std::uint32_t take(std::uint32_t want, const Word& as, std::vector<Run>& runs);
    /// Frees one whose word is `from`; false if it is not.
    bool free(std::uint32_t i, const Word& from);

private:
    std::atomic_ref<std::uint64_t> hint(std::uint64_t i) const {
        return std::atomic_ref(*reinterpret_cast<std::uint64_t*>(hints_ + i * 8));
    }
    bool try_take(std::uint32_t i, const Word& as) const;
    void clear_hints(std::uint64_t at, std::uint64_t bits) const;
    void set_hints(std::uint64_t at, std::uint64_t bits);
    std::uint32_t take_of(std::uint64_t at, std::uint64_t candidates, std::uint32_t want, const Word& as,
                          std::vector<Run>& runs) const;

    // Where a thread looks first: where it found something last, or gave something back, which may still be in its cache.
    std::atomic<std::uint64_t>& cursor() { return cursors_[thread_number() % cursors_.size()].at; }
    struct alignas(64) Cursor {
        std::atomic<std::uint64_t> at{0};
    };

    std::byte* hints_;
    std::byte* words_;
    std::uint64_t stride_;
    std::uint32_t count_;
    std::uint64_t hint_words_;
    std::array<Cursor, 16> cursors_;
};

}  // namespace pmemcpy::members
