#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>

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
            : all_(all), version_(version), is_first_(all.add(version)) {}
        ~Claim() { all_.remove(version_); }
        Claim(const Claim&) = delete;
        Claim& operator=(const Claim&) = delete;
        /// Nobody else was at it.
        bool is_first() const { return is_first_; }

    private:
        InTransit& all_;
        std::uint64_t version_;
        bool is_first_;
    };
    bool has(std::uint64_t version) const {
        {
            const std::lock_guard lock(mutex_);
            if (held_.contains(version)) return true;
        }
        return pool_.is_in_transit(version);
    }

private:
    /// By all threads that claim it together, so that none who comes second takes it along when he leaves.
    struct Held {
        std::size_t claims;
        std::unique_ptr<pool::Pool::TransitLock> lock;
    };

    bool add(std::uint64_t version) {
        const std::lock_guard lock(mutex_);
        if (const auto at = held_.find(version); at != held_.end()) {
            ++at->second.claims;
            return false;
        }
        auto taken = std::make_unique<pool::Pool::TransitLock>(pool_, version);
        const bool is_first = static_cast<bool>(*taken);
        held_.emplace(version, Held{1, std::move(taken)});
        return is_first;
    }
    void remove(std::uint64_t version) {
        const std::lock_guard lock(mutex_);
        const auto at = held_.find(version);
        if (--at->second.claims == 0) held_.erase(at);
    }

    pool::Pool& pool_;
    mutable std::mutex mutex_;
    std::unordered_map<std::uint64_t, Held> held_;
};

}  // namespace pmemcpy::store
