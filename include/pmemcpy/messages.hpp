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

// Messages: instructions of 64 bytes from one process to another, through a file that both have mapped. There
// is no server and no socket; a waiting process sleeps.
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

/// An instruction: an action, its object, and its priority. The programs that share the queue decide what
/// types and attributes mean.
struct Message {
    std::uint32_t type = 0;
    std::uint32_t priority = 0;  ///< higher ones come first; less than MessageQueueOptions::priorities
    std::array<std::uint64_t, 7> attributes{};

    /// A message whose attributes are a text, such as an id. Errors: out_of_range for more than 56 bytes.
    static Message of(std::uint32_t type, std::string_view text, std::uint32_t priority = 0);
    /// The text, up to the first zero byte.
    std::string text() const;
    friend bool operator==(const Message&, const Message&) = default;
};
static_assert(sizeof(Message) == 64);

/// Properties of a new queue.
struct MessageQueueOptions {
    std::uint64_t capacity = 4096;  ///< waiting messages, of all priorities together; at most 2^20
    std::uint32_t priorities = 4;   ///< at most 16
    unsigned mode = 0600;           ///< permissions of the file, before the umask
};

/// A claimed message. No other process gets it before done(). If this object is destroyed earlier, or its
/// process dies, another process gets it.
/// Sharing: one thread at a time. Keeps the queue open.
class Delivery {
public:
    ~Delivery() { give_back(); }
    Delivery(Delivery&& other) noexcept;
    Delivery& operator=(Delivery&& other) noexcept;

    const Message& message() const noexcept { return message_; }
    /// The number of times the message was claimed: 1, or more when earlier claims did not reach done().
    std::uint64_t deliveries() const noexcept { return deliveries_; }
    /// Acknowledges the message, which removes it. A second call does nothing. Errors: busy in a forked
    /// child.
    void done();
    /// Returns the message to the queue, behind the waiting ones of its priority.
    void give_back() noexcept;

private:
    friend class MessageQueue;
    Delivery(std::shared_ptr<messages::Queue> queue, std::uint32_t node);
    std::shared_ptr<messages::Queue> queue_;
    std::uint32_t node_ = 0;
    Message message_;
    std::uint64_t deliveries_ = 0;
};

/// An open queue of messages. Any number of processes and threads push and pop.
///
/// A pop takes the oldest message of the highest priority. Of two messages of one priority, the older is the
/// one whose push returned before the other's began. A message that is given back, or recovered from a dead
/// process, counts as pushed at that moment.
///
/// Crash: a process may be killed at any instruction: the queue works on for the others.
///     * A message whose push() returned is delivered. If its sender dies inside push(), it is delivered once or never.
///     * try_pop() and pop() deliver at most once. If the consumer dies after taking the message out, inside the call or later,
///       the message is lost; if it dies earlier, another process gets it.
///     * try_claim() and claim() deliver until done(). If the consumer dies before, another process gets the message: within a
///       fifth of a second if it waits and finds nothing else, or at once by recover(). The work is then done once or repeated;
///       Delivery::deliveries() tells.
///     No process can know whether a dead one acted on its message; so the queue has both promises and the caller chooses.
///     When all processes are gone, the messages wait in the file for the next ones. Nothing is synced: the queue does not
///     survive the machine.
/// Sharing: any number of threads; up to 1024 openings of one queue, over all processes. No call waits for a
///     lock or for a stopped process. A process that may write the file may use it, and is trusted. A forked
///     child must open it anew.
class MessageQueue {
public:
    /// Creates a queue. Errors: already_exists; invalid_argument; no_space.
    static MessageQueue create(const std::string& path, const MessageQueueOptions& options = {});
    /// Opens an existing queue. Errors: not_found; corrupt for another kind or version of file, and for one
    /// that was truncated or changed; busy when it is open 1024 times.
    static MessageQueue open(const std::string& path);
    /// Opens the queue, or creates it. An existing file must match the options, its mode excepted. Errors:
    /// those of create() and open(); invalid_argument when it does not match.
    static MessageQueue open_or_create(const std::string& path, const MessageQueueOptions& options = {});

    /// Pushes a message. Returns false if the queue is full.
    /// Errors: out_of_range for a priority that the queue does not have; busy in a forked child; corrupt when
    ///     a process has scribbled over the file, as in every call here.
    bool try_push(const Message& message);
    /// Pushes a message. Errors: no_space if the queue is full; those of try_push().
    void push(const Message& message);
    /// Pushes a message, and sleeps while the queue is full. Returns false when the time is over or a signal
    /// came.
    bool push(const Message& message, std::chrono::nanoseconds at_most);
    /// Pushes messages one after the other, several times as fast as single calls. Returns how many were
    /// pushed: all, unless the queue becomes full.
    /// Crash: each message as in push().
    /// Errors: those of try_push(); then none is pushed.
    std::size_t try_push_many(std::span<const Message> messages);

    /// Takes a message out; nothing if none waits.
    std::optional<Message> try_pop();
    /// Takes a message out, and sleeps until one comes. Returns nothing when the time is over or a signal
    /// came.
    std::optional<Message> pop(std::chrono::nanoseconds at_most);
    /// Claims a message, or returns nothing if none waits; with a time, sleeps until one comes.
    std::optional<Delivery> try_claim();
    std::optional<Delivery> claim(std::chrono::nanoseconds at_most);

    /// Requeues messages claimed by dead processes; returns how many. A process that finds the queue empty or
    /// full does this by itself, at most ten times a second.
    std::uint64_t recover();

    /// Maps all memory now, in huge pages where possible, so that no push waits for the kernel at a new
    /// place. Call it once in each process.
    /// Cost: some 30 ms for a capacity of 2^20, which takes 136 MiB.
    void prepare();

    /// The number of waiting messages, of all priorities or of one. While other processes use the queue, the
    /// number is a moment old.
    std::uint64_t size() const;
    std::uint64_t size(std::uint32_t priority) const;
    /// The number of messages claimed and neither acknowledged nor given back. Looks at all places.
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
