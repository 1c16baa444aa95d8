// Figure 6 with a server process of MPI: rank 0 keeps the queue, the other ranks send to it and take from it. Prints one line of JSON.

#include <CLI/CLI.hpp>

#include <cstring>
#include <deque>
#include <stdexcept>

#include "bench/hermes/clients/mpi_server.hpp"
#include "channel.hpp"

namespace pmemcpy::hermes {

namespace {

enum class Verb : std::uint64_t { publish, take, is_empty };

struct Request {
    Verb verb = Verb::publish;
    Instruction instruction;
};

class Queue {
public:
    void perform(void* message) {
        Request request;
        std::memcpy(&request, message, sizeof request);
        if (request.verb == Verb::publish) {
            waiting_.push_back(request.instruction);
            return;
        }
        if (waiting_.empty()) {
            request.verb = Verb::is_empty;
        } else {
            request.instruction = waiting_.front();
            waiting_.pop_front();
        }
        std::memcpy(message, &request, sizeof request);
    }

private:
    std::deque<Instruction> waiting_;
};

class Asker : public Channel {
public:
    void publish(const Client&, std::uint64_t, const Instruction& instruction) override {
        Request request{Verb::publish, instruction};
        ask(&request, sizeof request);
    }
    Instruction take(const Client&, std::uint64_t) override {
        Request request{Verb::take, {}};
        ask(&request, sizeof request);
        if (request.verb == Verb::is_empty) throw std::runtime_error("a message is missing");
        return request.instruction;
    }
};

}  // namespace

}  // namespace pmemcpy::hermes

int main(int argc, char** argv) {
    using namespace pmemcpy::hermes;
    std::string variant = "mpi";
    std::uint64_t messages = 1'000'000;
    CLI::App app("Messages through a server process, as in Figure 6 of the Hermes paper");
    app.add_option("--variant", variant,
                   "mpi: a thread for each request; mpi-handed-over: one thread for all")
        ->check(CLI::IsMember({"mpi", "mpi-handed-over"}));
    app.add_option("--messages", messages)->check(CLI::PositiveNumber);
    CLI11_PARSE(app, argc, argv);
    return run_ranks(
        argc, argv, "hermes_messages_mpi",
        [&](int clients) {
            Queue queue;
            serve(clients, sizeof(Request), variant == "mpi" ? Serving::spawn : Serving::hand_over,
                  [&](void* message) { queue.perform(message); });
        },
        [&](const Client& client) {
            Asker channel;
            return send_and_take(channel, client, messages);
        },
        [&](const std::vector<Spans>& all) {
            return result_of_messages(all, messages, static_cast<int>(all.size()));
        });
}
