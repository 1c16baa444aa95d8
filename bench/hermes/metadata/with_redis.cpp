// Redis: a server in memory, asked through a Unix socket by hiredis.

#include <hiredis.h>

#include <array>
#include <cstring>
#include <initializer_list>
#include <stdexcept>
#include <string_view>

#include "service.hpp"

namespace pmemcpy::hermes {

namespace {

struct FreeReply {
    void operator()(redisReply* reply) const { freeReplyObject(reply); }
};
using Reply = std::unique_ptr<redisReply, FreeReply>;

struct FreeContext {
    void operator()(redisContext* context) const { redisFree(context); }
};

class Redis : public Service {
public:
    Redis(const std::string& path, std::size_t at_once)
        : at_once_(at_once), connection_(redisConnectUnix(path.c_str())) {
        if (!connection_) throw std::runtime_error("redisConnectUnix: no memory");
        if (connection_->err != 0) throw_error();
    }

    std::size_t at_once() const override { return at_once_; }

    void put(std::span<const std::string> names, std::span<const Metadata> files) override {
        for (std::size_t i = 0; i < names.size(); ++i)
            send({"SET", names[i], {reinterpret_cast<const char*>(&files[i]), sizeof files[i]}});
        for (const std::string& name : names) {
            if (receive()->type != REDIS_REPLY_STATUS) throw std::runtime_error("SET " + name + ": not OK");
        }
    }

    void get(std::span<const std::string> names, std::span<Metadata> files) override {
        for (const std::string& name : names) send({"GET", name});
        for (std::size_t i = 0; i < names.size(); ++i) {
            const Reply reply = receive();
            if (reply->type != REDIS_REPLY_STRING || reply->len != sizeof files[i])
                throw std::runtime_error(names[i] + " is not there, or has another size");
            std::memcpy(&files[i], reply->str, reply->len);
        }
    }

private:
    void send(std::initializer_list<std::string_view> words) {
        std::array<const char*, 3> texts{};
        std::array<std::size_t, 3> lengths{};
        std::size_t count = 0;
        for (const std::string_view word : words) {
            texts.at(count) = word.data();
            lengths.at(count++) = word.size();
        }
        if (redisAppendCommandArgv(connection_.get(), static_cast<int>(count), texts.data(),
                                   lengths.data()) != REDIS_OK)
            throw_error();
    }

    Reply receive() {
        void* reply = nullptr;
        if (redisGetReply(connection_.get(), &reply) != REDIS_OK) throw_error();
        Reply owned(static_cast<redisReply*>(reply));
        if (owned->type == REDIS_REPLY_ERROR) throw std::runtime_error(owned->str);
        return owned;
    }

    [[noreturn]] void throw_error() const {
        throw std::runtime_error(std::string("hiredis: ") + connection_->errstr);
    }

    std::size_t at_once_;
    std::unique_ptr<redisContext, FreeContext> connection_;
};

}  // namespace

const std::vector<Variant> variants = {
    {"redis", "a call per operation, through a Unix socket"},
    {"redis-pipelined",
     "64 operations sent before their answers are read, which no caller who waits for one can do"}};

void set_up(const std::string&, const std::string&, std::uint64_t) {}

std::unique_ptr<Service> connect(const std::string& variant, const std::string& path) {
    return std::make_unique<Redis>(path, variant == "redis" ? 1 : 64);
}

}  // namespace pmemcpy::hermes
