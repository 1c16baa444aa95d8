// Figure 6 with NATS, which keeps no messages: first some processes publish while nobody listens, then they publish to as many subscribers. Each has a
// subject of its own, so that none gets what another has to read. Prints one line of JSON.

#include <nats/nats.h>
#include <CLI/CLI.hpp>

#include <cstring>
#include <stdexcept>

#include "channel.hpp"

namespace pmemcpy::hermes {

namespace {

/// Errors: std::runtime_error where the library did not do it.
void expect_ok(natsStatus status, const char* what) {
    if (status != NATS_OK) throw std::runtime_error(std::string(what) + ": " + natsStatus_GetText(status));
}

struct Task {
    std::string url;
    bool is_each_flushed = false;
    std::uint64_t messages = 0;
    int publishers = 0;
};

class Nats {
public:
    explicit Nats(const std::string& url) {
        expect_ok(natsConnection_ConnectTo(&connection_, url.c_str()), "connecting to nats-server");
    }
    Nats(const Nats&) = delete;
    Nats& operator=(const Nats&) = delete;
    ~Nats() {
        natsSubscription_Destroy(subscription_);
        natsConnection_Destroy(connection_);
    }

    void publish(const std::string& subject, std::uint64_t count, bool is_each_flushed) {
        for (std::uint64_t i = 0; i < count; ++i) {
            const Instruction sent = instruction(i);
            expect_ok(natsConnection_Publish(connection_, subject.c_str(), &sent, sizeof sent), "publish");
            if (is_each_flushed) flush();
        }
        flush();
    }

    void subscribe(const std::string& subject) {
        expect_ok(natsConnection_SubscribeSync(&subscription_, connection_, subject.c_str()), "subscribe");
        expect_ok(natsSubscription_SetPendingLimits(subscription_, -1, -1), "no limit of what waits");
        flush();
    }

    void receive(std::uint64_t count) {
        constexpr int patience_ms = 60'000;
        for (std::uint64_t i = 0; i < count; ++i) {
            natsMsg* message = nullptr;
            expect_ok(natsSubscription_NextMsg(&message, subscription_, patience_ms), "receive");
            Instruction received;
            const bool has_size = natsMsg_GetDataLength(message) == sizeof received;
            if (has_size) std::memcpy(&received, natsMsg_GetData(message), sizeof received);
            natsMsg_Destroy(message);
            if (!has_size) throw std::runtime_error("a message has another size");
            check(received);
        }
    }

private:
    /// Returns when the server has all that was sent.
    void flush() { expect_ok(natsConnection_Flush(connection_), "flush"); }

    natsConnection* connection_ = nullptr;
    natsSubscription* subscription_ = nullptr;
};

Spans be_one(const Task& task, const Client& client) {
    Nats nats(task.url);
    const bool is_publisher = client.index < task.publishers;
    const Client among{client.index % task.publishers, task.publishers, {}};
    const std::uint64_t count = share_of(among, task.messages);
    const std::string subject = "hermes." + std::to_string(among.index);
    Spans spans{};
    spans[0] = timed(client, [&] {
        if (is_publisher) nats.publish(subject, count, task.is_each_flushed);
    });
    client.meet();
    if (!is_publisher) nats.subscribe(subject);
    spans[1] = timed(client, [&] {
        if (is_publisher) {
            nats.publish(subject, count, false);
        } else {
            nats.receive(count);
        }
    });
    return spans;
}

}  // namespace

}  // namespace pmemcpy::hermes

int main(int argc, char** argv) {
    using namespace pmemcpy::hermes;
    std::string variant = "nats";
    Task task;
    task.messages = 1'000'000;
    task.publishers = 1;
    CLI::App app("Messages through NATS, as in Figure 6 of the Hermes paper");
    app.add_option("--variant", variant,
                   "nats: many messages a packet, as the library does by itself; nats-flushed: "
                   "waits until the server has each")
        ->check(CLI::IsMember({"nats", "nats-flushed"}));
    app.add_option("--path", task.url, "The server's URL")->required();
    app.add_option("--messages", task.messages)->check(CLI::PositiveNumber);
    app.add_option("--processes", task.publishers, "That publish, and as many that subscribe")
        ->check(CLI::Range(1, 32));
    CLI11_PARSE(app, argc, argv);
    task.is_each_flushed = variant == "nats-flushed";
    return print_result(argv[0], [&] {
        return result_of_messages(
            run_clients(2 * task.publishers, [&](const Client& client) { return be_one(task, client); }),
            task.messages, task.publishers);
    });
}
