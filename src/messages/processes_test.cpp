// Processes that push, pop, claim and die at any moment.

#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <map>
#include <random>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <pmemcpy/messages.hpp>

#include <atomic>

#include "tests/folder.hpp"

namespace pmemcpy {
namespace {

using namespace std::chrono_literals;

/// What the workers say to the test: memory that a death does not touch. A worker writes down what it is about to do, and what it did.
struct Diary {
    static constexpr std::uint64_t most_numbers = 1 << 20;
    std::atomic<std::uint64_t> next;                        // the number of the next message
    std::atomic<std::uint8_t> pushed[most_numbers];         // its push returned
    std::atomic<std::uint8_t> popped[most_numbers];         // times that pop() gave it
    std::atomic<std::uint8_t> acknowledged[most_numbers];   // times that it was claimed and done() returned
    std::atomic<std::uint8_t> acknowledging[most_numbers];  // times that done() was called
};

class Shared {
public:
    Shared()
        : diary_(static_cast<Diary*>(
              ::mmap(nullptr, sizeof(Diary), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0))) {}
    ~Shared() { ::munmap(diary_, sizeof(Diary)); }
    Shared(const Shared&) = delete;
    Shared& operator=(const Shared&) = delete;
    Diary& operator*() const { return *diary_; }

private:
    Diary* diary_;
};

void produce(const std::string& path, Diary& diary) {
    MessageQueue queue = MessageQueue::open(path);
    for (;;) {
        const std::uint64_t number = diary.next++;
        if (number >= Diary::most_numbers) ::pause();
        const auto message = [](std::uint64_t of) {
            return Message{1, static_cast<std::uint32_t>(of % 3), {of}};
        };
        if (number % 4 != 0) {
            if (queue.push(message(number), 1h)) diary.pushed[number] = 1;
            continue;
        }
        std::array<Message, 20> many;
        const std::uint64_t first = diary.next.fetch_add(many.size());
        if (first + many.size() > Diary::most_numbers) ::pause();
        for (std::size_t i = 0; i < many.size(); ++i) many[i] = message(first + i);
        const std::size_t pushed = queue.try_push_many(many);
        for (std::size_t i = 0; i < pushed; ++i) diary.pushed[first + i] = 1;
    }
}

void consume(const std::string& path, Diary& diary, std::uint64_t seed) {
    MessageQueue queue = MessageQueue::open(path);
    std::mt19937_64 random(seed);
    for (;;) {
        if (random() % 2 == 0) {
            if (const auto message = queue.pop(10ms)) ++diary.popped[message->attributes[0]];
            continue;
        }
        auto delivery = queue.claim(10ms);
        if (!delivery || random() % 4 == 0) continue;  // given back
        const std::uint64_t number = delivery->message().attributes[0];
        ++diary.acknowledging[number];
        delivery->done();
        ++diary.acknowledged[number];
    }
}

TEST(messages_of_many, arrive_as_promised_whoever_is_killed) {
    const Folder folder;
    const std::string path = folder / "q";
    MessageQueue queue = MessageQueue::create(path, {.capacity = 50, .priorities = 3});
    const Shared shared;
    Diary& diary = *shared;
    std::mt19937_64 random(2);
    std::uint64_t seed = 1, killed_consumers = 0;
    constexpr std::size_t producers = 2, all = 5;
    std::vector<pid_t> workers(all, -1);
    const auto start = [&](std::size_t i) {
        const pid_t child = ::fork();
        if (child == 0) {
            try {
                i < producers ? produce(path, diary) : consume(path, diary, seed);
            } catch (const Error& error) {
                std::fprintf(stderr, "%s\n", error.what());
            }
            ::_exit(1);
        }
        ++seed;
        workers[i] = child;
    };
    const auto kill = [&](std::size_t i) {
        ::kill(workers[i], SIGKILL);
        int status = 0;
        ::waitpid(workers[i], &status, 0);
        EXPECT_TRUE(WIFSIGNALED(status)) << "a worker met an error";
        if (i >= producers) ++killed_consumers;
    };
    for (std::size_t i = 0; i < all; ++i) start(i);
    for (int deaths = 0; deaths < 200; ++deaths) {
        std::this_thread::sleep_for(std::chrono::microseconds(random() % 8000));
        const std::size_t i = random() % all;
        kill(i);
        start(i);
    }
    for (std::size_t i = 0; i < all; ++i) kill(i);
    // What is left, we take.
    queue.recover();
    while (const auto message = queue.try_pop()) ++diary.popped[message->attributes[0]];
    EXPECT_EQ(queue.claimed(), 0U);
    EXPECT_EQ(queue.size(), 0U);
    std::uint64_t lost = 0, arrived = 0;
    for (std::uint64_t number = 0; number < std::min(diary.next.load(), Diary::most_numbers); ++number) {
        const unsigned popped = diary.popped[number], acknowledged = diary.acknowledged[number],
                       acknowledging = diary.acknowledging[number];
        // A pop and an acknowledgement both end it: one of them, once.
        EXPECT_LE(popped + acknowledged, 1U) << number;
        arrived += popped + acknowledged;
        if (diary.pushed[number] != 0 && popped == 0 && acknowledging == 0) ++lost;
    }
    // Only who was killed after he took a message out takes one with him.
    EXPECT_LE(lost, killed_consumers);
    EXPECT_GT(arrived, 200U);
    // All places are there still.
    for (std::uint64_t i = 0; i < 50; ++i) EXPECT_TRUE(queue.try_push({}));
    EXPECT_FALSE(queue.try_push({}));
}

// Whoever claims and never just pops loses none.
TEST(messages_of_many, that_are_claimed_are_never_lost) {
    const Folder folder;
    const std::string path = folder / "q";
    MessageQueue queue = MessageQueue::create(path, {.capacity = 400});
    constexpr std::uint64_t count = 300;
    for (std::uint64_t i = 0; i < count; ++i) queue.push({1, static_cast<std::uint32_t>(i % 4), {i}});
    const Shared shared;
    Diary& diary = *shared;
    std::mt19937_64 random(3);
    for (int death = 0; death < 100; ++death) {
        const pid_t child = ::fork();
        if (child == 0) {
            MessageQueue here = MessageQueue::open(path);
            std::mt19937_64 own(static_cast<std::uint64_t>(death));
            for (;;) {
                auto delivery = here.try_claim();
                if (!delivery || own() % 8 != 0) continue;
                ++diary.acknowledging[delivery->message().attributes[0]];
                delivery->done();
            }
        }
        std::this_thread::sleep_for(std::chrono::microseconds(random() % 3000));
        ::kill(child, SIGKILL);
        ::waitpid(child, nullptr, 0);
        if (death % 8 == 0) queue.recover();
    }
    queue.recover();
    while (const auto message = queue.try_pop()) ++diary.acknowledging[message->attributes[0]];
    for (std::uint64_t i = 0; i < count; ++i) EXPECT_GE(diary.acknowledging[i], 1U) << i;
    EXPECT_EQ(queue.claimed(), 0U);
}

}  // namespace
}  // namespace pmemcpy
