#pragma once

#include <cstdint>
#include <mutex>
#include <unordered_set>

#include "pool/pool.hpp"

namespace pmemcpy::store {

/// Blocks that somebody is copying to another target, by their version. One that is moved down and copied to the flush target at
/// the same time takes the bandwidth of both, and only one of them was needed. Other processes are told by a lock, so that a dead one is at
/// nothing. Any number of threads.
class InTransit {
public:
    explicit InTransit(pool::Pool& pool) : pool_(pool) {}

    /// As long as it lives.
    class Claim {
    public:
        Claim(InTransit& all, std::uint64_t version)
            : all_(all), version_(version), lock_(all.pool_, version), is_first_here_(all.add(version)) {}
        ~Claim() {
            const std::lock_guard lock(all_.mutex_);
            all_.versions_.erase(all_.versions_.find(version_));
        }
        Claim(const Claim&) = delete;
        Claim& operator=(const Claim&) = delete;
        /// Nobody else was at it.
        bool is_first() const { return is_first_here_ && lock_; }

    private:
        InTransit& all_;
        std::uint64_t version_;
        pool::Pool::TransitLock lock_;  // which threads of one Store share
        bool is_first_here_;
    };
    bool has(std::uint64_t version) const {
        {
            const std::lock_guard lock(mutex_);
            if (versions_.contains(version)) return true;
        }
        return pool_.is_in_transit(version);
    }

private:
    /// False if it was there.
    bool add(std::uint64_t version) {
        const std::lock_guard lock(mutex_);
        const bool is_first = !versions_.contains(version);
        versions_.insert(version);
        return is_first;
    }

    pool::Pool& pool_;
    mutable std::mutex mutex_;
    std::unordered_multiset<std::uint64_t> versions_;
};

}  // namespace pmemcpy::store
