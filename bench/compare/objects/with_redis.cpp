// Redis: a server in memory, asked through a Unix socket by hiredis. The path is a folder with the server's socket; the
// server is started at create and lives until `remove`. Its page faults are not this process's, and are not counted.

#include <fcntl.h>
#include <hiredis.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <initializer_list>
#include <system_error>
#include <thread>

#include "library.hpp"

namespace compare::objects {
namespace {

struct FreeReply {
    void operator()(redisReply* reply) const { freeReplyObject(reply); }
};
using Reply = std::unique_ptr<redisReply, FreeReply>;

struct FreeContext {
    void operator()(redisContext* context) const { redisFree(context); }
};
using Connection = std::unique_ptr<redisContext, FreeContext>;

std::string socket_of(const std::string& path) { return path + "/socket"; }

/// Empty when nobody listens there.
Connection connect(const std::string& path) {
    Connection connection(redisConnectUnix(socket_of(path).c_str()));
    if (!connection) throw std::runtime_error("redisConnectUnix: no memory");
    if (connection->err != 0) connection.reset();
    return connection;
}

/// Runs redis-server, which goes into the background and listens when it does so.
void start_server(const std::string& path) {
    if (::mkdir(path.c_str(), 0777) != 0) throw std::system_error(errno, std::generic_category(), path);
    const std::string socket = socket_of(path);
    if (socket.size() > 107) throw std::runtime_error(socket + " is too long for the path of a socket");
    const pid_t child = ::fork();
    if (child < 0) throw std::system_error(errno, std::generic_category(), "fork");
    if (child == 0) {
        // Redis's page on benchmarks: "unix domain sockets can achieve around 50% more throughput than the TCP/IP loopback
        // (on Linux for instance)". --save "" and appendonly no: nothing is kept on disk.
        ::execlp("redis-server", "redis-server", "--port", "0", "--unixsocket", socket.c_str(), "--save", "",
                 "--appendonly", "no", "--daemonize", "yes", "--dir", path.c_str(), "--logfile",
                 (path + "/log").c_str(), nullptr);
        std::_Exit(127);
    }
    int status = 0;
    if (::waitpid(child, &status, 0) < 0) throw std::system_error(errno, std::generic_category(), "waitpid");
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        throw std::runtime_error("redis-server did not start");
    for (int tries = 0; tries < 1000; ++tries) {
        if (connect(path)) return;
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    throw std::runtime_error("redis-server does not listen at " + socket + "; see " + path + "/log");
}

class Redis : public Library {
public:
    /// Up to `most_ahead` stores and erases are sent before their answers are read.
    explicit Redis(int most_ahead) : most_ahead_(most_ahead) {}

    void open(const std::string& path, Access access) override {
        if (access == Access::create) start_server(path);
        connection_ = connect(path);
        if (!connection_) throw std::runtime_error("no redis-server listens at " + socket_of(path));
        // hiredis's README, "Reader max buffer": with large payloads, destroying the buffer after each "may slow down
        // performances considerably"; 0 keeps it.
        connection_->reader->maxbuf = 0;
    }

    void store(std::string_view name, std::span<const std::byte> bytes) override {
        send({"SET", name, {reinterpret_cast<const char*>(bytes.data()), bytes.size()}});
        if (++ahead_ > most_ahead_) take_answer();
    }
    void erase(std::string_view name) override {
        send({"DEL", name});
        if (++ahead_ > most_ahead_) take_answer();
    }
    void settle() override {
        while (ahead_ > 0) take_answer();
    }

    void load(std::string_view name, std::span<std::byte> bytes) override {
        settle();
        send({"GET", name});
        const Reply reply = receive();
        if (reply->type != REDIS_REPLY_STRING || reply->len != bytes.size()) {
            throw std::runtime_error(std::string(name) + " is not there, or has another size");
        }
        std::memcpy(bytes.data(), reply->str, reply->len);
    }

    // SCAN's reference: its calls "can be used in production without the downside of commands like KEYS". It may return
    // a name twice only while the table changes.
    std::uint64_t list() override {
        std::uint64_t names = 0;
        std::string cursor = "0";
        do {
            send({"SCAN", cursor, "COUNT", "1000"});
            const Reply reply = receive();
            if (reply->type != REDIS_REPLY_ARRAY || reply->elements != 2)
                throw std::runtime_error("SCAN: no array");
            cursor = reply->element[0]->str;
            const redisReply* found = reply->element[1];
            for (std::size_t i = 0; i < found->elements; ++i) names += found->element[i]->len != 0;
        } while (cursor != "0");
        return names;
    }

    void close() override {
        settle();
        connection_.reset();
    }

    void remove(const std::string& path) override {
        if (Connection server = connect(path)) {
            // No answer comes: the server ends, and closes the connection when it has.
            const Reply none(static_cast<redisReply*>(redisCommand(server.get(), "SHUTDOWN NOSAVE")));
        }
        std::filesystem::remove_all(path);
    }

private:
    void send(std::initializer_list<std::string_view> words) {
        std::array<const char*, 4> texts{};
        std::array<std::size_t, 4> lengths{};
        int count = 0;
        for (const std::string_view word : words) {
            texts.at(static_cast<std::size_t>(count)) = word.data();
            lengths.at(static_cast<std::size_t>(count++)) = word.size();
        }
        if (redisAppendCommandArgv(connection_.get(), count, texts.data(), lengths.data()) != REDIS_OK)
            throw_error();
    }

    Reply receive() {
        void* reply = nullptr;
        if (redisGetReply(connection_.get(), &reply) != REDIS_OK) throw_error();
        Reply owned(static_cast<redisReply*>(reply));
        if (owned->type == REDIS_REPLY_ERROR) throw std::runtime_error(owned->str);
        return owned;
    }

    /// To a SET or DEL: OK, or how many were there.
    void take_answer() {
        const Reply reply = receive();
        --ahead_;
        if (reply->type == REDIS_REPLY_INTEGER && reply->integer != 1)
            throw std::runtime_error("DEL: there was none");
    }

    [[noreturn]] void throw_error() const {
        throw std::runtime_error(std::string("hiredis: ") + connection_->errstr);
    }

    int most_ahead_;
    int ahead_ = 0;
    Connection connection_;
};

}  // namespace

constexpr int clients = 1000;  // redis.conf: maxclients is 10,000

const std::vector<Variant> variants = {
    {"redis", "a call per operation, through a Unix socket; keeps nothing on disk", clients, clients},
    {"redis-pipelined", "up to 64 stores and erases under way: done only when the last is answered", clients,
     clients},
};

std::unique_ptr<Library> make_library(const std::string& variant) {
    return std::make_unique<Redis>(variant == "redis" ? 0 : 64);
}

}  // namespace compare::objects
