#include "profiler/sight.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <optional>

#include <unistd.h>
#include <pmemcpy/error.hpp>

#include "os/directory.hpp"
#include "os/forked.hpp"
#include "os/names.hpp"
#include "os/process.hpp"

namespace pmemcpy::profiler {

namespace {

constexpr std::uint64_t sight_nap_ns = 1'000'000;

/// What the child writes, in memory that it shares.
struct Note {
    std::atomic<std::uint64_t> is_written{0};
    bool is_there = false;
    bool is_directory = true;
    bool may_make = false;
    os::Room room;
    std::array<char, 4096> real_path{};
    std::array<char, 512> failure{};
};

template <std::size_t N>
void write(std::array<char, N>& into, const std::string& text) {
    std::memcpy(into.data(), text.data(), std::min(text.size(), N - 1));
}

void look(const std::string& path, Note& note) {
    try {
        const auto real = os::real_path(path);
        if (!real) throw Error(Code::not_found, "there is no directory " + path);
        write(note.real_path, *real);
        note.is_directory = os::is_directory(*real);
        if (!note.is_directory) throw Error(Code::invalid_argument, path + " is no directory");
        const os::File directory = os::File::open(*real, O_RDONLY | O_DIRECTORY);
        note.room = os::room_of(directory);
        note.may_make = os::may_in(directory, ".", W_OK | X_OK);
        note.is_there = true;
    } catch (const Error& error) {
        write(note.failure, error.what());
    }
    note.is_written.store(1, std::memory_order_release);
}

}  // namespace

std::vector<Sight> look_at(const std::vector<std::string>& directories, std::uint64_t limit_ns) {
    if (directories.empty()) return {};
    const os::SharedPages pages(directories.size() * sizeof(Note));
    std::vector<Note*> notes;
    std::vector<os::ForkedChild> children;
    children.reserve(directories.size());
    for (std::size_t i = 0; i < directories.size(); ++i) {
        notes.push_back(new (pages.base() + i * sizeof(Note)) Note);
        children.emplace_back([&, i] { look(directories[i], *notes[i]); });
    }
    const std::uint64_t begin = os::monotonic_ns();
    const auto is_over = [&] {
        return std::all_of(children.begin(), children.end(),
                           [](os::ForkedChild& c) { return c.has_ended(); });
    };
    while (!is_over() && os::monotonic_ns() - begin < limit_ns) os::sleep_ns(sight_nap_ns);

    std::vector<Sight> sights;
    for (std::size_t i = 0; i < directories.size(); ++i) {
        const Note& note = *notes[i];
        if (note.is_written.load(std::memory_order_acquire) == 0) {
            sights.push_back(
                {.failure = directories[i] + " does not answer; whoever asks it for anything hangs"});
            continue;
        }
        sights.push_back({.is_there = note.is_there,
                          .is_directory = note.is_directory,
                          .real_path = note.real_path.data(),
                          .room = note.room,
                          .may_make = note.may_make,
                          .failure = note.failure.data()});
    }
    return sights;
}

}  // namespace pmemcpy::profiler
