// Whatever reads words: ids, names of files, and what people type. What is read can be written, and read again the same.

#include <cstdlib>
#include <map>
#include <string>

#include <sys/mman.h>
#include <unistd.h>
#include <pmemcpy/codec.hpp>
#include <pmemcpy/error.hpp>
#include <pmemcpy/serializer.hpp>

#include "array/id.hpp"
#include "array/utf8.hpp"
#include "bytes.hpp"
#include "layout/payload_name.hpp"
#include "os/calls.hpp"
#include "os/cgroup.hpp"
#include "os/file.hpp"
#include "persist/durability.hpp"
#include "target.hpp"

#ifdef PMEMCPY_HAVE_CLI
#include "cli/element/datetime.hpp"
#include "cli/terminal/size.hpp"
#include "cli/terminal/table.hpp"
#endif

namespace pmemcpy::fuzz {
namespace {

template <class Call>
bool is_taken(Call&& call) {
    try {
        call();
        return true;
    } catch (const Error& error) {
        expect(error.kind() == Code::invalid_argument, error.what());
        return false;
    }
}

void read_id(const std::string& text) {
    if (!is_taken([&] { array::validate_id(text); })) {
        expect(!is_taken([&] { array::validate_new_id(text); }), "'" + text + "' is no id, and may be made");
        return;
    }
    expect(array::first_invalid_utf8(text) == std::string_view::npos, "an id that is no UTF-8");
    std::string path;
    for (const std::string_view group : array::parents(text)) {
        expect(is_taken([&] { array::validate_id(group); }), "a group of '" + text + "' is no id");
        path = std::string(group) + "/";
    }
    expect(path + std::string(array::last_component(text)) == text,
           "'" + text + "' is not its groups and its name");
    const std::string_view variable = array::variable_of_dims_id(text);
    expect(variable.empty() == is_taken([&] { array::validate_new_id(text); }) || text == array::dims_suffix,
           "'" + text + "' is reserved and may be made, or the other way round");
}

void read_payload_name(const std::string& text) {
    const auto number = layout::number_of_payload(text);
    expect(!number || layout::name_of_payload(*number) == text,
           "'" + text + "' is the name of another payload");
    expect(!number || layout::is_payload_name(text), "'" + text + "' is a payload's number and not its name");
}

void read_codec(const std::string& text) {
    Codec codec;
    if (!is_taken([&] { codec = parse_codec(text); })) return;
    const Codec again = parse_codec(to_string(codec));
    expect(again.kind == codec.kind && to_string(again) == to_string(codec), "codec '" + text + "' changes");
}

void read_serializer(const std::string& text) {
    is_taken([&] {
        expect(name_of(parse_serializer(text)) == text, "serializer '" + text + "' changes its name");
    });
}

void read_durability(const std::string& text) {
    static const os::File folder = os::File::open("/dev/shm", O_RDONLY);
    if (text.find('\0') != std::string::npos) return;
    ::setenv("PMEMCPY_DURABILITY", text.c_str(), 1);
    is_taken([&] { static_cast<void>(persist::probe(folder, MapSync::off)); });
    ::unsetenv("PMEMCPY_DURABILITY");
}

/// The kernel's files about cgroups, as the input has them.
void read_cgroups(Bytes& input) {
    static std::map<std::string, std::string> files;
    static std::map<int, std::string> opened;
    const std::string mounts = input.take_text();
    files = {{"/proc/self/mountinfo", "30 23 0:26 / /g rw - cgroup2 cgroup2 rw\n" + mounts},
             {"/proc/self/cgroup", "0::/a/b\n" + input.take_text()}};
    for (const char* name :
         {"/g/memory.max", "/g/a/memory.current", "/g/memory.current", "/g/a/memory.max", "/g/memory.stat"})
        files[name] = input.take_text();
    os::Calls calls = os::system_calls();
    calls.open = [](const char* path, int, mode_t) {
        const auto found = files.find(path);
        if (found == files.end()) return -1;
        const int fd = 1'000'000 + static_cast<int>(opened.size());
        opened[fd] = found->second;
        return fd;
    };
    calls.close = [](int fd) {
        opened.erase(fd);
        return 0;
    };
    calls.pread = [](int fd, void* to, size_t size, off_t offset) -> ssize_t {
        const std::string piece = opened.at(fd).substr(static_cast<std::size_t>(offset), size);
        std::memcpy(to, piece.data(), piece.size());
        return static_cast<ssize_t>(piece.size());
    };
    const os::ScopedCalls played(calls);
    static_cast<void>(os::cgroup_headroom_bytes());
}

#ifdef PMEMCPY_HAVE_CLI
void read_size(const std::string& text) {
    std::uint64_t bytes = 0;
    if (!is_taken([&] { bytes = cli::parse_size(text); })) return;
    expect(cli::parse_size(std::to_string(bytes)) == bytes,
           "'" + text + "' is another size when written out");
    expect(!cli::human_size(bytes).empty(), "a size without words");
}

void write_numbers(Bytes& input) {
    const std::uint64_t number = input.take_number();
    static_cast<void>(cli::human_time(number));
    static_cast<void>(cli::human_size(number));
    for (int unit = 0; unit <= static_cast<int>(TimeUnit::attosecond); ++unit)
        expect(!cli::datetime_text(static_cast<std::int64_t>(number), static_cast<TimeUnit>(unit)).empty(),
               "a time without words");
}
#endif

}  // namespace

void read_words(Input input) {
    Bytes bytes(input);
    const auto what = bytes.take<std::uint8_t>();
    if (what % 8 == 6) return read_cgroups(bytes);
#ifdef PMEMCPY_HAVE_CLI
    if (what % 8 == 7) return write_numbers(bytes);
#endif
    const std::string text(bytes.rest().begin(), bytes.rest().end());
    switch (what % 8) {
        case 0:
            return read_id(text);
        case 1:
            return read_payload_name(text);
        case 2:
            return read_codec(text);
        case 3:
            return read_serializer(text);
        case 4:
            return read_durability(text);
        default:
#ifdef PMEMCPY_HAVE_CLI
            return read_size(text);
#else
            return;
#endif
    }
}

}  // namespace pmemcpy::fuzz
