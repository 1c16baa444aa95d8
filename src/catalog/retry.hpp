#pragma once

#include "os/process.hpp"

#include <pmemcpy/error.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace pmemcpy::catalog {

/// Counts how often something moved under a verb, so that it had to begin again. Each time somebody else has got on
/// with his work; but a damaged record would make a verb begin again for ever.
class Retry {
public:
    explicit Retry(std::string_view id) : id_(id) {}

    /// False when no amount of other people's work explains it any more.
    bool once_more() {
        if (++tries_ < tries_before_yield) return true;
        const std::uint64_t now = os::monotonic_ns();
        if (tries_ == tries_before_yield) since_ns_ = now;
        // On a machine that is busy otherwise each yield takes long, so that a number of tries alone is no limit; and
        // on one that is not, whoever waits this long gains nothing by asking thousands of times.
        if (tries_ > tries_for_long && now - since_ns_ > long_enough_ns) return false;
        if (tries_ <= tries_before_sleep) {
            os::yield();
        } else {
            os::sleep_ns(nap_ns);
        }
        return true;
    }
    /// Errors: corrupt, when once_more() says no.
    void again() {
        if (once_more()) return;
        throw Error(Code::corrupt,
                    "the records of '" + std::string(id_) + "' make no sense; run pmemcpy verify");
    }

private:
    static constexpr int tries_before_yield = 64;
    static constexpr int tries_before_sleep = 192;
    static constexpr int tries_for_long = 256;
    static constexpr std::uint64_t nap_ns = 100'000;
    static constexpr std::uint64_t long_enough_ns = 50'000'000;
    std::string_view id_;
    int tries_ = 0;
    std::uint64_t since_ns_ = 0;
};

}  // namespace pmemcpy::catalog
