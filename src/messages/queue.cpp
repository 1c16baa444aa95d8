#include "messages/queue.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>
#include <vector>

#include "base/checked.hpp"
#include "os/process.hpp"

namespace pmemcpy::messages {

using members::Word;

namespace {

constexpr std::uint64_t between_recoveries_ns = 100'000'000;
constexpr std::size_t at_once = 64;  // as a word of hints has

NodeState state_of(const Word& word) { return static_cast<NodeState>(word.state); }

members::Shape shape_of(const Layout& layout) { return {layout.capacity, layout.priorities, 0, 0}; }
Layout layout_of(const members::Shape& shape) { return lay_out(shape[0], shape[1]); }
members::Body body_of(const Layout& layout) {
    return {layout.file_bytes, layout.nodes + offsetof(Node, word), sizeof(Node), layout.capacity};
}

std::uint64_t waiting_for(std::uint64_t position) { return position & position_mask; }
std::uint64_t filled(std::uint32_t n, std::uint64_t position) {
    return (std::uint64_t{n} + 1) << position_bits | (position & position_mask);
}
bool is_filled(std::uint64_t slot) { return slot >> position_bits != 0; }
std::uint32_t node_in(std::uint64_t slot) { return static_cast<std::uint32_t>((slot >> position_bits) - 1); }

std::uint64_t packed_aim(std::uint64_t priority, std::uint64_t position) {
    return priority << 56 | (position & position_mask);
}

/// Who has lost a race for a line of memory leaves it to the winner for a while. Else the line goes to and fro, and each of the two
/// takes several times as long.
class Courtesy {
public:
    void wait() {
        for (unsigned i = 0; i < turns_; ++i) {
#if defined(__x86_64__)
            __builtin_ia32_pause();
#elif defined(__aarch64__)
            asm volatile("isb");
#endif
        }
        turns_ = std::min(2 * turns_, most_turns);
    }

private:
    static constexpr unsigned most_turns = 8192;
    unsigned turns_ = 1024;
};

}  // namespace

Layout lay_out(std::uint64_t capacity, std::uint64_t priorities) {
    if (capacity == 0 || capacity > most_messages) {
        throw Error(Code::invalid_argument, "a queue for " + std::to_string(capacity) +
                                                " messages: it can be for 1 to " +
                                                std::to_string(most_messages));
    }
    if (priorities == 0 || priorities > most_priorities) {
        throw Error(Code::invalid_argument, "a queue with " + std::to_string(priorities) +
                                                " priorities: it can have 1 to " +
                                                std::to_string(most_priorities));
    }
    Layout layout;
    layout.capacity = capacity;
    layout.priorities = priorities;
    layout.ring_slots = std::bit_ceil(capacity + 1);
    layout.ends = layout.bells + sizeof(Bells);
    layout.rings = layout.ends + priorities * sizeof(Ends);
    layout.hints = base::align_up(layout.rings + priorities * layout.ring_slots * 8, 64);
    layout.nodes = base::align_up(layout.hints + members::bytes_of_bits(capacity), sizeof(Node));
    layout.file_bytes = base::align_up(layout.nodes + capacity * sizeof(Node), 4096);
    return layout;
}

std::shared_ptr<Queue> Queue::create(const std::string& path, const MessageQueueOptions& options) {
    const Layout layout = lay_out(options.capacity, options.priorities);
    return std::make_shared<Queue>(members::Members::create(
        {path, members::Kind::messages, shape_of(layout), body_of(layout), options.mode},
        [&](std::byte* base) {
            for (std::uint64_t ring = 0; ring < layout.priorities; ++ring) {
                auto* slots =
                    reinterpret_cast<std::uint64_t*>(base + layout.rings) + ring * layout.ring_slots;
                for (std::uint64_t i = 0; i < layout.ring_slots; ++i) slots[i] = waiting_for(i);
            }
            members::Claims(base + layout.hints, base + layout.nodes, sizeof(Node),
                            static_cast<std::uint32_t>(layout.capacity))
                .set_up();
        }));
}

std::shared_ptr<Queue> Queue::open(const std::string& path) {
    return std::make_shared<Queue>(
        members::Members::open(path, members::Kind::messages,
                               [](const members::Shape& shape) { return body_of(layout_of(shape)); }));
}

Queue::Queue(members::Members members)
    : members_(std::move(members)),
      layout_(layout_of(members_.shape())),
      claims_(members_.base() + layout_.hints, members_.base() + layout_.nodes, sizeof(Node),
              static_cast<std::uint32_t>(layout_.capacity), members_.me().seat) {}

Word Queue::as(NodeState state, std::uint32_t turn) const {
    Word word;
    word.state = static_cast<std::uint8_t>(state);
    word.turn = turn;
    if (state != NodeState::queued) word.owner = members_.me();
    return word;
}

void Queue::throw_slot(std::uint64_t priority, std::uint64_t position) const {
    members_.throw_corrupt("says nothing that makes sense at message " + std::to_string(position) +
                           " of priority " + std::to_string(priority));
}

bool Queue::push(const Message& message) {
    const auto taken = claims_.take_one(as(NodeState::filling));
    if (!taken) return false;
    const std::uint32_t n = *taken;
    node(n).message = message;
    node(n).deliveries = 0;
    // From the slot on it is in the queue, whatever becomes of us. Its word stays ours until somebody claims it, or we are gone.
    publish(n, message.priority);
    news().ring();
    return true;
}

std::size_t Queue::push(std::span<const Message> messages) {
    std::size_t pushed = 0;
    for (std::size_t more = 1; more != 0 && pushed < messages.size(); pushed += more)
        more = push_row(messages.subspan(pushed, std::min(at_once, messages.size() - pushed)));
    if (pushed != 0) news().ring();
    return pushed;
}

// What is paid for each message otherwise, once: the search for nodes, and the tail, which all who push change.
std::size_t Queue::push_row(std::span<const Message> messages) {
    std::array<std::uint32_t, at_once> nodes;
    std::size_t count = 0;
    static thread_local std::vector<members::Run> runs;  // to allocate nothing in the usual case
    runs.clear();
    runs.reserve(messages.size());
    claims_.take(static_cast<std::uint32_t>(messages.size()), as(NodeState::filling), runs);
    for (const members::Run& run : runs) {
        for (std::uint32_t n = run.first; n < run.first + run.count; ++n) {
            node(n).message = messages[count];
            node(n).deliveries = 0;
            nodes.at(count++) = n;
        }
    }
    std::array<std::uint64_t, most_priorities> behind{};  // what was put into the queue here; 0: nothing was
    for (std::size_t i = 0; i < count; ++i) {
        const std::uint32_t priority = messages[i].priority;
        const std::uint64_t from = behind.at(priority) != 0 ? behind.at(priority) : tail(priority).load();
        behind.at(priority) = put_into_slot(nodes.at(i), priority, from) + 1;
    }
    for (std::uint64_t priority = 0; priority < layout_.priorities; ++priority) {
        if (behind.at(priority) != 0) move_tail(priority, behind.at(priority));
    }
    return count;
}

// Rule 2: one CAS on the slot puts a message into the queue; who comes next moves the tail if we do not.
void Queue::publish(std::uint32_t n, std::uint64_t priority) {
    move_tail(priority, put_into_slot(n, priority, tail(priority).load()) + 1);
}

/// Into the first slot that is free, from one on before which none is. Returns its position.
std::uint64_t Queue::put_into_slot(std::uint32_t n, std::uint64_t priority, std::uint64_t from) {
    Courtesy courtesy;
    for (std::uint64_t position = from;;) {
        std::uint64_t found = slot(priority, position).load();
        if (found == waiting_for(position)) {
            // Past what others have put there the tail moves before the slot is filled. So it lags behind by what one process has put
            // there in one go, which is less than a ring, however many die before they move it.
            if (position != from) move_tail(priority, position);
            aim(n).store(
                packed_aim(priority, position));  // before the slot: who finds us dead looks there (rule 4)
            if (slot(priority, position).compare_exchange_strong(found, filled(n, position))) return position;
            courtesy.wait();
            position = std::max(position, tail(priority).load());
            continue;
        }
        const bool is_taken = (is_filled(found) && (found & position_mask) == waiting_for(position)) ||
                              found == waiting_for(position + layout_.ring_slots);
        if (is_taken) {
            ++position;
            continue;
        }
        const std::uint64_t now = tail(priority).load();
        if (now <= position) throw_slot(priority, position);
        position = now;  // others have filled this slot again, and again
    }
}

// All before `behind` are taken.
void Queue::move_tail(std::uint64_t priority, std::uint64_t behind) {
    std::uint64_t now = tail(priority).load();
    while (now < behind && !tail(priority).compare_exchange_weak(now, behind)) {
    }
}

// Rule 3: a slot is emptied when its node is claimed, and before the node can be anything else.
void Queue::empty_slot(std::uint64_t priority, std::uint64_t position, std::uint64_t found) const {
    slot(priority, position).compare_exchange_strong(found, waiting_for(position + layout_.ring_slots));
}

std::optional<std::uint32_t> Queue::claim() {
    for (std::uint64_t priority = layout_.priorities; priority-- > 0;) {
        if (auto n = claim_of(priority)) return n;
    }
    return std::nullopt;
}

std::optional<std::uint32_t> Queue::claim_of(std::uint64_t priority) {
    Courtesy courtesy;
    for (;;) {
        std::uint64_t position = head(priority).load();
        const std::uint64_t found = slot(priority, position).load();
        if (found == waiting_for(position)) {
            if (head(priority).load() == position) return std::nullopt;
            continue;
        }
        if (found == waiting_for(position + layout_.ring_slots)) {
            courtesy.wait();
            head(priority).compare_exchange_strong(position, position + 1);
            continue;
        }
        if (!is_filled(found) || (found & position_mask) != waiting_for(position) ||
            node_in(found) >= layout_.capacity) {
            if (head(priority).load() == position) throw_slot(priority, position);
            continue;
        }
        const std::uint32_t n = node_in(found);
        const Word word = claims_.load(n);
        // A slot never says the same again, so the word is one that the node had while it was here.
        if (slot(priority, position).load() != found) continue;
        const NodeState state = state_of(word);
        if (state == NodeState::free || state > NodeState::returning) throw_slot(priority, position);
        const bool is_ours =
            state != NodeState::claimed && claims_.change(n, word, as(NodeState::claimed, word.turn));
        if (!is_ours) {
            // Who has it moves the head, unless he has died or is stopped.
            courtesy.wait();
            if (state != NodeState::claimed || head(priority).load() != position) continue;
        }
        empty_slot(priority, position, found);
        head(priority).compare_exchange_strong(position, position + 1);
        if (is_ours) {
            node(n).deliveries += 1;
            return n;
        }
    }
}

void Queue::finish(std::uint32_t n) {
    const Word mine = claims_.load(n);
    if (state_of(mine) != NodeState::claimed || mine.owner != members_.me() || !claims_.free(n, mine))
        members_.throw_corrupt("gave message " + std::to_string(n) + " to somebody else");
    room().ring();
}

void Queue::give_back(std::uint32_t n) {
    const Word mine = claims_.load(n);
    const Word returning = as(NodeState::returning, mine.turn + 1);  // rule 3: another turn
    if (state_of(mine) != NodeState::claimed || mine.owner != members_.me() ||
        !claims_.change(n, mine, returning))
        members_.throw_corrupt("gave message " + std::to_string(n) + " to somebody else");
    return_to_queue(n, returning);
}

void Queue::return_to_queue(std::uint32_t n, const Word& mine) {
    publish(n, aim(n).load() >> 56);
    claims_.change(n, mine, as(NodeState::queued, mine.turn));
    news().ring();
}

// Rule 4: what the dead were at is told by the word, the aim, and the slot that it names.
bool Queue::recover(std::uint32_t n, const Word& word) {
    const std::uint64_t aimed = aim(n).load();
    const std::uint64_t priority = aimed >> 56;
    const std::uint64_t position = aimed & position_mask;
    if (priority >= layout_.priorities)
        members_.throw_corrupt("has a message of priority " + std::to_string(priority));
    const std::uint64_t found = slot(priority, position).load();
    const bool is_in_slot = found == filled(n, position);
    // Another process may have recovered the message before we looked at the aim. Then the slot is the one that it has put the message into, and
    // nobody is to empty it. While the word is the dead owner's, the aim and the slot are too. The other acts below are exchanges of the word.
    if (claims_.load(n) != word) return false;
    switch (state_of(word)) {
        case NodeState::filling:
            if (is_in_slot) {
                claims_.change(n, word, as(NodeState::queued, word.turn));
            } else if (claims_.free(n, word)) {
                room().ring();
            }
            return false;
        case NodeState::returning:
            if (is_in_slot) {
                claims_.change(n, word, as(NodeState::queued, word.turn));
                return false;
            }
            break;
        case NodeState::claimed:
            if (is_in_slot) empty_slot(priority, position, found);
            break;
        default:
            return false;
    }
    const Word mine = as(NodeState::returning, word.turn + 1);
    if (!claims_.change(n, word, mine)) return false;
    return_to_queue(n, mine);
    return true;
}

std::uint64_t Queue::recover() {
    members::Roll roll(members_);
    std::uint64_t returned = 0;
    for (std::uint32_t n = 0; n < layout_.capacity; ++n) {
        const Word word = claims_.load(n);
        const NodeState state = state_of(word);
        if (state > NodeState::returning) members_.throw_corrupt("has a message in no state that there is");
        if (state == NodeState::free || state == NodeState::queued || !roll.is_dead(word.owner)) continue;
        if (recover(n, word)) ++returned;
    }
    return returned;
}

std::uint64_t Queue::recover_now_and_then() {
    const std::uint64_t now = os::coarse_ns();
    std::uint64_t last = recovered_ns_.load(std::memory_order_relaxed);
    if (now - last < between_recoveries_ns) return 0;
    return recovered_ns_.compare_exchange_strong(last, now) ? recover() : 0;
}

std::uint64_t Queue::size(std::uint64_t priority) const {
    const std::uint64_t begin = head(priority).load();
    const std::uint64_t end = tail(priority).load();
    return end > begin ? end - begin : 0;  // either may lag behind
}

std::uint64_t Queue::claimed() const {
    std::uint64_t n = 0;
    for (std::uint32_t i = 0; i < layout_.capacity; ++i) {
        const NodeState state = state_of(claims_.load(i));
        if (state == NodeState::claimed || state == NodeState::returning) ++n;
    }
    return n;
}

}  // namespace pmemcpy::messages
