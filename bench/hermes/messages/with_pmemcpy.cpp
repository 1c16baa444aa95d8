// Figure 6 with this library's queue: the processes push into a file that they have mapped, and take from it; nobody serves. Prints one line of JSON.

#include <CLI/CLI.hpp>

#include <pmemcpy/messages.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include <unistd.h>

#include "channel.hpp"

namespace pmemcpy::hermes {

namespace {

class Queue : public Channel {
public:
    Queue(const std::string& path, std::size_t at_once)
        : queue_(MessageQueue::open(path)), at_once_(at_once) {
        queue_.prepare();
    }

    void publish(const Client& client, std::uint64_t, const Instruction& sent) override {
        const Message message{sent.type, sent.priority, sent.attributes};
        if (at_once_ == 1) return queue_.push(message);
        collected_.push_back(message);
        if (collected_.size() == at_once_) publish_rest(client);
    }
    void publish_rest(const Client&) override {
        if (queue_.try_push_many(collected_) != collected_.size())
            throw std::runtime_error("there is no room for a message");
        collected_.clear();
    }

    Instruction take(const Client&, std::uint64_t) override {
        const auto taken = queue_.pop(std::chrono::seconds(10));
        if (!taken) throw std::runtime_error("a message that was sent did not come");
        return {taken->type, taken->priority, taken->attributes};
    }

private:
    MessageQueue queue_;
    std::size_t at_once_;
    std::vector<Message> collected_;
};

}  // namespace

}  // namespace pmemcpy::hermes

int main(int argc, char** argv) {
    using namespace pmemcpy::hermes;
    std::string path;
    std::uint64_t messages = 1'000'000;
    int processes = 1;
    std::string variant = "pmemcpy";
    CLI::App app("Messages through a queue in shared memory, as in Figure 6 of the Hermes paper");
    app.add_option("--path", path, "The queue's file, which is made anew")->required();
    app.add_option("--variant", variant,
                   "pmemcpy: each is there when its push returns; pmemcpy-collected: 64 at a time")
        ->check(CLI::IsMember({"pmemcpy", "pmemcpy-collected"}));
    app.add_option("--messages", messages)->check(CLI::Range(1, 1 << 20));
    app.add_option("--processes", processes)->check(CLI::Range(1, 64));
    CLI11_PARSE(app, argc, argv);
    return print_result(argv[0], [&] {
        ::unlink(path.c_str());
        pmemcpy::MessageQueue::create(path, {.capacity = messages}).prepare();
        return result_of_messages(run_clients(processes,
                                              [&](const Client& client) {
                                                  Queue channel(path, variant == "pmemcpy" ? 1 : 64);
                                                  return send_and_take(channel, client, messages);
                                              }),
                                  messages, processes);
    });
}
