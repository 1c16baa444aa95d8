#include "mover/requests.hpp"

#include "os/file.hpp"
#include "os/process.hpp"
#include "tier/heat.hpp"

#include <pmemcpy/error.hpp>

#include <fcntl.h>

#include <exception>
#include <utility>

namespace pmemcpy::mover {

namespace {

constexpr std::uint64_t most_waiting = 1024;
// An id that is too long for a message is told by its place in the catalog.
constexpr std::uint32_t by_place = 0x100;
constexpr std::size_t longest_id = sizeof Message::attributes;

constexpr MessageQueueOptions queue_options = {
    .capacity = most_waiting, .priorities = most_urgent + 1, .mode = 0600};

// Of those who may write the pool.
unsigned bits_for(unsigned permissions) {
    return 0600 | ((permissions & 0020) != 0 ? 0060 : 0) | ((permissions & 0002) != 0 ? 0006 : 0);
}

// Its maker had an umask, and the pool may let in others since. Its owner puts that right; for anybody else it is as it is.
void let_in_writers(const store::Store& store, const std::string& path) {
    try {
        auto file = os::File::open_if_exists(path, O_RDWR | O_NOFOLLOW);
        if (!file || file->owner() != os::user_id()) return;
        const unsigned bits = bits_for(store.permissions());
        if ((file->mode_bits() & 0777) != bits) store.share_like(*file, bits);
    } catch (const Error&) {
        // Whoever cannot use it is told so.
    }
}

Message message_of(const store::Store& store, Request what, std::string_view id, std::uint32_t urgency) {
    const auto type = static_cast<std::uint32_t>(what);
    if (id.size() <= longest_id) return Message::of(type, id, urgency);
    const auto place = store.place_of(id);
    if (!place) throw Error(Code::not_found, "there is no '" + std::string(id) + "' in " + store.path());
    return {.type = type | by_place, .priority = urgency, .attributes = {*place}};
}

/// Nothing, where what was meant is gone since.
std::optional<std::string> id_in(const store::Store& store, const Message& message) {
    if ((message.type & by_place) != 0) return store.id_at(message.attributes.front());
    std::string id = message.text();
    if (id != "/" && !store.exists(id) && store.is_group(id) != true) return std::nullopt;
    return id;
}

void answer_one(store::Store& store, const Message& message,
                const std::function<bool(std::uint64_t)>& written) {
    const auto id = id_in(store, message);
    if (!id) return;
    switch (static_cast<Request>(message.type & ~by_place)) {
        case Request::flush:
            store.flush(
                *id, {}, [&](const FlushProgress&) { return written(0); }, written);
            return;
        case Request::bring_up:
            for (const auto& block : store.say(*id, std::nullopt, tier::Need::soon)) {
                if (!written(0)) return;
                store.bring_up(block, store::Store::Why::wanted);
            }
            return;
    }
    // Of a later version of the library, or no message of ours.
}

}  // namespace

void Requests::ask(const store::Store& store, Request what, std::string_view id, std::uint32_t urgency) {
    if (urgency > most_urgent)
        throw Error(Code::invalid_argument, "an urgency of " + std::to_string(urgency) + "; the highest is " +
                                                std::to_string(most_urgent));
    if (id != "/" && !store.exists(id) && store.is_group(id) != true)
        throw Error(Code::not_found, "there is no '" + std::string(id) + "' in " + store.path());
    const Message message = message_of(store, what, id, urgency);
    if (!queue(store, true)->try_push(message))
        throw Error(Code::no_space, std::to_string(most_waiting) +
                                        " requests are waiting already for the background work of " +
                                        store.path());
}

// Null until somebody has asked for something, unless it is to be made. In a directory where others may make files this one may be somebody's who may not write the pool.
MessageQueue* Requests::queue(const store::Store& store, bool is_to_be) {
    const std::lock_guard lock(mutex_);
    if (queue_) return &*queue_;
    const std::string path = store.requests_path();
    const auto there = os::File::open_if_exists(path, O_PATH | O_NOFOLLOW);
    if (!there && !is_to_be) return nullptr;
    if (!there) {
        queue_.emplace(MessageQueue::open_or_create(path, queue_options));
        let_in_writers(store, path);
        return checked(store);
    }
    if (!there->is_regular())
        throw Error(Code::permission_denied, path + " is no file of the pool's; remove it");
    store.refuse_foreign(*there);
    let_in_writers(store, path);
    queue_.emplace(MessageQueue::open(path));
    return checked(store);
}

// Opened by the pool's name, which may lead to another pool by now.
MessageQueue* Requests::checked(const store::Store& store) {
    if (store.is_in_place()) return &*queue_;
    queue_.reset();
    store.check_in_place();
    return nullptr;
}

std::uint64_t Requests::size(const store::Store& store) {
    try {
        MessageQueue* const queue = this->queue(store);
        return queue == nullptr ? 0 : queue->size() + queue->claimed();
    } catch (const Error& error) {
        if (error.kind() != Code::permission_denied) throw;
        return 0;  // of who may not write the pool, or where something else lies
    }
}

std::uint64_t Requests::waiting(const store::Store& store) {
    MessageQueue* const queue = this->queue(store);
    if (queue == nullptr) return 0;
    return queue->size();
}

void Requests::answer(store::Store& store, const std::function<bool(std::uint64_t)>& written) {
    MessageQueue* const queue = this->queue(store);
    if (queue == nullptr) return;
    std::exception_ptr first_error;
    while (written(0)) {
        auto request = queue->try_claim();
        if (!request) break;
        try {
            answer_one(store, request->message(), written);
            if (!written(0)) break;  // it may be half done, and goes back
        } catch (const Error&) {
            if (!first_error) first_error = std::current_exception();
        }
        request->done();
    }
    if (first_error) std::rethrow_exception(first_error);
}

}  // namespace pmemcpy::mover
