#pragma once

#include <pmemcpy/error.hpp>

#include <string>
#include <string_view>
#include <thread>

namespace pmemcpy::store {

/// Counts how often something moved under a verb, so that it had to begin again. Each time somebody else has got on
/// with his work; but a damaged record would make a verb begin again for ever.
class Retry {
public:
    explicit Retry(std::string_view id) : id_(id) {}

    /// Errors: corrupt, when no amount of other people's work explains it any more.
    void again() {
        if (++tries_ < tries_before_yield) return;
        if (tries_ > most_tries) {
            throw Error(Code::corrupt,
                        "a record of '" + std::string(id_) + "' makes no sense; run pmemcpy verify");
        }
        std::this_thread::yield();
    }

private:
    static constexpr int tries_before_yield = 64;
    static constexpr int most_tries = 100'000;
    std::string_view id_;
    int tries_ = 0;
};

}  // namespace pmemcpy::store
