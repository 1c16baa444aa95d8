#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "members/bell.hpp"
#include "members/claims.hpp"
#include "members/members.hpp"
#include "messages/format.hpp"

namespace pmemcpy::messages {

/// The rings and nodes of a file of messages, and what may become of them; README.md has the rules.
class Queue {
public:
    static std::shared_ptr<Queue> create(const std::string& path, const MessageQueueOptions& options);
    static std::shared_ptr<Queue> open(const std::string& path);
    explicit Queue(members::Members members);

    const members::Members& members() const { return members_; }
    const Layout& layout() const { return layout_; }
    members::Bell news() const { return members::Bell(bells().news); }
    members::Bell room() const { return members::Bell(bells().room); }

    void prepare() { members_.touch_all(layout_.bells); }

    /// False if all nodes are taken.
    bool push(const Message& message);
    /// One after the other, until all nodes are taken. Returns how many.
    std::size_t push(std::span<const Message> messages);
    /// The node of the oldest message of the highest priority, which is this process's then.
    std::optional<std::uint32_t> claim();
    void finish(std::uint32_t node);
    void give_back(std::uint32_t node);
    Node& node(std::uint32_t n) const { return at<Node>(layout_.nodes + n * sizeof(Node)); }

    /// Finishes what the dead were at.
    std::uint64_t recover();
    /// The same of one message, whose `word` was read before its owner was found dead. True if the message is in the queue again by this call; nothing
    /// happens if its word is another by now.
    bool recover(std::uint32_t n, const members::Word& word);
    /// The same of all, if this process has not done it for a tenth of a second.
    std::uint64_t recover_now_and_then();

    std::uint64_t size(std::uint64_t priority) const;
    std::uint64_t claimed() const;

private:
    template <class T>
    T& at(std::uint64_t offset) const {
        return *reinterpret_cast<T*>(members_.base() + offset);
    }
    Bells& bells() const { return at<Bells>(layout_.bells); }
    std::atomic_ref<std::uint64_t> head(std::uint64_t priority) const {
        return std::atomic_ref(at<Ends>(layout_.ends + priority * sizeof(Ends)).head);
    }
    std::atomic_ref<std::uint64_t> tail(std::uint64_t priority) const {
        return std::atomic_ref(at<Ends>(layout_.ends + priority * sizeof(Ends)).tail);
    }
    std::atomic_ref<std::uint64_t> slot(std::uint64_t priority, std::uint64_t position) const {
        const std::uint64_t in_ring = position & (layout_.ring_slots - 1);
        return std::atomic_ref(
            at<std::uint64_t>(layout_.rings + (priority * layout_.ring_slots + in_ring) * 8));
    }
    std::atomic_ref<std::uint64_t> aim(std::uint32_t n) const { return std::atomic_ref(node(n).aim); }

    members::Word as(NodeState state, std::uint32_t turn = 0) const;
    std::optional<std::uint32_t> claim_of(std::uint64_t priority);
    void publish(std::uint32_t n, std::uint64_t priority);
    std::uint64_t put_into_slot(std::uint32_t n, std::uint64_t priority, std::uint64_t from);
    void move_tail(std::uint64_t priority, std::uint64_t behind);
    std::size_t push_row(std::span<const Message> messages);
    void empty_slot(std::uint64_t priority, std::uint64_t position, std::uint64_t found) const;
    void return_to_queue(std::uint32_t n, const members::Word& mine);
    [[noreturn]] void throw_slot(std::uint64_t priority, std::uint64_t position) const;

    members::Members members_;
    Layout layout_;
    members::Claims claims_;
    std::atomic<std::uint64_t> recovered_ns_{0};
};

}  // namespace pmemcpy::messages
