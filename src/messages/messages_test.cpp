#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <fstream>
#include <functional>
#include <mutex>
#include <set>
#include <span>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>
#include <pmemcpy/messages.hpp>

#include "members/format.hpp"
#include "members/word.hpp"
#include "messages/format.hpp"
#include "messages/queue.hpp"
#include "tests/folder.hpp"

namespace pmemcpy {
namespace {

using namespace std::chrono_literals;

Code code_of(const std::function<void()>& call) {
    try {
        call();
    } catch (const Error& error) {
        return error.kind();
    }
    return Code{};
}

Message numbered(std::uint64_t number, std::uint32_t priority = 0) { return {1, priority, {number}}; }

class MessagesOfAFile : public ::testing::Test {
protected:
    MessageQueue make(std::uint64_t capacity, std::uint32_t priorities = 4) {
        return MessageQueue::create(path_, {.capacity = capacity, .priorities = priorities});
    }
    static void in_a_process_that_dies(const std::function<void()>& what) {
        const pid_t child = ::fork();
        if (child == 0) {
            what();
            ::kill(::getpid(), SIGKILL);
        }
        int status = 0;
        ::waitpid(child, &status, 0);
        EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    }
    void overwrite(std::uint64_t offset, std::uint64_t word) const {
        std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
        file.seekp(static_cast<std::streamoff>(offset));
        file.write(reinterpret_cast<const char*>(&word), sizeof word);
    }

    Folder folder_;
    std::string path_ = folder_ / "q";
};

TEST_F(MessagesOfAFile, come_out_as_they_were_put_in) {
    MessageQueue queue = make(4);
    const Message message{7, 2, {1, 2, 3, 4, 5, 6, ~0ULL}};
    queue.push(message);
    EXPECT_EQ(MessageQueue::open(path_).try_pop(), message);
    EXPECT_FALSE(queue.try_pop());
    const std::string id = "ocean/TEMP";
    queue.push(Message::of(3, id, 1));
    EXPECT_EQ(queue.try_pop()->text(), id);
    EXPECT_EQ(Message::of(3, std::string(56, 'x')).text(), std::string(56, 'x'));
    EXPECT_EQ(code_of([] { Message::of(3, std::string(57, 'x')); }), Code::out_of_range);
}

TEST_F(MessagesOfAFile, of_a_higher_priority_come_first_and_of_one_in_their_order) {
    MessageQueue queue = make(100);
    for (std::uint64_t i = 0; i < 40; ++i) queue.push(numbered(i, static_cast<std::uint32_t>(i % 4)));
    EXPECT_EQ(queue.size(), 40U);
    EXPECT_EQ(queue.size(3), 10U);
    for (std::uint32_t priority = 4; priority-- > 0;) {
        for (std::uint64_t i = 0; i < 10; ++i)
            EXPECT_EQ(queue.try_pop(), numbered(i * 4 + priority, priority));
    }
    EXPECT_EQ(code_of([&] { queue.push(numbered(0, 4)); }), Code::out_of_range);
    EXPECT_EQ(code_of([&] { queue.size(4); }), Code::out_of_range);
}

TEST_F(MessagesOfAFile, are_as_many_as_there_is_room_for_also_after_many_rounds) {
    for (const std::uint64_t capacity : {1U, 2U, 3U, 65U}) {
        ::unlink(path_.c_str());
        MessageQueue queue = make(capacity, 2);
        std::uint64_t pushed = 0, popped = 0;
        for (int round = 0; round < 50; ++round) {
            while (queue.try_push(numbered(pushed))) ++pushed;
            EXPECT_EQ(pushed - popped, capacity);
            EXPECT_EQ(code_of([&] { queue.push(numbered(0)); }), Code::no_space);
            for (std::uint64_t i = 0; i <= capacity / 2; ++i) EXPECT_EQ(queue.try_pop(), numbered(popped++));
        }
    }
}

TEST_F(MessagesOfAFile, may_be_pushed_many_at_a_time) {
    for (const std::uint64_t capacity : {1U, 3U, 64U, 200U}) {
        ::unlink(path_.c_str());
        MessageQueue queue = make(capacity, 3);
        EXPECT_EQ(queue.try_push_many(std::span<const Message>()), 0U);
        std::uint64_t next = 0;
        for (std::uint64_t round = 0; round < 60; ++round) {
            std::vector<Message> many;
            for (std::uint64_t i = 0; i < 1 + round * 7 % 150; ++i)
                many.push_back(numbered(next + i, static_cast<std::uint32_t>((next + i) % 3)));
            const std::uint64_t room = std::min<std::uint64_t>(capacity - queue.size(), many.size());
            EXPECT_EQ(queue.try_push_many(many), room);
            next += room;
            const bool has_room = queue.size() < capacity;
            EXPECT_EQ(queue.try_push(numbered(next)), has_room) << "one among them";
            if (round % 3 == 0) continue;
            std::array<std::uint64_t, 3> last{};
            while (const auto message = queue.try_pop()) {
                EXPECT_GE(message->attributes[0], last.at(message->priority));
                last.at(message->priority) = message->attributes[0];
            }
        }
    }
    MessageQueue queue = MessageQueue::open_or_create(folder_ / "other", {.capacity = 8});
    const std::array bad = {numbered(1), numbered(2, 4)};
    EXPECT_EQ(code_of([&] { queue.try_push_many(bad); }), Code::out_of_range);
    EXPECT_EQ(queue.size(), 0U) << "then none is pushed";
}

TEST_F(MessagesOfAFile, that_are_claimed_are_nobodys_else_until_they_are_done) {
    MessageQueue queue = make(2), other = MessageQueue::open(path_);
    queue.push(numbered(1));
    queue.push(numbered(2));
    auto first = queue.try_claim();
    ASSERT_TRUE(first);
    EXPECT_EQ(first->message(), numbered(1));
    EXPECT_EQ(first->deliveries(), 1U);
    EXPECT_EQ(queue.claimed(), 1U);
    EXPECT_EQ(queue.size(), 1U);
    EXPECT_FALSE(queue.try_push(numbered(3))) << "a claimed message has its place";
    EXPECT_EQ(other.recover(), 0U);
    EXPECT_EQ(other.try_pop(), numbered(2));
    EXPECT_FALSE(other.try_pop());
    first->done();
    first->done();
    EXPECT_EQ(queue.claimed(), 0U);
    EXPECT_FALSE(other.try_pop());
}

TEST_F(MessagesOfAFile, that_are_given_back_come_again_behind_the_others) {
    MessageQueue queue = make(4);
    queue.push(numbered(1, 2));
    queue.push(numbered(2, 2));
    { const auto dropped = queue.try_claim(); }
    EXPECT_EQ(queue.try_pop(), numbered(2, 2));
    auto again = queue.try_claim();
    ASSERT_TRUE(again);
    EXPECT_EQ(again->message(), numbered(1, 2));
    EXPECT_EQ(again->deliveries(), 2U);
    Delivery moved = std::move(*again);
    moved.done();
    EXPECT_FALSE(queue.try_pop());
}

TEST_F(MessagesOfAFile, that_a_dead_process_had_claimed_come_again) {
    MessageQueue queue = make(4);
    queue.push(numbered(1, 1));
    in_a_process_that_dies([&] {
        static auto claimed = MessageQueue::open(path_).try_claim();
        if (!claimed) ::_exit(1);
    });
    EXPECT_EQ(queue.claimed(), 1U);
    auto again = queue.claim(10s);
    ASSERT_TRUE(again);
    EXPECT_EQ(again->message(), numbered(1, 1));
    EXPECT_EQ(again->deliveries(), 2U);
    again->done();
    EXPECT_EQ(queue.recover(), 0U);
}

// The process that sits 2^17 lives later in the seat of the dead one was taken for it.
TEST_F(MessagesOfAFile, of_the_dead_come_again_also_beside_one_with_the_same_tag) {
    MessageQueue queue = make(4);
    queue.push(numbered(1));
    in_a_process_that_dies([&] {
        static auto claimed = MessageQueue::open(path_).try_claim();
        if (!claimed) ::_exit(1);
    });
    // Its seat was the second, which has had all lives but the last of its tags since; the next one has the tag of the dead process, its first.
    overwrite(members::lives_offset + 8, (std::uint64_t{1} << members::life_bits) - 1);
    MessageQueue same = MessageQueue::open(path_);
    EXPECT_EQ(queue.claimed(), 1U);
    EXPECT_EQ(same.recover(), 1U);
    EXPECT_EQ(same.try_pop(), numbered(1));
}

// A process that has read the word of a dead one is held; another one recovers the message; then the first one goes on. It emptied the slot into which
// the other had put the message, which was lost, and its node too.
TEST_F(MessagesOfAFile, that_two_processes_recover_come_again_once) {
    make(4);
    const auto first = messages::Queue::open(path_), second = messages::Queue::open(path_);
    const auto word = [&] { return members::Word::of(first->node(0).word); };
    const auto die = [&](const std::function<void(messages::Queue&)>& what) {
        in_a_process_that_dies([&] {
            static auto there = messages::Queue::open(path_);
            what(*there);
        });
    };
    ASSERT_TRUE(first->push(numbered(1)));
    die([](messages::Queue& there) { there.claim(); });
    const members::Word claimed = word();
    EXPECT_EQ(first->recover(), 1U);
    EXPECT_FALSE(second->recover(0, claimed));
    EXPECT_EQ(first->size(0), 1U);
    ASSERT_EQ(second->claim(), 0U) << "a message that is recovered is in the queue";
    EXPECT_EQ(second->node(0).message, numbered(1));
    second->finish(0);
    // The same of a message that was pushed, and whose sender died.
    die([](messages::Queue& there) { there.push(numbered(2)); });
    const members::Word filling = word();
    first->recover();
    ASSERT_EQ(first->claim(), 0U);
    first->give_back(0);
    EXPECT_FALSE(second->recover(0, filling));
    ASSERT_EQ(second->claim(), 0U);
    second->finish(0);
    for (std::uint64_t i = 0; i < 4; ++i) EXPECT_TRUE(first->push(numbered(i))) << "all places are there";
    for (std::uint64_t i = 0; i < 4; ++i) {
        const auto n = second->claim();
        ASSERT_TRUE(n);
        EXPECT_EQ(second->node(*n).message, numbered(i));
        second->finish(*n);
    }
}

TEST_F(MessagesOfAFile, of_the_dead_make_room_when_it_is_needed) {
    MessageQueue queue = make(1);
    in_a_process_that_dies([&] {
        MessageQueue there = MessageQueue::open(path_);
        there.push(numbered(1));
        there.try_pop();
        there.push(numbered(2));
    });
    EXPECT_EQ(queue.try_pop(), numbered(2));
    EXPECT_TRUE(queue.push(numbered(3), 10s));
}

TEST_F(MessagesOfAFile, wake_who_waits_for_them) {
    MessageQueue queue = make(1);
    EXPECT_FALSE(queue.pop(0s));
    EXPECT_FALSE(queue.pop(1ms));
    EXPECT_FALSE(queue.pop(-1s));
    std::thread waiting([&] {
        MessageQueue here = MessageQueue::open(path_);
        for (std::uint64_t i = 0; i < 200; ++i) EXPECT_EQ(here.pop(60s), numbered(i));
    });
    for (std::uint64_t i = 0; i < 200; ++i) EXPECT_TRUE(queue.push(numbered(i), 60s));
    waiting.join();
    queue.push(numbered(1));
    EXPECT_FALSE(queue.push(numbered(2), 1ms));
}

TEST_F(MessagesOfAFile, are_not_a_forked_childs) {
    MessageQueue queue = make(2);
    queue.push(numbered(1));
    auto claimed = queue.try_claim();
    const pid_t child = ::fork();
    if (child == 0) {
        const bool is_right = code_of([&] { queue.try_push(numbered(2)); }) == Code::busy &&
                              code_of([&] { queue.try_pop(); }) == Code::busy &&
                              code_of([&] { claimed->done(); }) == Code::busy;
        claimed.reset();
        ::_exit(is_right ? 0 : 1);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
    EXPECT_EQ(queue.claimed(), 1U);
    claimed->done();
}

TEST_F(MessagesOfAFile, are_opened_or_made_as_the_options_say) {
    MessageQueue::open_or_create(path_, {.capacity = 5, .priorities = 2});
    EXPECT_EQ(MessageQueue::open_or_create(path_, {.capacity = 5, .priorities = 2}).capacity(), 5U);
    EXPECT_EQ(code_of([&] { MessageQueue::open_or_create(path_, {.capacity = 5, .priorities = 3}); }),
              Code::invalid_argument);
    EXPECT_EQ(code_of([&] { MessageQueue::open(folder_ / "nothing"); }), Code::not_found);
    for (const MessageQueueOptions& options :
         {MessageQueueOptions{0, 1}, {1, 0}, {1, 17}, {(1ULL << 20) + 1, 1}})
        EXPECT_EQ(code_of([&] { MessageQueue::create(folder_ / "c", options); }), Code::invalid_argument);
}

TEST_F(MessagesOfAFile, with_words_that_make_no_sense_are_an_error_and_no_endless_search) {
    const messages::Layout layout = messages::lay_out(4, 1);
    const auto refuses = [&](std::uint64_t offset, std::uint64_t word,
                             const std::function<void(MessageQueue&)>& call) {
        ::unlink(path_.c_str());
        make(4, 1).push(numbered(1));
        overwrite(offset, word);
        MessageQueue queue = MessageQueue::open(path_);
        EXPECT_EQ(code_of([&] { call(queue); }), Code::corrupt);
    };
    const auto pop = [](MessageQueue& queue) { queue.try_pop(); };
    const auto push = [](MessageQueue& queue) { queue.try_push(numbered(2)); };
    const auto recover = [](MessageQueue& queue) { queue.recover(); };
    const auto slot = [](std::uint64_t node, std::uint64_t position) {
        return node << messages::position_bits | position;
    };
    refuses(layout.rings, slot(5, 0), pop);
    refuses(layout.rings, slot(1, 3), pop);
    refuses(layout.rings, slot(0, 3), pop);
    refuses(layout.ends, 99, pop);
    refuses(layout.nodes, 0, pop);
    refuses(layout.nodes, members::Word{5, 0, {}, 1}.packed(), pop);
    refuses(layout.nodes, members::Word{7, 0, {}, 1}.packed(), recover);
    refuses(layout.rings + 8, slot(1, 77), push);
    refuses(layout.ends + 64, 1ULL << 39, push);
    // Claimed by one who is gone, at a priority that there is not.
    overwrite(layout.nodes + 8, 9ULL << 56);
    overwrite(layout.nodes, members::Word{3, 0, {9, 9}, 1}.packed());
    EXPECT_EQ(code_of([&] { MessageQueue::open(path_).recover(); }), Code::corrupt);
}

// Each producer numbers its messages: all arrive, once, and at each consumer those of a producer in their order.
TEST_F(MessagesOfAFile, of_many_threads_all_arrive_once_and_in_order) {
    constexpr std::uint64_t producers = 3, consumers = 3, each = 3000;
    MessageQueue queue = make(64, 2);
    std::mutex mutex;
    std::set<std::pair<std::uint64_t, std::uint64_t>> arrived;
    std::atomic<bool> is_wrong{false};
    std::atomic<std::uint64_t> left{producers * each};
    std::vector<std::thread> threads;
    for (std::uint64_t id = 0; id < producers; ++id) {
        threads.emplace_back([&, id] {
            for (std::uint64_t i = 0; i < each; ++i) {
                if (!queue.push({1, static_cast<std::uint32_t>(id % 2), {id, i}}, 60s)) is_wrong = true;
            }
        });
    }
    for (std::uint64_t id = 0; id < consumers; ++id) {
        threads.emplace_back([&] {
            std::vector<std::uint64_t> next(producers);
            while (left > 0) {
                const auto message = queue.pop(10ms);
                if (!message) continue;
                --left;
                const std::uint64_t producer = message->attributes[0], number = message->attributes[1];
                if (number < next[producer]) is_wrong = true;
                next[producer] = number + 1;
                const std::lock_guard guard(mutex);
                if (!arrived.emplace(producer, number).second) is_wrong = true;
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_FALSE(is_wrong);
    EXPECT_EQ(arrived.size(), producers * each);
}

}  // namespace
}  // namespace pmemcpy
