// Memcached: a server in memory, asked through a Unix socket by libmemcached.

#include <libmemcached/memcached.h>

#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include "service.hpp"

namespace pmemcpy::hermes {

namespace {

class Memcached : public Service {
public:
    explicit Memcached(const std::string& path) : connection_(memcached_create(nullptr)) {
        check(memcached_server_add_unix_socket(connection_, path.c_str()), path);
    }
    Memcached(const Memcached&) = delete;
    Memcached& operator=(const Memcached&) = delete;
    ~Memcached() override { memcached_free(connection_); }

    void put(std::span<const std::string> names, std::span<const Metadata> files) override {
        for (std::size_t i = 0; i < names.size(); ++i) {
            check(memcached_set(connection_, names[i].data(), names[i].size(),
                                reinterpret_cast<const char*>(&files[i]), sizeof files[i], 0, 0),
                  names[i]);
        }
    }

    void get(std::span<const std::string> names, std::span<Metadata> files) override {
        for (std::size_t i = 0; i < names.size(); ++i) {
            std::size_t length = 0;
            std::uint32_t flags = 0;
            memcached_return_t status = MEMCACHED_SUCCESS;
            const std::unique_ptr<char, decltype(&std::free)> value(
                memcached_get(connection_, names[i].data(), names[i].size(), &length, &flags, &status),
                &std::free);
            check(status, names[i]);
            if (length != sizeof files[i]) throw std::runtime_error(names[i] + " has another size");
            std::memcpy(&files[i], value.get(), length);
        }
    }

private:
    void check(memcached_return_t status, const std::string& name) const {
        if (status != MEMCACHED_SUCCESS)
            throw std::runtime_error("memcached, " + name + ": " + memcached_strerror(connection_, status));
    }

    memcached_st* connection_;
};

}  // namespace

const std::vector<Variant> variants = {{"memcached", "a call per operation, through a Unix socket"}};

void set_up(const std::string&, const std::string&, std::uint64_t) {}

std::unique_ptr<Service> connect(const std::string&, const std::string& path) {
    return std::make_unique<Memcached>(path);
}

}  // namespace pmemcpy::hermes
