#pragma once

#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace pmemcpy::store {

/// Calls f(i) for each i below `count`, by so many threads at once, of which this is one. None begins another once f has returned false or
/// thrown; the first exception is thrown when all have ended.
template <class F>
void together(std::size_t threads, std::size_t count, F&& f) {
    std::atomic<std::size_t> next = 0;
    std::atomic<bool> stops = false;
    std::mutex mutex;
    std::exception_ptr first_error;
    const auto work = [&] {
        try {
            for (std::size_t i = 0; !stops && (i = next++) < count;) {
                if (!f(i)) stops = true;
            }
        } catch (...) {
            const std::lock_guard lock(mutex);
            if (!first_error) first_error = std::current_exception();
            stops = true;
        }
    };
    std::vector<std::jthread> others;
    try {
        for (std::size_t i = 1; i < threads && i < count; ++i) others.emplace_back(work);
    } catch (const std::system_error&) {
        // Where no more threads can be had, those that there are do it.
    }
    work();
    others.clear();
    if (first_error) std::rethrow_exception(first_error);
}

}  // namespace pmemcpy::store
