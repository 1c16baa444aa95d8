// Figure 6 with Memcached as a queue: each message is a value under its number, as in the paper. Who takes one gets it and deletes it. Prints one line
// of JSON.

#include <libmemcached/memcached.h>
#include <CLI/CLI.hpp>

#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include "channel.hpp"

namespace pmemcpy::hermes {

namespace {

class Memcached : public Channel {
public:
    explicit Memcached(const std::string& path) : connection_(connect(path)), deletes_(connect(path)) {
        // A queue has to delete what was taken; that is sent without waiting for an answer, so that taking costs one round trip and not two.
        memcached_behavior_set(deletes_, MEMCACHED_BEHAVIOR_NOREPLY, 1);
    }
    Memcached(const Memcached&) = delete;
    Memcached& operator=(const Memcached&) = delete;
    ~Memcached() override {
        memcached_free(deletes_);
        memcached_free(connection_);
    }

    void publish(const Client& client, std::uint64_t number, const Instruction& instruction) override {
        const std::string key = key_of(client.index, number);
        expect_done(memcached_set(connection_, key.data(), key.size(),
                                  reinterpret_cast<const char*>(&instruction), sizeof instruction, 0, 0));
    }

    Instruction take(const Client& client, std::uint64_t number) override {
        const int from = (client.index + 1) % client.count;
        std::string key = key_of(from, number);
        std::size_t length = 0;
        std::uint32_t flags = 0;
        memcached_return_t status = MEMCACHED_SUCCESS;
        const std::unique_ptr<char, decltype(&std::free)> value(
            memcached_get(connection_, key.data(), key.size(), &length, &flags, &status), &std::free);
        expect_done(status);
        Instruction instruction;
        if (length != sizeof instruction) throw std::runtime_error(key + " has another size");
        std::memcpy(&instruction, value.get(), length);
        expect_done(memcached_delete(deletes_, key.data(), key.size(), 0));
        return instruction;
    }

private:
    static memcached_st* connect(const std::string& path) {
        memcached_st* connection = memcached_create(nullptr);
        if (memcached_server_add_unix_socket(connection, path.c_str()) != MEMCACHED_SUCCESS)
            throw std::runtime_error("no memcached at " + path);
        return connection;
    }
    static std::string key_of(int from, std::uint64_t number) {
        return "m" + std::to_string(from) + "." + std::to_string(number);
    }
    void expect_done(memcached_return_t status) const {
        if (status != MEMCACHED_SUCCESS && status != MEMCACHED_BUFFERED)
            throw std::runtime_error(std::string("memcached: ") + memcached_strerror(connection_, status));
    }

    memcached_st* connection_;
    memcached_st* deletes_;
};

}  // namespace

}  // namespace pmemcpy::hermes

int main(int argc, char** argv) {
    using namespace pmemcpy::hermes;
    std::string path;
    std::uint64_t messages = 1'000'000;
    int processes = 1;
    CLI::App app("Messages through Memcached, as in Figure 6 of the Hermes paper");
    app.add_option("--path", path, "The server's socket")->required();
    app.add_option("--messages", messages)->check(CLI::PositiveNumber);
    app.add_option("--processes", processes)->check(CLI::Range(1, 64));
    CLI11_PARSE(app, argc, argv);
    return print_result(argv[0], [&] {
        if (messages % static_cast<std::uint64_t>(processes) != 0)
            throw std::runtime_error("--messages has to be a multiple of --processes");
        return result_of_messages(run_clients(processes,
                                              [&](const Client& client) {
                                                  Memcached channel(path);
                                                  return send_and_take(channel, client, messages);
                                              }),
                                  messages, processes);
    });
}
