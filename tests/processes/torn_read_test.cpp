// Law 2: a fence precedes every publish that follows non-temporal stores, on every medium. Processors let an
// ordinary store overtake them; then another process sees the publish word before the bytes that it
// announces. No image of the memory after a crash can show this: only a second process that reads at the same
// time.
//
// The writer never waits: it fills the next slot of a ring with the publish's number and announces the
// number. The reader takes the newest number and looks into its slot, where every word must be that number,
// or a later one if the writer has come round again. A smaller one is a torn read.

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>
#include <pmemcpy/durability.hpp>

#include "os/file.hpp"
#include "os/map.hpp"
#include "persist/copy.hpp"
#include "persist/medium.hpp"

namespace {

using namespace pmemcpy;
using persist::Medium;
using Clock = std::chrono::steady_clock;

constexpr std::uint64_t slots = 64;
constexpr std::uint64_t finished = ~std::uint64_t{0};

/// What both processes see, by a mapping of their own.
struct Shared {
    alignas(64) std::uint64_t published;
    alignas(64) std::uint64_t looked;  ///< publishes that the reader caught
    std::uint64_t torn;
    alignas(4096) std::uint64_t payload[1];
};

struct Outcome {
    std::uint64_t published = 0;
    std::uint64_t looked = 0;
    std::uint64_t torn = 0;
};

/// The processors that this process may run on. Side by side on one processor nothing can be torn.
cpu_set_t own_processors() {
    cpu_set_t set;
    CPU_ZERO(&set);
    ::sched_getaffinity(0, sizeof set, &set);
    return set;
}

/// Stays on the first or the last of some processors.
void stay_on_one_of(const cpu_set_t& processors, bool first) {
    std::size_t chosen = 0;
    for (std::size_t i = 0; i < CPU_SETSIZE; ++i) {
        if (!CPU_ISSET(i, &processors)) continue;
        chosen = i;
        if (first) break;
    }
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(chosen, &one);
    ::sched_setaffinity(0, sizeof one, &one);
}

[[noreturn]] void read_until_finished(const os::File& file, std::uint64_t bytes, std::size_t payload_words) {
    const os::Mapping map(file, bytes);
    auto* shared = reinterpret_cast<Shared*>(map.base());
    const Medium counters(Durability::none);
    for (std::uint64_t last = 0;;) {
        const std::uint64_t number = Medium::load(&shared->published);
        if (number == finished) std::_Exit(0);
        if (number == last) continue;
        last = number;
        const std::uint64_t* slot = shared->payload + number % slots * payload_words;
        bool is_torn = false;
        // From the end, where the writer has been last.
        for (std::size_t i = payload_words; i-- > 0;) is_torn |= Medium::load(slot + i) < number;
        if (is_torn) counters.fetch_add(&shared->torn, 1);
        counters.fetch_add(&shared->looked, 1);
    }
}

/// Publishes until `is_enough`, asked now and then. `publish` is told where the word is and what to put
/// there: with or without the fence of law 2.
Outcome run(const Medium& medium, std::size_t payload_words, auto&& publish, auto&& is_enough) {
    const cpu_set_t processors = own_processors();
    const std::uint64_t bytes = sizeof(Shared) + slots * payload_words * sizeof(std::uint64_t);
    os::File file = os::File::create_unnamed("/dev/shm/unnamed", 0600);
    file.allocate(0, bytes);
    const os::Mapping map(file, bytes);
    auto* shared = reinterpret_cast<Shared*>(map.base());
    const pid_t reader = ::fork();
    if (reader == 0) {
        stay_on_one_of(processors, false);
        read_until_finished(file, bytes, payload_words);
    }
    stay_on_one_of(processors, true);
    std::vector<std::uint64_t> source(payload_words);
    Outcome outcome;
    do {
        for (int i = 0; i < 10'000; ++i) {
            const std::uint64_t number = ++outcome.published;
            source.assign(payload_words, number);
            std::uint64_t* slot = shared->payload + number % slots * payload_words;
            persist::copy_to_medium(medium, slot, source.data(), payload_words * sizeof(std::uint64_t));
            publish(&shared->published, number);
        }
        outcome.looked = Medium::load(&shared->looked);
        outcome.torn = Medium::load(&shared->torn);
    } while (!is_enough(outcome));
    medium.fence();
    medium.store(&shared->published, finished);
    ::sched_setaffinity(0, sizeof processors, &processors);
    int status = 0;
    ::waitpid(reader, &status, 0);
    EXPECT_EQ(status, 0);
    std::printf("%lu publishes, %lu of them looked at, %lu torn\n",
                static_cast<unsigned long>(outcome.published), static_cast<unsigned long>(outcome.looked),
                static_cast<unsigned long>(outcome.torn));
    return outcome;
}

/// A busy machine gives the reader little to look at: then the writer goes on for a while.
auto until(std::uint64_t published, std::uint64_t looked) {
    return [=, end = Clock::now() + std::chrono::seconds(40)](const Outcome& outcome) {
        return outcome.published >= published && (outcome.looked >= looked || Clock::now() > end);
    };
}

// 1 KiB is where copies become non-temporal on line media, and 16 KiB on all others.
constexpr std::size_t small_payload_words = 128;
constexpr std::size_t large_payload_words = 2048;

TEST(processes, a_reader_sees_no_torn_data_in_ten_million_publishes) {
    const Medium medium(Durability::line);
    const auto publish = [&](std::uint64_t* word, std::uint64_t number) {
        medium.fence();  // for the reader in the other process
        medium.store(word, number);
    };
    const Outcome outcome = run(medium, small_payload_words, publish, until(10'000'000, 500'000));
    EXPECT_EQ(outcome.torn, 0u);
    EXPECT_GT(outcome.looked, 0u);
}

TEST(processes, a_reader_sees_no_torn_data_on_a_medium_that_promises_nothing) {
    const Medium medium(Durability::none);
    const auto publish = [&](std::uint64_t* word, std::uint64_t number) {
        medium.fence();  // for the reader in the other process
        medium.store(word, number);
    };
    const Outcome outcome = run(medium, large_payload_words, publish, until(500'000, 50'000));
    EXPECT_EQ(outcome.torn, 0u);
    EXPECT_GT(outcome.looked, 0u);
}

// The control: the same without the fence. If it saw nothing, the tests above would prove nothing.
TEST(processes, without_the_fence_a_reader_sees_torn_data) {
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
    GTEST_SKIP() << "what a sanitizer puts between two stores is a fence, or gives the first time to arrive";
#endif
    const cpu_set_t processors = own_processors();
    if (CPU_COUNT(&processors) < 2) GTEST_SKIP() << "on one processor nothing can be torn";
    const Medium medium(Durability::line);
    const auto publish = [&](std::uint64_t* word, std::uint64_t number) { medium.store(word, number); };
    const auto end = Clock::now() + std::chrono::seconds(40);
    const auto is_enough = [&](const Outcome& outcome) { return outcome.torn > 0 || Clock::now() > end; };
    EXPECT_GT(run(medium, small_payload_words, publish, is_enough).torn, 0u);
}

}  // namespace
