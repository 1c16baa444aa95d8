#include "records.hpp"

#include <cstdio>
#include <stdexcept>

#include "values.hpp"

namespace mosiqs {
namespace {

// Primes: multiplied by one, modulo a count that is no multiple of it, the numbers come in another order.
constexpr std::uint64_t first_prime = 1'000'000'007;
constexpr std::uint64_t second_prime = 998'244'353;
constexpr std::uint64_t group_size = 1000;

template <class... Arguments>
std::string text(const char* format, Arguments... arguments) {
    char buffer[64];
    std::snprintf(buffer, sizeof buffer, format, arguments...);
    return buffer;
}

auto whole(std::uint64_t number) { return static_cast<unsigned long long>(number); }

}  // namespace

Records::Records(std::uint64_t count) : count_(count) {
    if (count < least || count >= second_prime)
        throw std::invalid_argument("from a thousand to some hundred million variables");
}

std::string Records::group(std::uint64_t number) const {
    return text("run%06llu", whole(number / group_size));
}
std::string Records::name(std::uint64_t number) const { return text("u%09llu", whole(number)); }

std::int64_t Records::serial(std::uint64_t number) const {
    return static_cast<std::int64_t>(number * first_prime % count_);
}
std::string Records::label(std::uint64_t number) const {
    // The number is in it, so no two are the same.
    return text("label-%08llx-%09llu", whole(mixed(number) >> 32), whole(number));
}
std::uint64_t Records::energy_rank(std::uint64_t number) const { return number * second_prime % count_; }

std::vector<Attribute> Records::attributes(std::uint64_t number) const {
    static const std::vector<std::string> units = {"K", "Pa", "m", "m s-1", "kg", "J", "W", "1"};
    return {
        {"serial", serial(number)},
        {"label", label(number)},
        {"energy", energy(energy_rank(number))},
        {"temperature", 250 + 0.01 * static_cast<double>(number % 5000)},
        {"step", static_cast<std::int64_t>(number % 1000)},
        {"author", text("author-%02llu", whole(number % 100))},
        {"machine", text("node%02llu", whole(number % 10))},
        {"units", units[number % units.size()]},
        {"iteration", static_cast<std::int64_t>(number / group_size)},
        {"quality", static_cast<double>(number % 97) / 97},
    };
}

}  // namespace mosiqs
