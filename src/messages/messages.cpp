// The promise, in terms of the queue.

#include <pmemcpy/messages.hpp>

#include <algorithm>
#include <cstring>
#include <utility>

#include "messages/queue.hpp"
#include "os/process.hpp"

namespace pmemcpy {

namespace {

// Who waits looks by himself as often, so that one who dies before he rings the bell, or with a claim, is not missed for longer.
constexpr std::uint64_t longest_sleep_ns = 100'000'000;

/// Tries until it succeeds, asleep meanwhile. `try_it` says whether it did.
template <class Try>
bool wait_for(const members::Bell& bell, std::chrono::nanoseconds at_most, const Try& try_it) {
    if (try_it()) return true;
    const std::uint64_t begin = os::monotonic_ns();
    const auto all = static_cast<std::uint64_t>(std::max<std::int64_t>(at_most.count(), 0));
    for (;;) {
        const std::uint32_t rung = bell.await();
        if (try_it()) return true;
        const std::uint64_t waited = os::monotonic_ns() - begin;
        if (waited >= all) return false;
        if (bell.wait(rung, std::min(longest_sleep_ns, all - waited)) == os::Woken::by_signal) return false;
        if (try_it()) return true;
    }
}

}  // namespace

Message Message::of(std::uint32_t type, std::string_view text, std::uint32_t priority) {
    Message message{type, priority, {}};
    if (text.size() > sizeof message.attributes) {
        throw Error(Code::out_of_range, "a text of " + std::to_string(text.size()) +
                                            " bytes does not fit into a message, which has " +
                                            std::to_string(sizeof message.attributes) + " for it");
    }
    std::memcpy(message.attributes.data(), text.data(), text.size());
    return message;
}

std::string Message::text() const {
    const auto* begin = reinterpret_cast<const char*>(attributes.data());
    return {begin, ::strnlen(begin, sizeof attributes)};
}

Delivery::Delivery(std::shared_ptr<messages::Queue> queue, std::uint32_t node)
    : queue_(std::move(queue)),
      node_(node),
      message_(queue_->node(node).message),
      deliveries_(queue_->node(node).deliveries) {}

Delivery::Delivery(Delivery&& other) noexcept
    : queue_(std::move(other.queue_)),
      node_(other.node_),
      message_(other.message_),
      deliveries_(other.deliveries_) {}

Delivery& Delivery::operator=(Delivery&& other) noexcept {
    if (this == &other) return *this;
    give_back();
    queue_ = std::move(other.queue_);
    node_ = other.node_;
    message_ = other.message_;
    deliveries_ = other.deliveries_;
    return *this;
}

void Delivery::done() {
    if (!queue_) return;
    queue_->members().check();
    const std::shared_ptr<messages::Queue> queue = std::move(queue_);
    queue->finish(node_);
}

void Delivery::give_back() noexcept {
    if (!queue_) return;
    const std::shared_ptr<messages::Queue> queue = std::move(queue_);
    if (queue->members().is_forked()) return;
    try {
        queue->give_back(node_);
    } catch (const Error&) {
        // Somebody has scribbled over the file, as whoever uses the queue next is told.
        return;
    }
}

MessageQueue MessageQueue::create(const std::string& path, const MessageQueueOptions& options) {
    return MessageQueue(messages::Queue::create(path, options));
}

MessageQueue MessageQueue::open(const std::string& path) { return MessageQueue(messages::Queue::open(path)); }

MessageQueue MessageQueue::open_or_create(const std::string& path, const MessageQueueOptions& options) {
    const messages::Layout wanted = messages::lay_out(options.capacity, options.priorities);
    for (;;) {
        try {
            MessageQueue queue = open(path);
            if (queue.capacity() != wanted.capacity || queue.priorities() != wanted.priorities) {
                throw Error(Code::invalid_argument,
                            "'" + path + "' is a queue for " + std::to_string(queue.capacity()) +
                                " messages of " + std::to_string(queue.priorities()) +
                                " priorities, not for " + std::to_string(wanted.capacity) + " of " +
                                std::to_string(wanted.priorities));
            }
            return queue;
        } catch (const Error& error) {
            if (error.kind() != Code::not_found) throw;
        }
        try {
            return create(path, options);
        } catch (const Error& error) {
            if (error.kind() != Code::already_exists) throw;  // else somebody was faster
        }
    }
}

void MessageQueue::check(const Message& message) const {
    if (message.priority < priorities()) return;
    throw Error(Code::out_of_range, "a message of priority " + std::to_string(message.priority) + " for '" +
                                        path() + "', whose priorities are 0 to " +
                                        std::to_string(priorities() - 1));
}

bool MessageQueue::try_push(const Message& message) {
    queue_->members().check();
    check(message);
    if (queue_->push(message)) return true;
    queue_->recover_now_and_then();
    return queue_->push(message);
}

std::size_t MessageQueue::try_push_many(std::span<const Message> messages) {
    queue_->members().check();
    for (const Message& each : messages) check(each);
    const std::size_t pushed = queue_->push(messages);
    if (pushed == messages.size()) return pushed;
    queue_->recover_now_and_then();
    return pushed + queue_->push(messages.subspan(pushed));
}

void MessageQueue::push(const Message& message) {
    if (try_push(message)) return;
    throw Error(Code::no_space, "'" + path() + "' is full: " + std::to_string(capacity()) +
                                    " messages are in it, " + std::to_string(claimed()) + " of them claimed");
}

bool MessageQueue::push(const Message& message, std::chrono::nanoseconds at_most) {
    return wait_for(queue_->room(), at_most, [&] { return try_push(message); });
}

std::optional<Delivery> MessageQueue::try_claim() {
    queue_->members().check();
    auto node = queue_->claim();
    if (!node && queue_->recover_now_and_then() > 0) node = queue_->claim();
    if (!node) return std::nullopt;
    return Delivery(queue_, *node);
}

std::optional<Delivery> MessageQueue::claim(std::chrono::nanoseconds at_most) {
    std::optional<Delivery> found;
    wait_for(queue_->news(), at_most, [&] {
        found = try_claim();
        return found.has_value();
    });
    return found;
}

std::optional<Message> MessageQueue::try_pop() {
    queue_->members().check();
    auto node = queue_->claim();
    if (!node && queue_->recover_now_and_then() > 0) node = queue_->claim();
    if (!node) return std::nullopt;
    const Message message = queue_->node(*node).message;
    queue_->finish(*node);
    return message;
}

std::optional<Message> MessageQueue::pop(std::chrono::nanoseconds at_most) {
    std::optional<Message> found;
    wait_for(queue_->news(), at_most, [&] {
        found = try_pop();
        return found.has_value();
    });
    return found;
}

void MessageQueue::prepare() {
    queue_->members().check();
    queue_->prepare();
}

std::uint64_t MessageQueue::recover() {
    queue_->members().check();
    return queue_->recover();
}

std::uint64_t MessageQueue::size() const {
    std::uint64_t all = 0;
    for (std::uint32_t priority = 0; priority < priorities(); ++priority) all += size(priority);
    return all;
}

std::uint64_t MessageQueue::size(std::uint32_t priority) const {
    queue_->members().check();
    if (priority >= priorities()) {
        throw Error(Code::out_of_range, "priority " + std::to_string(priority) + " of '" + path() +
                                            "', whose priorities are 0 to " +
                                            std::to_string(priorities() - 1));
    }
    return queue_->size(priority);
}

std::uint64_t MessageQueue::claimed() const {
    queue_->members().check();
    return queue_->claimed();
}

std::uint64_t MessageQueue::capacity() const noexcept { return queue_->layout().capacity; }
std::uint32_t MessageQueue::priorities() const noexcept {
    return static_cast<std::uint32_t>(queue_->layout().priorities);
}
const std::string& MessageQueue::path() const noexcept { return queue_->members().path(); }

}  // namespace pmemcpy
