#include "os/mounts.hpp"

#include <algorithm>
#include <optional>

#include "os/names.hpp"

namespace pmemcpy::os {

namespace {

std::string_view next_word(std::string_view& rest, char end = ' ') {
    const std::size_t at = std::min(rest.find(end), rest.size());
    const std::string_view word = rest.substr(0, at);
    rest.remove_prefix(std::min(at + 1, rest.size()));
    return word;
}

bool is_octal(std::string_view digits) {
    return digits.size() == 3 && digits.find_first_not_of("01234567") == std::string_view::npos;
}

// Space, tab, line end and backslash are written as \040, \011, \012 and \134.
std::string unescaped(std::string_view word) {
    std::string text;
    for (std::size_t i = 0; i < word.size(); ++i) {
        const std::string_view digits = word.substr(std::min(i + 1, word.size()), 3);
        if (word[i] != '\\' || !is_octal(digits)) {
            text += word[i];
            continue;
        }
        text += static_cast<char>((digits[0] - '0') * 64 + (digits[1] - '0') * 8 + (digits[2] - '0'));
        i += 3;
    }
    return text;
}

// 36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue
std::optional<Mount> parse_line(std::string_view line) {
    Mount mount;
    next_word(line);  // its number
    next_word(line);  // and that of the mount it lies in
    mount.device_number = next_word(line);
    mount.root = unescaped(next_word(line));
    mount.point = unescaped(next_word(line));
    mount.options = next_word(line);
    while (!line.empty() && next_word(line) != "-") {
    }
    mount.file_system = unescaped(next_word(line));
    mount.source = unescaped(next_word(line));
    mount.super_options = next_word(line);
    if (mount.point.empty() || mount.point.front() != '/' || mount.file_system.empty()) return std::nullopt;
    return mount;
}

bool lists(std::string_view options, std::string_view wanted) {
    while (!options.empty()) {
        if (next_word(options, ',') == wanted) return true;
    }
    return false;
}

bool lies_in(std::string_view path, std::string_view point) {
    if (point == "/") return true;
    return path.starts_with(point) && (path.size() == point.size() || path[point.size()] == '/');
}

}  // namespace

bool Mount::has_option(std::string_view option) const {
    return lists(options, option) || lists(super_options, option);
}

std::vector<Mount> parse_mounts(std::string_view mountinfo) {
    std::vector<Mount> all;
    while (!mountinfo.empty()) {
        if (auto mount = parse_line(next_word(mountinfo, '\n'))) all.push_back(std::move(*mount));
    }
    return all;
}

std::vector<Mount> mounts() { return parse_mounts(read_text("/proc/self/mountinfo").value_or("")); }

const Mount* mount_of(const std::vector<Mount>& mounts, std::string_view path) {
    const Mount* deepest = nullptr;
    for (const Mount& mount : mounts) {
        if (lies_in(path, mount.point) && (deepest == nullptr || mount.point.size() >= deepest->point.size()))
            deepest = &mount;
    }
    return deepest;
}

}  // namespace pmemcpy::os
