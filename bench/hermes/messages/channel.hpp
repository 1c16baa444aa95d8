#pragma once

#include <nlohmann/json.hpp>

#include "bench/hermes/clients/clients.hpp"
#include "instruction.hpp"

namespace pmemcpy::hermes {

/// What keeps messages until somebody takes them, as one process uses it.
class Channel {
public:
    virtual ~Channel() = default;
    /// Returns when others can take it, or will be able to after publish_rest(). Numbers count up from 0 in each client.
    virtual void publish(const Client& client, std::uint64_t number, const Instruction& instruction) = 0;
    /// Of a channel that collects some: returns when others can take all.
    virtual void publish_rest(const Client&) {}
    /// The next; `number` is how many this client has taken already.
    virtual Instruction take(const Client& client, std::uint64_t number) = 0;
};

/// How many of `messages` one client sends, and receives.
std::uint64_t share_of(const Client& client, std::uint64_t messages);

/// One client's part: sends its share; when all have sent theirs, takes as many.
/// Errors: std::runtime_error when something else comes than was sent.
Spans send_and_take(Channel& channel, const Client& client, std::uint64_t messages);

/// {"messages", "processes", "publish_s", "subscribe_s"}
nlohmann::ordered_json result_of_messages(const std::vector<Spans>& all, std::uint64_t messages,
                                          int processes);

}  // namespace pmemcpy::hermes
