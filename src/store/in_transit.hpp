#pragma once

#include <cstdint>
#include <mutex>
#include <unordered_set>

namespace pmemcpy::store {

/// Blocks that this process is copying to another target, by their version. One that is moved down and copied to the flush target at
/// the same time takes the bandwidth of both, and only one of them was needed. Any number of threads.
class InTransit {
public:
    /// As long as it lives.
    class Claim {
    public:
        Claim(InTransit& all, std::uint64_t version) : all_(all), version_(version) {
            const std::lock_guard lock(all_.mutex_);
            is_first_ = !all_.versions_.contains(version_);
            all_.versions_.insert(version_);
        }
        ~Claim() {
            const std::lock_guard lock(all_.mutex_);
            all_.versions_.erase(all_.versions_.find(version_));
        }
        Claim(const Claim&) = delete;
        Claim& operator=(const Claim&) = delete;
        /// Nobody else was at it.
        bool is_first() const { return is_first_; }

    private:
        InTransit& all_;
        std::uint64_t version_;
        bool is_first_ = false;
    };
    bool has(std::uint64_t version) const {
        const std::lock_guard lock(mutex_);
        return versions_.contains(version);
    }

private:
    mutable std::mutex mutex_;
    std::unordered_multiset<std::uint64_t> versions_;
};

}  // namespace pmemcpy::store
