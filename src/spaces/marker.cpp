#include "spaces/marker.hpp"

#include "os/directory.hpp"
#include "spaces/space.hpp"

#include <pmemcpy/error.hpp>

#include <fcntl.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

namespace pmemcpy::spaces {
namespace {

constexpr std::string_view first_words = "pmemcpy namespace ";
constexpr std::string_view quota_words = "quota_bytes ";
constexpr std::uint64_t version = 1;
constexpr std::uint64_t longest_marker = 4096;  // others may have written it

std::optional<std::uint64_t> number_behind(std::string_view words, std::string_view line) {
    if (!line.starts_with(words)) return std::nullopt;
    line.remove_prefix(words.size());
    std::uint64_t number = 0;
    const auto end = std::from_chars(line.data(), line.data() + line.size(), number);
    if (end.ec != std::errc{} || end.ptr != line.data() + line.size()) return std::nullopt;
    return number;
}

[[noreturn]] void throw_damaged(const std::string& path) {
    throw Error(Code::corrupt,
                path + " does not say what it must; `pmemcpy ns quota NAME BYTES` writes it anew");
}

}  // namespace

std::string text_of(const Marker& marker) {
    return std::string(first_words) + std::to_string(version) + "\n" + std::string(quota_words) +
           std::to_string(marker.quota_bytes) + "\n";
}

Marker read_marker(const os::File& space) {
    const auto file = os::File::open_in(space, marker_name, O_RDONLY);
    const std::string path = space.path() + "/" + marker_name;
    if (!file || !file->is_regular()) throw_damaged(path);
    std::string text(std::min(file->size(), longest_marker), '\0');
    file->read_exactly(text.data(), text.size(), 0);
    std::optional<std::uint64_t> known;
    std::optional<std::uint64_t> quota;
    for (std::string_view rest = text; !rest.empty();) {
        const auto end = std::min(rest.find('\n'), rest.size());
        const std::string_view line = rest.substr(0, end);
        rest.remove_prefix(std::min(end + 1, rest.size()));
        if (!known) {
            known = number_behind(first_words, line);
            if (!known) throw_damaged(path);
        } else if (line.starts_with(quota_words)) {
            quota = number_behind(quota_words, line);
        }
    }
    if (known.value_or(0) > version) {
        throw Error(Code::unsupported, path + " has version " + std::to_string(*known) +
                                           ", this library reads up to " + std::to_string(version) +
                                           "; use a newer pMEMCPY");
    }
    if (!known || !quota) throw_damaged(path);
    return {*quota};
}

void write_marker(const os::File& space, const Marker& marker) {
    const std::string passing = passing_name(making_prefix);
    auto file = os::File::open_in(space, passing, O_RDWR | O_CREAT | O_EXCL, 0644);
    if (!file) throw Error(Code::not_found, space.path() + " was removed meanwhile");
    try {
        const std::string text = text_of(marker);
        file->write_exactly(text.data(), text.size(), 0);
        file->sync_all();
        os::rename_in(space, passing, space, marker_name);
    } catch (...) {
        os::remove_in(space, passing);
        throw;
    }
    if (auto directory = os::File::open_in(space, ".", O_RDONLY | O_DIRECTORY)) directory->sync_all();
}

}  // namespace pmemcpy::spaces
