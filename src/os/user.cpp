#include "os/user.hpp"

#include <cerrno>
#include <charconv>
#include <unordered_map>
#include <vector>

#include "os/calls.hpp"
#include "os/failure.hpp"

namespace pmemcpy::os {

namespace {

constexpr std::size_t most_text_bytes = std::size_t{64} << 20;  // a group may have many members

// Asks again with more room until what is known of somebody fits; nothing if there is nobody.
template <class Record, class Ask, class Take>
auto ask(const std::string& whom, Ask ask_once, Take take) -> std::optional<decltype(take(Record{}))> {
    std::vector<char> text(4096);
    for (;;) {
        Record record{};
        Record* found = nullptr;
        const int error = ask_once(record, text.data(), text.size(), found);
        if (error == ERANGE && text.size() < most_text_bytes) {
            text.resize(text.size() * 4);
        } else if (found != nullptr) {
            return take(record);
        } else if (error == 0 || error == ENOENT || error == ESRCH || error == EBADF || error == EPERM) {
            return std::nullopt;  // getpwnam(3): all of these may say that there is nobody
        } else if (error != EINTR) {
            throw_failure("ask this machine for", whom, error);
        }
    }
}

std::optional<unsigned> number_in(const std::string& text) {
    unsigned number = 0;
    const auto end = std::from_chars(text.data(), text.data() + text.size(), number);
    if (end.ec != std::errc{} || end.ptr != text.data() + text.size()) return std::nullopt;
    return number;
}

std::optional<std::string> known_user(unsigned id) {
    return ask<struct passwd>(
        "user " + std::to_string(id),
        [&](auto& user, char* text, std::size_t size, auto*& found) {
            return calls().getpwuid_r(id, &user, text, size, &found);
        },
        [](const struct passwd& user) { return std::string(user.pw_name); });
}

std::optional<std::string> known_group(unsigned id) {
    return ask<struct group>(
        "group " + std::to_string(id),
        [&](auto& group, char* text, std::size_t size, auto*& found) {
            return calls().getgrgid_r(id, &group, text, size, &found);
        },
        [](const struct group& group) { return std::string(group.gr_name); });
}

}  // namespace

std::optional<unsigned> user_named(const std::string& name) {
    const auto id = ask<struct passwd>(
        "user " + name,
        [&](auto& user, char* text, std::size_t size, auto*& found) {
            return calls().getpwnam_r(name.c_str(), &user, text, size, &found);
        },
        [](const struct passwd& user) { return unsigned{user.pw_uid}; });
    if (id) return id;
    const auto number = number_in(name);
    return number && known_user(*number) ? number : std::nullopt;
}

std::optional<unsigned> group_named(const std::string& name) {
    const auto id = ask<struct group>(
        "group " + name,
        [&](auto& group, char* text, std::size_t size, auto*& found) {
            return calls().getgrnam_r(name.c_str(), &group, text, size, &found);
        },
        [](const struct group& group) { return unsigned{group.gr_gid}; });
    if (id) return id;
    const auto number = number_in(name);
    return number && known_group(*number) ? number : std::nullopt;
}

// A user directory may be a file that is read each time, or a server; and whoever lists or indexes objects asks for each of them.
// By thread, so that nothing is locked when a process forks.
std::string name_of_user(unsigned id) {
    thread_local std::unordered_map<unsigned, std::string> known;
    if (const auto there = known.find(id); there != known.end()) return there->second;
    const auto name = known_user(id);
    return name ? known.emplace(id, *name).first->second : std::to_string(id);
}

std::string name_of_group(unsigned id) { return known_group(id).value_or(std::to_string(id)); }

}  // namespace pmemcpy::os
