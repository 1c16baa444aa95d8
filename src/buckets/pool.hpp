#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <pmemcpy/buckets.hpp>
#include <string>
#include <vector>

#include "buckets/format.hpp"
#include "members/claims.hpp"
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
    bool acquire(std::uint64_t bytes, Region region, Buckets& held);
    void take(std::span<const BucketId> ids, Buckets& held);
    void release(std::uint32_t first, std::uint32_t count) noexcept;

    /// By this process, through this object.
    std::uint64_t held_bytes() const { return held_.load(std::memory_order_relaxed) * layout_.bucket_bytes; }
    BucketId id_of(std::uint32_t i) const { return {i, claims_.load(i).turn}; }
    // Of a bucket that this process holds.
    void fill(std::uint32_t i, const Note& note) const;
    void set_region(std::uint32_t i, Region region) const;
    void offer(std::uint32_t i) const;

    std::vector<BucketInfo> list(const std::function<bool(const BucketInfo&)>& wanted) const;
    std::uint64_t count(const std::function<bool(const members::Word&)>& wanted) const;
    std::uint64_t reclaim();
    bool discard(BucketId id);

private:
    members::Word mine(Region region, BucketState state) const;
    members::Word checked(std::uint32_t i) const;
    void change_own(std::uint32_t i, const std::function<void(members::Word&)>& change) const;
    BucketInfo describe(std::uint32_t i, const members::Word& word, members::Roll& roll) const;
    std::byte* bucket(std::uint32_t i) const;
    bool is_gone(const members::Word& word, members::Roll& roll) const;
    void hold(Buckets& held, members::Run run) const;

    members::Members members_;
    Layout layout_;
    members::Claims claims_;
    mutable std::atomic<std::uint64_t> held_ = 0;  // buckets
};

}  // namespace pmemcpy::buckets
