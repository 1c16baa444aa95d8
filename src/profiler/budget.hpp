#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include <pmemcpy/profile.hpp>

#include "profiler/measure.hpp"

namespace pmemcpy::profiler {

/// Errors: invalid_argument for options that make no sense.
void check(const ProfileOptions& options);

using Progress = std::function<void(const ProfileProgress&)>;

/// The time that there is for all, and who is told how it goes.
class Budget {
public:
    Budget(double seconds, const Progress& progress);
    /// For one of so many things that are still to be done: what one leaves the others have.
    std::uint64_t share_ns(std::size_t of) const;
    /// What to call while `path` is measured.
    Pulse pulse(const std::string& path);
    double seconds_left() const;

private:
    double seconds_;
    const Progress& progress_;
    std::uint64_t begin_ns_;
    std::uint64_t told_ns_ = 0;
};

}  // namespace pmemcpy::profiler
