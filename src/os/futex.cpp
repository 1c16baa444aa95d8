#include "os/futex.hpp"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <ctime>

#include <linux/futex.h>

#include "os/calls.hpp"
#include "os/process.hpp"

namespace pmemcpy::os {

Woken wait_on(const std::uint32_t* word, std::uint32_t expected, std::uint64_t at_most_ns) {
    const struct timespec at_most {
        static_cast<time_t>(at_most_ns / 1'000'000'000), static_cast<long>(at_most_ns % 1'000'000'000)
    };
    if (calls().futex(word, FUTEX_WAIT, expected, &at_most) == 0) return Woken::by_somebody;
    switch (errno) {
        case ETIMEDOUT:
            return Woken::by_time;
        case EINTR:
            return Woken::by_signal;
        case EAGAIN:  // it is another number already
            return Woken::by_somebody;
        default:  // a kernel or a device that has no such thing: look again in a while
            sleep_ns(std::min<std::uint64_t>(at_most_ns, 10'000'000));
            return Woken::by_somebody;
    }
}

void wake_all(const std::uint32_t* word) { calls().futex(word, FUTEX_WAKE, INT_MAX, nullptr); }
void wake_one(const std::uint32_t* word) { calls().futex(word, FUTEX_WAKE, 1, nullptr); }

}  // namespace pmemcpy::os
