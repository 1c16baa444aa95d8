#pragma once

#include "store/store.hpp"

#include <pmemcpy/messages.hpp>
#include <pmemcpy/tiers.hpp>

#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace pmemcpy::mover {

/// What processes ask of whoever works in the background of a pool: a queue of messages beside it, which is there from the first on.
/// Sharing: threads may share one.
class Requests {
public:
    /// The first makes the queue. Errors: no_space, when it is full; those of MessageQueue::open_or_create().
    void ask(const store::Store& store, Request what, std::string_view id, std::uint32_t urgency);
    std::uint64_t waiting(const store::Store& store);
    /// That wait, or that somebody is at; none for who may not look.
    std::uint64_t size(const store::Store& store);
    /// Does them one after the other, the most urgent first, until none is left or `written` has had enough, which is told what was
    /// written for it, as of flush(). What cannot be done is given up, and thrown when all have been tried. Who dies at one leaves it to
    /// the next.
    void answer(store::Store& store, const std::function<bool(std::uint64_t)>& written);

private:
    MessageQueue* queue(const store::Store& store, bool is_to_be = false);
    MessageQueue* checked(const store::Store& store);
    std::mutex mutex_;
    std::optional<MessageQueue> queue_;
};

}  // namespace pmemcpy::mover
