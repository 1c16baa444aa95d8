#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <pmemcpy/buckets.hpp>
#include <string>
#include <vector>

#include "buckets/format.hpp"
#include "buckets/runs.hpp"
#include "members/members.hpp"

namespace pmemcpy::buckets {

/// The words of a file of buckets, and what may become of them.
class Pool {
public:
    static std::shared_ptr<Pool> create(const std::string& path, const BucketOptions& options);
    static std::shared_ptr<Pool> open(const std::string& path);
    explicit Pool(members::Members members);

    const members::Members& members() const { return members_; }
    const Layout& layout() const { return layout_; }
    void prepare();

    /// Puts as many as `bytes` need into `held`; false, and none, if there are not so many.
    bool acquire(std::uint64_t bytes, Region region, Buckets& held) {
        const std::uint64_t want = buckets_for(bytes);
        const members::Word filling{.state = static_cast<std::uint8_t>(BucketState::filling),
                                    .place = static_cast<std::uint8_t>(region)};
        const std::uint64_t as = filling.packed() | mine_;
        if (const auto first = runs_.take_kept(want, as)) {
            const auto count = static_cast<std::uint32_t>(want);
            held.first_ = {bucket(*first), *first, count};
            held.is_run_ = true;
            return true;
        }
        return take_slowly(want, members::Word::of(as), held);
    }
    void take(std::span<const BucketId> ids, Buckets& held);
    void release(std::uint32_t first, std::uint32_t count) noexcept {
        runs_.give_back({first, count}, members_.me());
    }

    /// What acquire() gave as one, and nobody has cut since.
    void release_run(std::uint32_t first, std::uint32_t count) noexcept {
        runs_.give_back_run({first, count}, mine_);
    }

    /// Of the buckets that this process holds, those that it has written to by write().
    std::uint64_t written_bytes() const {
        return written_.load(std::memory_order_relaxed) * layout_.bucket_bytes;
    }
    void count_written(std::int64_t buckets) noexcept {
        written_.fetch_add(static_cast<std::uint64_t>(buckets), std::memory_order_relaxed);
    }
    BucketId id_of(std::uint32_t i) const { return {i, runs_.said_of(i).turn}; }
    // Of buckets that this process holds.
    void set_region(std::uint32_t first, std::uint32_t count, Region region) const;
    /// Before something is said of each of them.
    void cut(std::uint32_t first, std::uint32_t count) const { runs_.cut({first, count}); }
    void fill(std::uint32_t i, const Note& note) const;
    void offer(std::uint32_t i) const;

    std::vector<BucketInfo> list(const std::function<bool(const BucketInfo&)>& wanted) const;
    std::uint64_t count(const std::function<bool(BucketState, Region)>& wanted) const;
    std::uint64_t reclaim();
    bool discard(BucketId id);

private:
    // A division takes as long as all else does that is no CAS.
    std::uint64_t buckets_for(std::uint64_t bytes) const {
        const std::uint64_t before_last = bytes - (bytes != 0 ? 1U : 0U);
        return (has_shift_ ? before_last >> shift_ : before_last / layout_.bucket_bytes) + 1;
    }
    std::byte* bucket(std::uint32_t i) const {
        return members_.base() + layout_.data + i * layout_.bucket_bytes;
    }
    Note& note(std::uint32_t i) const {
        return *reinterpret_cast<Note*>(members_.base() + layout_.notes + i * sizeof(Note));
    }
    [[gnu::noinline]] bool take_slowly(std::uint64_t want, const members::Word& as, Buckets& held);
    struct Taken {
        std::uint32_t index;
        members::Word before, as;
    };
    void part_left_behind(std::uint32_t i, members::Roll& roll) const;
    std::optional<members::Word> find_for(const BucketId& id, members::Roll& roll) const;
    std::optional<Taken> take_one(const BucketId& id, members::Roll& roll) const;
    members::Word checked(std::uint32_t i) const;
    members::Word said_of(std::uint32_t i) const;
    void change_own(std::uint32_t i, const std::function<void(members::Word&)>& change) const;
    BucketInfo describe(std::uint32_t i, const members::Word& word, members::Roll& roll) const;
    bool is_gone(const members::Word& word, members::Roll& roll) const;

    members::Members members_;
    Layout layout_;
    Runs runs_;
    std::uint64_t mine_;  // in a word, whom it belongs to
    bool has_shift_;      // buckets of 2^shift_ bytes
    int shift_;
    std::atomic<std::uint64_t> written_ = 0;  // buckets
};

}  // namespace pmemcpy::buckets
