#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <pmemcpy/error.hpp>
#include <span>
#include <string>
#include <string_view>

// Messages: what one process wants another to do, in 64 bytes, through a file that both have mapped. No server, no socket; who waits sleeps.
//
//     auto queue = MessageQueue::open_or_create("/dev/shm/run.messages");
//     queue.push(Message::of(flush_this, "ocean/temp", 1));             // in one process
//     while (auto message = queue.pop(std::chrono::seconds(1))) ...     // in another
//
// Source: Hermes (Kougkas, Devarakonda, Sun; HPDC 2018), section 3.3.2 C.

namespace pmemcpy {

namespace messages {
class Queue;
}

/// An instruction: what is to be done, to what, and how urgent it is. What types and attributes mean is between those who use the queue.
struct Message {
    std::uint32_t type = 0;
    std::uint32_t priority = 0;  ///< the higher, the sooner; less than MessageQueueOptions::priorities
    std::array<std::uint64_t, 7> attributes{};

    /// A message whose attributes are a text, as an id is. Errors: out_of_range for more than 56 bytes.
    static Message of(std::uint32_t type, std::string_view text, std::uint32_t priority = 0);
    /// That text: up to the first zero byte.
    std::string text() const;
    friend bool operator==(const Message&, const Message&) = default;
};
static_assert(sizeof(Message) == 64);

struct MessageQueueOptions {
    std::uint64_t capacity = 4096;  ///< messages that may wait, of all priorities together; at most 2^20
    std::uint32_t priorities = 4;   ///< at most 16
    unsigned mode = 0600;           ///< of the file; the umask is taken off
};

/// A message that this process is to act upon. Nobody else gets it until done(); if this object goes before that, or its process dies, somebody
/// else does.
/// Sharing: one thread at a time uses it. It keeps the queue open.
class Delivery {
public:
    ~Delivery() { give_back(); }
    Delivery(Delivery&& other) noexcept;
    Delivery& operator=(Delivery&& other) noexcept;

    const Message& message() const noexcept { return message_; }
    /// 1 at the first time; more when others had it before and did not finish.
    std::uint64_t deliveries() const noexcept { return deliveries_; }
    /// It was acted upon, and is gone. A second call does nothing. Errors: busy in a forked child.
    void done();
    /// Others may have it, behind what waits at its priority.
    void give_back() noexcept;

private:
    friend class MessageQueue;
    Delivery(std::shared_ptr<messages::Queue> queue, std::uint32_t node);
    std::shared_ptr<messages::Queue> queue_;
    std::uint32_t node_ = 0;
    Message message_;
    std::uint64_t deliveries_ = 0;
};

/// A queue of messages that is open, in any number of processes and threads that push and pop.
///
/// A pop takes the oldest message of the highest priority that has one. Of two messages of one priority, the one whose push returned before the
/// other's began is older; what is given back, or comes back from the dead, is as if it were pushed then.
///
/// Crash: whatever process is killed at whatever instruction, the queue goes on for the others.
///     * A message whose push() returned is delivered. One whose push() was killed is delivered once or never.
///     * try_pop() and pop(): at most once after they took it out. Who is killed after that takes it with him, be it before or after the call
///       returned; who is killed earlier in the call leaves it to others. Nothing is delivered twice.
///     * try_claim() and claim(): until it is acknowledged by done(). Who is killed before leaves it to others, within a fifth of a
///       second for one who waits and finds nothing else, or at once by recover(). So what has to happen is done once or, if its doer died or gave it back
///       between doing it and done(), again: Delivery::deliveries() tells.
///     No process can know whether one that died has acted on what it had in its hands; so both promises are there, and the caller chooses.
///     When all processes are gone, the messages are there for the next, as long as the file is; nothing is synced, it is not meant to
///     survive the machine.
/// Sharing: any number of threads, and up to 1024 open queues of all processes together. Nobody waits for a lock, nor for one that is
///     stopped. Who may write the file may use it, and is trusted. A forked child opens it anew.
class MessageQueue {
public:
    /// Errors: already_exists; invalid_argument; no_space.
    static MessageQueue create(const std::string& path, const MessageQueueOptions& options = {});
    /// Errors: not_found; corrupt for another kind or version of file, or one that was cut off or changed; busy when 1024 have it open.
    static MessageQueue open(const std::string& path);
    /// What is there already must be as the options say, but for its mode. Errors: those of both; invalid_argument where it is not.
    static MessageQueue open_or_create(const std::string& path, const MessageQueueOptions& options = {});

    /// False if the queue is full. Errors: out_of_range for a priority that the queue does not have; busy in a forked child; corrupt
    ///     when somebody has scribbled over the file, as of each call here.
    bool try_push(const Message& message);
    /// Errors: no_space if the queue is full; those of try_push().
    void push(const Message& message);
    /// Sleeps until there is room; false when the time is over or a signal came.
    bool push(const Message& message, std::chrono::nanoseconds at_most);
    /// As if each were pushed after the one before it, and several times as fast. Returns how many were: all, unless the queue is full.
    /// Crash: as if each were. Errors: those of try_push(), and then none is pushed.
    std::size_t try_push_many(std::span<const Message> messages);

    /// Nothing if there is none.
    std::optional<Message> try_pop();
    /// Sleeps until there is one; nothing when the time is over or a signal came.
    std::optional<Message> pop(std::chrono::nanoseconds at_most);
    std::optional<Delivery> try_claim();
    std::optional<Delivery> claim(std::chrono::nanoseconds at_most);

    /// Has what the dead have left done or undone: gives back what they had claimed. Returns how many messages that were. Who finds the queue
    /// empty or full does it by itself, ten times a second at most.
    std::uint64_t recover();

    /// Touches all memory now, so that no push waits for the kernel the first time that it comes to a place, and has it in huge pages where
    /// that can be. Once in each process. Cost: some 30 ms for a capacity of 2^20, which are 136 MiB.
    void prepare();

    /// Messages that wait; of one priority. While others use the queue, what it was a moment ago.
    std::uint64_t size() const;
    std::uint64_t size(std::uint32_t priority) const;
    /// Messages that were claimed and neither acknowledged nor given back. Looks at all places.
    std::uint64_t claimed() const;
    std::uint64_t capacity() const noexcept;
    std::uint32_t priorities() const noexcept;
    const std::string& path() const noexcept;

private:
    explicit MessageQueue(std::shared_ptr<messages::Queue> queue) : queue_(std::move(queue)) {}
    void check(const Message& message) const;
    std::shared_ptr<messages::Queue> queue_;
};

}  // namespace pmemcpy
