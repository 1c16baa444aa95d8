#include "cli/watch/processes.hpp"

#include <fcntl.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string_view>
#include <system_error>
#include <tuple>

namespace pmemcpy::cli {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t longest_command = 200;

/// The file that all who have the pool open keep open; of a pool in a directory that of its records.
std::optional<struct stat> file_of(const std::string& path) {
    struct stat found {};
    if (stat(path.c_str(), &found) != 0) return std::nullopt;
    if (S_ISDIR(found.st_mode) && stat((path + "/.pool").c_str(), &found) != 0) return std::nullopt;
    return found;
}

std::string content(const fs::path& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

/// The number behind a word at the beginning of a line, in base `base`; 0 if there is none.
std::uint64_t field(const std::string& text, std::string_view word, int base) {
    std::size_t at = text.rfind(word, 0) == 0 ? 0 : text.find("\n" + std::string(word));
    if (at == std::string::npos) return 0;
    at = text.find_first_of("0123456789", at);
    if (at == std::string::npos) return 0;
    std::uint64_t value = 0;
    std::from_chars(text.data() + at, text.data() + text.size(), value, base);
    return value;
}

std::string user_name(uid_t uid) {
    std::array<char, 4096> room{};
    passwd entry{};
    passwd* found = nullptr;
    if (getpwuid_r(uid, &entry, room.data(), room.size(), &found) != 0 || found == nullptr)
        return std::to_string(uid);
    return found->pw_name;
}

std::string command_of(const fs::path& process) {
    std::string command = content(process / "cmdline");
    while (!command.empty() && command.back() == '\0') command.pop_back();
    std::replace(command.begin(), command.end(), '\0', ' ');
    if (command.empty()) command = content(process / "comm");
    return command.substr(0, longest_command);
}

/// By a signal or a debugger.
bool is_stopped(const std::string& status) {
    const auto state = status.find("State:\t");
    return state != std::string::npos &&
           (status.compare(state + 7, 1, "T") == 0 || status.compare(state + 7, 1, "t") == 0);
}

/// How a process has the file open, if it has: O_RDONLY or O_RDWR. Which descriptors others have only root may ask.
std::optional<bool> has_for_writing(const fs::path& process, const struct stat& file) {
    std::optional<bool> found;
    std::error_code gone;
    for (fs::directory_iterator descriptor(process / "fd", gone), end; !gone && descriptor != end;
         descriptor.increment(gone)) {
        struct stat opened {};
        if (stat(descriptor->path().c_str(), &opened) != 0 || opened.st_dev != file.st_dev ||
            opened.st_ino != file.st_ino)
            continue;
        const std::string info = content(process / "fdinfo" / descriptor->path().filename());
        const bool writes = (field(info, "flags:", 8) & O_ACCMODE) != O_RDONLY;
        found = found.value_or(false) || writes;
    }
    return found;
}

}  // namespace

std::vector<Process> processes_at(const std::string& path) {
    std::vector<Process> all;
    const auto file = file_of(path);
    if (!file) return all;
    std::error_code gone;
    for (fs::directory_iterator entry("/proc", gone), end; !gone && entry != end; entry.increment(gone)) {
        const std::string name = entry->path().filename();
        Process process;
        const auto [last, problem] = std::from_chars(name.data(), name.data() + name.size(), process.pid);
        if (problem != std::errc{} || last != name.data() + name.size()) continue;
        if (process.pid == static_cast<std::uint64_t>(getpid())) continue;
        const auto writes = has_for_writing(entry->path(), *file);
        if (!writes) continue;
        const std::string status = content(entry->path() / "status");
        process.is_writing = *writes;
        process.is_stopped = is_stopped(status);
        process.user = user_name(static_cast<uid_t>(field(status, "Uid:", 10)));
        process.resident_bytes = field(status, "VmRSS:", 10) * 1024;
        process.command = command_of(entry->path());
        all.push_back(std::move(process));
    }
    std::sort(all.begin(), all.end(), [](const Process& a, const Process& b) {
        return std::tuple(!a.is_writing, a.pid) < std::tuple(!b.is_writing, b.pid);
    });
    return all;
}

}  // namespace pmemcpy::cli
