#include "os/cgroup.hpp"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>

#include "os/names.hpp"
#include "os/process.hpp"

namespace pmemcpy::os {

namespace {

/// The two generations of cgroups name the same things differently.
struct Names {
    const char* limit;
    const char* usage;
    const char* droppable;
};
constexpr Names names_v1{"/memory.limit_in_bytes", "/memory.usage_in_bytes", "total_inactive_file "};
constexpr Names names_v2{"/memory.max", "/memory.current", "inactive_file "};

/// Where a hierarchy that may limit memory is mounted, and which part of it (a container sees only its own).
struct Hierarchy {
    bool is_v2 = false;
    std::string mount_point;
    std::string root;
};

bool has_word(std::string_view list, std::string_view word) {
    while (!list.empty()) {
        const std::size_t comma = list.find(',');
        if (list.substr(0, comma) == word) return true;
        list = comma == std::string_view::npos ? std::string_view{} : list.substr(comma + 1);
    }
    return false;
}

/// A line of /proc/self/mountinfo: id parent device root mount-point options [tags] - type source
/// super-options.
std::optional<Hierarchy> parse_mount(const std::string& line) {
    const std::size_t dash = line.find(" - ");
    if (dash == std::string::npos) return std::nullopt;
    std::istringstream behind(line.substr(dash + 3));
    std::string type, source, options;
    behind >> type >> source >> options;
    const bool is_v2 = type == "cgroup2";
    if (!is_v2 && !(type == "cgroup" && has_word(options, "memory"))) return std::nullopt;
    std::istringstream before(line);
    std::string id, parent, device;
    Hierarchy hierarchy{is_v2, "", ""};
    before >> id >> parent >> device >> hierarchy.root >> hierarchy.mount_point;
    return hierarchy;
}

/// This process's path in the hierarchy, from lines like "4:memory:/a/b" and "0::/a/b".
std::optional<std::string> own_path(const std::string& memberships, bool is_v2) {
    std::istringstream lines(memberships);
    for (std::string line; std::getline(lines, line);) {
        const std::size_t first = line.find(':');
        const std::size_t second = line.find(':', first + 1);
        if (first == std::string::npos || second == std::string::npos) continue;
        const std::string_view controllers = std::string_view(line).substr(first + 1, second - first - 1);
        if (is_v2 ? controllers.empty() : has_word(controllers, "memory")) return line.substr(second + 1);
    }
    return std::nullopt;
}

std::optional<std::uint64_t> number(std::string_view text) {
    std::uint64_t value = 0;
    if (std::from_chars(text.data(), text.data() + text.size(), value).ec != std::errc{}) return std::nullopt;
    return value;
}

std::uint64_t droppable_bytes(const std::string& folder, const Names& names) {
    const auto statistics = read_text(folder + "/memory.stat");
    if (!statistics) return 0;
    std::istringstream lines(*statistics);
    const std::string_view label = names.droppable;
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with(label)) return number(std::string_view(line).substr(label.size())).value_or(0);
    }
    return 0;
}

std::uint64_t headroom_of(const std::string& folder, const Names& names) {
    const auto limit_text = read_text(folder + names.limit);
    const auto usage_text = read_text(folder + names.usage);
    if (!limit_text || !usage_text) return unlimited_bytes;
    const auto limit = number(*limit_text);  // "max" is no number
    const auto usage = number(*usage_text);
    if (!limit || !usage || *limit >= std::uint64_t{1} << 62) return unlimited_bytes;
    const std::uint64_t used = *usage - std::min(*usage, droppable_bytes(folder, names));
    return *limit - std::min(*limit, used);
}

std::uint64_t tightest(const Hierarchy& hierarchy, std::string path) {
    if (hierarchy.root != "/" && path.starts_with(hierarchy.root)) path.erase(0, hierarchy.root.size());
    if (path.find("/..") != std::string::npos || path == "/") path.clear();
    const Names& names = hierarchy.is_v2 ? names_v2 : names_v1;
    std::uint64_t least = unlimited_bytes;
    while (true) {
        least = std::min(least, headroom_of(hierarchy.mount_point + path, names));
        if (path.empty()) return least;
        path.erase(path.rfind('/') == std::string::npos ? 0 : path.rfind('/'));
    }
}

}  // namespace

std::uint64_t cgroup_headroom_bytes() {
    const auto mounts = read_text("/proc/self/mountinfo");
    const auto memberships = read_text("/proc/self/cgroup");
    if (!mounts || !memberships) return unlimited_bytes;
    std::uint64_t least = unlimited_bytes;
    std::istringstream lines(*mounts);
    for (std::string line; std::getline(lines, line);) {
        const auto hierarchy = parse_mount(line);
        if (!hierarchy) continue;
        if (const auto path = own_path(*memberships, hierarchy->is_v2)) {
            least = std::min(least, tightest(*hierarchy, *path));
        }
    }
    return least;
}

std::uint64_t recent_cgroup_headroom_bytes() {
    // In this time no node fills so much memory.
    constexpr std::uint64_t moment_ns = 20'000'000;
    constexpr std::uint64_t far_bytes = std::uint64_t{1} << 30;
    static std::atomic<std::uint64_t> asked_at_ns = 0;
    static std::atomic<std::uint64_t> answer = 0;
    const std::uint64_t now = monotonic_ns();
    const std::uint64_t asked_at = asked_at_ns.load();
    const std::uint64_t before = answer.load();
    if (asked_at != 0 && now - asked_at < moment_ns && before > far_bytes) return before;
    const std::uint64_t found = cgroup_headroom_bytes();
    answer = found;
    asked_at_ns = now;
    return found;
}

}  // namespace pmemcpy::os
